"""No value that a row may hold is too long for an index: PostgreSQL refuses a row whose entry is longer than 2,704 bytes."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import models

MOST_BYTES = 2704
LONGEST_CHARACTER = 4


def indexed(model: type[models.Model]) -> Iterator[tuple[str, ...]]:
    """The columns of each of a model's indexes."""
    options = model._meta
    yield from ((field.name,) for field in options.local_fields if field.unique or field.db_index)
    yield from (tuple(name.lstrip("-") for name in index.fields) for index in options.indexes)
    yield from (tuple(rule.fields) for rule in options.constraints if isinstance(rule, models.UniqueConstraint))


def longest(field: models.Field) -> float:
    if isinstance(field, models.TextField | models.JSONField):
        return float("inf")
    return LONGEST_CHARACTER * field.max_length if getattr(field, "max_length", None) else 8


@pytest.mark.parametrize("model", apps.get_models(), ids=lambda model: model._meta.label)
def test_every_entry_fits(model: type[models.Model]) -> None:
    for names in indexed(model):
        assert sum(longest(model._meta.get_field(name)) for name in names) < MOST_BYTES, names
