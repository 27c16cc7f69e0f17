from django.apps import AppConfig


class CollectionsConfig(AppConfig):
    name = "collections_app"
    verbose_name = "What can be asked"
