"""A collection: a named group of models for one kind of work, and the limits that all collections share."""

import re
import reprlib
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from collections_app.models.fields import check_text, name_rule
from collections_app.models.language_model import LanguageModel
from collections_app.models.shape import Shape

TAG = re.compile(r"[a-z0-9][a-z0-9-]{0,23}")
MOST_TAGS = 8


def check_tags(tags: Any) -> None:
    if not isinstance(tags, list) or len(tags) > MOST_TAGS:
        raise ValidationError(f"A list of up to {MOST_TAGS} tags.")
    for tag in tags:
        if not isinstance(tag, str) or not TAG.fullmatch(tag):
            raise ValidationError(f"{reprlib.repr(tag)} is no tag: lower-case letters, digits and dashes, up to 24 characters.")
    if len(set(tags)) < len(tags):
        raise ValidationError("Each tag once.")


class Collection(models.Model):
    class Reply(models.TextChoices):
        ALL = "all", "every answer"
        MERGED = "merged", "one merged answer"

    name = models.CharField(max_length=32, unique=True, validators=[name_rule], help_text="Says what it is for.")
    description = models.CharField(
        max_length=300, blank=True, validators=[check_text], help_text="Callers choose by it: what to ask it, and what not."
    )
    tags = models.JSONField(default=list, blank=True, validators=[check_tags], help_text="Up to eight lower-case words.")
    members = models.ManyToManyField(LanguageModel, through="Membership", related_name="collections")
    shape = models.ForeignKey(
        Shape, on_delete=models.PROTECT, null=True, blank=True, related_name="collections", help_text="Empty: automatic."
    )
    reply = models.CharField(max_length=10, choices=Reply.choices, default=Reply.ALL)
    merger = models.ForeignKey(
        LanguageModel, on_delete=models.SET_NULL, null=True, blank=True, related_name="merges", help_text="Empty: by evidence."
    )
    verdict_links = models.BooleanField(
        default=False,
        help_text=(
            "Beside each answer, links that judge it with a click, once, for seven days. Whoever sees the reply can follow "
            "them, and a chat that goes on sends them to its models with everything else."
        ),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.asked_as

    @property
    def asked_as(self) -> str:
        """The model name that callers send: bench/core."""
        return f"bench/{self.name}"


class MembershipManager(models.Manager["Membership"]):
    """Memberships with their models and endpoints: nobody wants a member without knowing where it is."""

    def get_queryset(self) -> models.QuerySet["Membership"]:
        return super().get_queryset().select_related("language_model__endpoint")


class Membership(models.Model):
    """One member's place in one collection."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="memberships")
    language_model = models.ForeignKey(
        LanguageModel, on_delete=models.PROTECT, related_name="memberships", verbose_name="model"
    )
    position = models.PositiveIntegerField(default=0, db_index=True)

    objects = MembershipManager()

    class Meta:
        ordering = ["position", "id"]
        verbose_name = "member"
        constraints = [
            models.UniqueConstraint(fields=["collection", "language_model"], name="a_member_sits_once"),
        ]

    def __str__(self) -> str:
        return f"{self.language_model} in {self.collection}"


class Limits(models.Model):
    """How many seats a panel has, and the bench's primary model; one row for the whole bench."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    max_calls = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="Seats up to which explorers are added. Members sit even past it.",
    )
    max_explorers = models.PositiveSmallIntegerField(
        default=2, validators=[MaxValueValidator(10)], help_text="The most explorers of one panel."
    )
    primary = models.ForeignKey(
        LanguageModel,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="primary model",
        help_text="Merges where neither the collection nor evidence names a merger.",
    )

    class Meta:
        verbose_name_plural = "limits"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_row_of_limits")]

    def __str__(self) -> str:
        return f"{self.max_calls} calls, {self.max_explorers} explorers"

    def explorers_beside(self, members: int) -> int:
        """How many explorer seats a panel with that many members has."""
        return max(0, min(self.max_explorers, self.max_calls - members))
