from django.apps import AppConfig


class BenchsiteConfig(AppConfig):
    name = "benchsite"
    verbose_name = "The site"
