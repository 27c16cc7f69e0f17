from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "keys"
    verbose_name = "Who may ask"
