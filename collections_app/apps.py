from django.apps import AppConfig
from django.utils.module_loading import import_string


class CollectionsConfig(AppConfig):
    name = "collections_app"
    verbose_name = "What can be asked"

    def ready(self) -> None:
        watch_rows = import_string("collections_app.roster.watch_rows")
        watch_rows()
        watch_edits = import_string("collections_app.services.findings.forgetting.watch_edits")
        watch_edits()
