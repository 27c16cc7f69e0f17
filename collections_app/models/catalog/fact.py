"""One thing known about what an endpoint serves under an id, by whom, since when.

The operator's own word is no fact: it stands in the model's row, and comes before any.
"""

from typing import ClassVar

from django.db import models

from collections_app.models.endpoint import Endpoint

# By what calls taught; the others are listings.
LEARNED = "learned"
# By precedence: of two that know a field, the first is believed.
SOURCES = (LEARNED, "endpoint", "models_dev", "openrouter", "freellmapi")

# What can be known, and its unit. A limit of requests or tokens may be of a whole account: then the served id is a pattern,
# `*` or `*:free`, and every model whose id it matches draws on it.
FIELDS = {
    "context_window": "tokens",
    "output_limit": "tokens",
    "vision": "yes or no",
    "tools": "yes or no",
    "price_in": "USD per million tokens",
    "price_out": "USD per million tokens",
    "requests_per_minute": "requests",
    "requests_per_day": "requests",
    "tokens_per_minute": "tokens",
    "tokens_per_day": "tokens",
    "retires": "date",
    "free": "kind of free",
}


class Fact(models.Model):
    # What an admin page calls them.
    SOURCE_NAMES: ClassVar = {
        LEARNED: "learned from a real error or reply",
        "endpoint": "the endpoint's own listing",
        "models_dev": "models.dev",
        "openrouter": "OpenRouter",
        "freellmapi": "FreeLLMAPI",
    }

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="facts")
    served_id = models.CharField(max_length=200)
    field = models.CharField(max_length=30, choices=[(name, name) for name in FIELDS])
    source = models.CharField(max_length=20, choices=list(SOURCE_NAMES.items()))
    value = models.JSONField()
    known_since = models.DateTimeField(help_text="When this source first said this value.")
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "served_id", "field", "source"], name="one_fact_a_source")]

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.served_id}: {self.field} = {self.value} ({self.source})"
