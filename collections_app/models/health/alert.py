"""Something that a person should know and act on; once until it is resolved."""

from django.db import models

from collections_app.models.endpoint import Endpoint


class Alert(models.Model):
    class Kind(models.TextChoices):
        WENT_PAID = "went_paid", "went paid"
        RETIRING = "retiring", "retiring"
        GONE = "gone", "gone"
        KEY_REJECTED = "key_rejected", "key rejected"
        STALE_SOURCE = "stale_source", "catalog source stale"
        QUOTA_LOW = "quota_low", "quota nearly out"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.CASCADE, related_name="alerts")
    # The model's served id, or the catalog source's name; empty when it is about the whole endpoint.
    about = models.CharField(max_length=200, blank=True)
    message = models.CharField(max_length=500, help_text="What happened, and how it is known.")
    to_do = models.CharField(max_length=500, help_text="What a person can do about it.")
    opened_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-opened_at", "-id"]
        # Two: not every database can take an endpoint that is null for one like another.
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "endpoint", "about"], condition=models.Q(resolved_at=None), name="one_open_alert"
            ),
            models.UniqueConstraint(
                fields=["kind", "about"],
                condition=models.Q(resolved_at=None, endpoint=None),
                name="one_open_alert_of_no_endpoint",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.about or self.endpoint}"
