"""One model as one source lists it, in units of our own: tokens, USD per million tokens, dates."""

from django.db import models


class CatalogEntry(models.Model):
    """A source's row for (provider, served id). Unknown is None, never 0.

    `provider` is models.dev's id for the provider, or for an endpoint's own listing the endpoint's name.
    """

    class Kind(models.TextChoices):
        CHAT = "chat", "chat"
        ROUTER = "router", "router: chooses a model itself"
        DECISION = "decision", "decision model"
        OTHER = "other", "no chat: images, audio, embeddings"

    class Free(models.TextChoices):
        UNKNOWN = "", "not known to be free"
        ZERO = "zero", "free: price zero"
        QUOTA = "quota", "free quota"
        PLAN = "plan", "included in a plan"
        LOCAL = "local", "local"

    source = models.CharField(max_length=60)
    provider = models.CharField(max_length=80)
    served_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.CHAT)
    free = models.CharField(max_length=10, choices=Free.choices, blank=True, default=Free.UNKNOWN)
    context_window = models.PositiveBigIntegerField(null=True)
    trained_window = models.PositiveBigIntegerField(null=True)
    output_limit = models.PositiveBigIntegerField(null=True)
    vision = models.BooleanField(null=True)
    tools = models.BooleanField(null=True)
    price_in = models.FloatField(null=True)
    price_out = models.FloatField(null=True)
    requests_per_minute = models.PositiveBigIntegerField(null=True)
    requests_per_day = models.PositiveBigIntegerField(null=True)
    tokens_per_minute = models.PositiveBigIntegerField(null=True)
    tokens_per_day = models.PositiveBigIntegerField(null=True)
    # ISO dates as the source has them, a year and month alone included.
    released = models.CharField(max_length=10, blank=True)
    retires = models.CharField(max_length=10, blank=True)
    deprecated = models.BooleanField(default=False)
    successor = models.CharField(max_length=200, blank=True)
    family = models.CharField(max_length=60, blank=True, help_text="What the source calls its family: a hint.")
    # The model itself, wherever it is served: the id without host, variant and quantization (catalog/same.py).
    same = models.CharField(max_length=200, blank=True)
    first_seen = models.DateTimeField()
    gone_at = models.DateTimeField(null=True, help_text="Since when the source no longer lists it.")

    class Meta:
        verbose_name_plural = "catalog entries"
        constraints = [models.UniqueConstraint(fields=["source", "provider", "served_id"], name="one_entry_a_source")]
        indexes = [models.Index(fields=["same"]), models.Index(fields=["provider", "served_id"])]

    def __str__(self) -> str:
        return f"{self.provider}: {self.served_id}"
