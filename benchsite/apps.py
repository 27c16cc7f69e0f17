from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class BenchsiteConfig(AppConfig):
    name = "benchsite"
    verbose_name = "The site"

    def ready(self) -> None:
        # By name, once every app is there: what the checks read is known only then.
        autodiscover_modules("checks")
