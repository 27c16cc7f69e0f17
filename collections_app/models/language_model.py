"""A model on the bench: one alias for one id that an endpoint serves."""

import re
import reprlib
from collections.abc import Collection, Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.functional import cached_property

from collections_app.families import family_lines
from collections_app.models.catalog.fact import Fact
from collections_app.models.catalog.known import SET_BY_HAND, Known, known_by
from collections_app.models.endpoint import Endpoint
from collections_app.models.fields import RateLimits, Timeouts, alias_rule, check_text
from collections_app.models.options import check_options

LINE = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
MOST_LINES = 8
DECIDES = "On this bench as the decision model {}, which answers typed questions and never sits on a panel."


def check_family(lines: Any) -> None:
    if not isinstance(lines, list) or len(lines) > MOST_LINES:
        raise ValidationError(f"A list of up to {MOST_LINES} family lines.")
    for line in lines:
        if not isinstance(line, str) or not LINE.fullmatch(line):
            raise ValidationError(f"{reprlib.repr(line)} is no family line: lower case, such as llama or gpt-oss.")
    if len(set(lines)) < len(lines):
        raise ValidationError("Each family line once.")


class LanguageModel(RateLimits, Timeouts):
    class Role(models.TextChoices):
        GENERAL = "general", "general"
        CODE = "code", "code"
        LIGHT = "light", "light"
        VISION = "vision", "vision"

    class Status(models.TextChoices):
        ACTIVE = "active", "active: sits and explores"
        AD_HOC = "ad_hoc", "ad hoc: sits when named, never explores"
        RETIRING = "retiring", "retiring: sits as a member, never explores"
        RETIRED = "retired", "retired: never called"

    alias = models.CharField(max_length=64, unique=True, validators=[alias_rule], help_text="Its name on this bench.")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="language_models")
    served_id = models.CharField(
        "model id", max_length=200, validators=[check_text], help_text="The id that the endpoint serves it under."
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.GENERAL)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    # Why the bench itself retired it; empty when a person did, whose word no job takes back.
    retired_why = models.CharField(max_length=300, blank=True, editable=False)
    family = models.JSONField(
        default=list,
        blank=True,
        validators=[check_family],
        help_text="Lines whose weights or teacher it carries; empty: read from the model id.",
    )
    context_window = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(2**53)], help_text="Tokens; empty: unknown."
    )
    output_limit = models.PositiveBigIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(2**53)], help_text="Tokens; empty: unknown."
    )
    vision = models.BooleanField(null=True, blank=True, help_text="Takes images. Unknown counts as no.")
    tools = models.BooleanField(null=True, blank=True, help_text="Takes tools.")
    options = models.JSONField(
        "call options",
        default=dict,
        blank=True,
        validators=[check_options],
        help_text='Sent with every call: {"temperature": 0.2}',
    )

    class Meta:
        ordering = ["alias"]
        verbose_name = "model"

    def __str__(self) -> str:
        return self.alias

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Raise ValidationError for a decision model of this bench: it answers typed questions, and never sits."""
        super().validate_constraints(exclude=exclude)
        if self.status == self.Status.RETIRED or not self.endpoint_id:
            return
        if decides := self.endpoint.decision_models.filter(served_id=self.served_id).first():
            raise ValidationError({"served_id": DECIDES.format(decides.alias)})

    @cached_property
    def known(self) -> Known:
        """What is known of it, by its own row alone until selectors.know has read the facts."""
        return self.known_with(())

    def known_with(self, facts: Iterable[Fact]) -> Known:
        return known_by({name: getattr(self, name) for name in SET_BY_HAND}, facts)

    @property
    def families(self) -> frozenset[str]:
        """The lines it shares weights or a teacher with; empty for a router, which has none of its own."""
        return frozenset(self.family) or family_lines(self.served_id)
