"""A place that lists models, and how reading it went: models.dev, OpenRouter, FreeLLMAPI, an endpoint's own listing."""

from django.db import models


class CatalogSource(models.Model):
    """`name`: models_dev, openrouter, freellmapi, or endpoint:<endpoint's name>."""

    name = models.CharField(max_length=60, unique=True)
    url = models.CharField(max_length=600, blank=True)
    # What makes the next request conditional.
    etag = models.CharField(max_length=300, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    version = models.CharField(max_length=60, blank=True)
    # Of the bytes last taken in: the same bytes change nothing.
    digest = models.CharField(max_length=64, blank=True)
    entries = models.PositiveIntegerField(default=0)
    checked_at = models.DateTimeField(null=True, help_text="Last asked, with whatever result.")
    good_at = models.DateTimeField(null=True, help_text="Last answered well, changed or not.")
    changed_at = models.DateTimeField(null=True, help_text="Last time that what it lists changed.")
    failing_since = models.DateTimeField(null=True, help_text="Since when no reading was taken; empty when the last one was.")
    seconds = models.FloatField(null=True)
    error = models.CharField(max_length=500, blank=True, help_text="Why the last reading was not taken; empty when it was.")
    report = models.JSONField(default=list, help_text="Items that were left out, and why: up to 100 lines.")
    # What one reading told of models of this bench, and another must tell again before it alarms (catalog/transitions.py).
    suspected = models.JSONField(default=list)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
