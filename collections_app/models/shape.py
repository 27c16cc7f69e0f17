"""The kind of task; decides which roles may explore."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from collections_app.models.fields import check_text, name_rule
from collections_app.models.language_model import LanguageModel


def check_roles(roles: Any) -> None:
    known = set(LanguageModel.Role.values)
    if not isinstance(roles, list) or not roles or not set(map(str, roles)) <= known or len(set(map(str, roles))) < len(roles):
        raise ValidationError(f"One or more of these, each once: {', '.join(sorted(known))}.")


class Shape(models.Model):
    name = models.CharField(max_length=32, unique=True, validators=[name_rule])
    description = models.CharField(
        max_length=300, validators=[check_text], help_text="Written for the model that picks a shape."
    )
    roles = models.JSONField("admitted roles", validators=[check_roles])

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
