"""The key that was typed in for an endpoint: encrypted, for one host, and named without being shown.

Nobody edits these columns: services/provider_keys.py writes them, selectors.typed_key reads them.
"""

from django.db import models


class TypedKey(models.Model):
    # Another with each key that is typed in: who has read one by its id need not ask whether it is still the same.
    typed_key_id = models.UUIDField(null=True, unique=True, editable=False)
    typed_key_host = models.CharField(max_length=600, blank=True, default="", editable=False)
    typed_key_sealed = models.TextField(blank=True, default="", editable=False)
    typed_key_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    @property
    def typed_key_told(self) -> str:
        """The key as it may be told: for which host and since when; empty when none is kept."""
        return f"for {self.typed_key_host}, typed on {self.typed_key_at:%Y-%m-%d %H:%M:%S} UTC" if self.typed_key_at else ""
