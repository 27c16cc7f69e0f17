"""Who may ask: gateway keys, each kept as a hash, with what its holder may ask for, how often and how long.

Every change of a key by a person is logged; its hash never, and its use not.
"""

import re
from datetime import datetime

from auditlog.registry import auditlog
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Lower

from collections_app.models import Collection

MOST_A_MINUTE = 100_000

# Names are read in logs, on pages and in refusals, and compared by people: nothing in them may hide, reorder or break a line.
key_name_rule = RegexValidator(
    r"\A[A-Za-z0-9](?: ?[A-Za-z0-9._@+-]){0,63}\Z",
    "1 to 64 letters (a to z), digits and . _ @ + - characters, starting with a letter or digit, with single spaces between.",
)
not_local = RegexValidator(
    r"\Alocal\Z",
    "local is what callers without a key are called; a key needs another name.",
    inverse_match=True,
    flags=re.IGNORECASE,
)


class GatewayKey(models.Model):
    class Status(models.TextChoices):
        ACTIVE = "active"
        EXPIRED = "expired"
        REVOKED = "revoked"

    # Fixed when the key is made: the call log keeps the name, and by it a caller reads panels back.
    name = models.CharField(
        max_length=64, validators=[key_name_rule, not_local], help_text="Whose it is: an app, a person. Fixed from then on."
    )
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the key, in hexadecimal.")
    last_four = models.CharField(max_length=4, editable=False)
    collections = models.ManyToManyField(Collection, blank=True, related_name="gateway_keys")
    # Beside the rows above: a key whose last collection is deleted may ask for nothing, not for everything.
    limited = models.BooleanField(default=False, editable=False)
    rpm = models.PositiveIntegerField(
        "requests a minute",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_A_MINUTE)],
        help_text="Empty: no limit.",
    )
    bench_field = models.BooleanField(
        "bench field", default=True, help_text="Off for strict clients: replies then leave the bench field out."
    )
    created_at = models.DateTimeField("created", auto_now_add=True)
    last_used_at = models.DateTimeField("last used", null=True, editable=False)
    expires_at = models.DateTimeField("expires", null=True, blank=True, help_text="In UTC; empty: never.")
    revoked_at = models.DateTimeField("revoked", null=True, editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = "gateway key"
        constraints = [
            models.UniqueConstraint(Lower("name"), name="one_key_a_name", violation_error_message="A key of this name exists."),
            models.CheckConstraint(
                condition=~models.Q(name__iexact="local"), name="no_key_is_local", violation_error_message=not_local.message
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def status(self, now: datetime) -> str:
        """active, expired or revoked; a key expires at the moment that it states."""
        if self.revoked_at:
            return self.Status.REVOKED
        return self.Status.EXPIRED if self.expires_at and now >= self.expires_at else self.Status.ACTIVE


# By name: a key's hash and its use are no business of the log, and its collections are logged by services.py.
auditlog.register(GatewayKey, include_fields=["name", "last_four", "rpm", "bench_field", "expires_at", "revoked_at"])
