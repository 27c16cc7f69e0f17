"""A model that answers typed questions, and so can say which shape a request has. It never sits on a panel."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from collections_app.models.base_url import check_base_url, origin_of
from collections_app.models.endpoint import Endpoint
from collections_app.models.fields import alias_rule, check_text
from collections_app.models.language_model import LanguageModel

CHOICE = "choice"
QUESTION_TYPES = (CHOICE, "noul", "predicate", "score")

SITS_ALREADY = "On this bench as the model {}, which sits on panels: a decision model never does. Retire that one first."


def check_types(types: Any) -> None:
    """Raise ValidationError for what is no list of types of question."""
    if not isinstance(types, list) or any(kind not in QUESTION_TYPES for kind in types) or len(set(types)) < len(types):
        raise ValidationError(f"Types of question, each once: {', '.join(QUESTION_TYPES)}.")


class DecisionModel(models.Model):
    class Dialect(models.TextChoices):
        SYSTEM_ONE = "systemone", "System One"
        OPENAI = "openai", "OpenAI decisions"
        CHAT = "chat", "a chat model, asked to label text"

    class Status(models.TextChoices):
        ACTIVE = "active", "active: picks shapes"
        AD_HOC = "ad_hoc", "ad hoc: picks none"

    alias = models.CharField(max_length=64, unique=True, validators=[alias_rule], help_text="Its name on this bench.")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="decision_models")
    served_id = models.CharField(
        "model id", max_length=200, validators=[check_text], help_text="The id that the endpoint serves it under."
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    dialect = models.CharField(
        max_length=10,
        choices=Dialect.choices,
        default=Dialect.SYSTEM_ONE,
        help_text="The probe finds which of the first two; a chat model is asked as a chat model, and trusted less.",
    )
    # Whole, since it need not stand under the endpoint's base URL; always of the endpoint's host.
    url = models.CharField(
        "decisions URL",
        max_length=500,
        blank=True,
        validators=[check_text, check_base_url],
        help_text="Found by the probe: where it answers.",
    )
    question_types = models.JSONField(
        default=list, blank=True, validators=[check_types], help_text="The types of question that it answered when probed."
    )
    probed_at = models.DateTimeField(null=True, editable=False)
    last_error = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ["alias"]

    def __str__(self) -> str:
        return self.alias

    @property
    def picks_shapes(self) -> bool:
        """Whether it may be asked for a request's shape, cool-downs apart."""
        placed = bool(self.url) or self.dialect == self.Dialect.CHAT
        return self.status == self.Status.ACTIVE and CHOICE in self.question_types and placed

    def clean(self) -> None:
        """Raise ValidationError for a decisions URL of another server than the endpoint's: the key would go there."""
        try:
            base_url = self.endpoint.base_url
        except Endpoint.DoesNotExist:
            return
        if self.url and origin_of(self.url) != origin_of(base_url):
            raise ValidationError({"url": f"Not of the endpoint's own server, {origin_of(base_url)}."})

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Raise ValidationError for what sits on this bench: the same id of an endpoint either sits or decides."""
        super().validate_constraints(exclude=exclude)
        sits = LanguageModel.objects.filter(endpoint=self.endpoint_id, served_id=self.served_id)
        if seat := sits.exclude(status=LanguageModel.Status.RETIRED).first():
            raise ValidationError({"served_id": SITS_ALREADY.format(seat.alias)})
