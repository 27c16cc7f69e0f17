"""A model that answers typed questions, and so can say which shape a request has. It never sits on a panel."""

from django.db import models

from collections_app.models.endpoint import Endpoint
from collections_app.models.fields import alias_rule, check_text


class DecisionModel(models.Model):
    class Dialect(models.TextChoices):
        SYSTEM_ONE = "systemone", "System One"
        OPENAI = "openai", "OpenAI decisions"
        CHAT = "chat", "a chat model, asked to label text"

    class Status(models.TextChoices):
        ACTIVE = "active", "active: picks shapes"
        AD_HOC = "ad_hoc", "ad hoc: picks none"

    alias = models.CharField(max_length=64, unique=True, validators=[alias_rule])
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="decision_models")
    served_id = models.CharField("model id", max_length=200, validators=[check_text])
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    dialect = models.CharField(max_length=10, choices=Dialect.choices, default=Dialect.SYSTEM_ONE)
    # Whole, since it need not stand under the endpoint's base URL; always of the endpoint's host.
    url = models.CharField("decisions URL", max_length=500, blank=True, help_text="Found by the probe: where it answers.")
    question_types = models.JSONField(default=list, blank=True, help_text="The types of question that it answered when probed.")
    probed_at = models.DateTimeField(null=True, editable=False)
    last_error = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ["alias"]

    def __str__(self) -> str:
        return self.alias
