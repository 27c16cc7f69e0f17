"""What a new bench has from its first start: shapes described for a picker, limits, and tables that match the models."""

import pytest
from django.core.management import call_command

from collections_app.models import Limits, Shape

pytestmark = pytest.mark.django_db

SHIPPED = {
    "general": "general",
    "design": "general",
    "prose": "general light",
    "review": "general code",
    "code": "general code",
    "enumeration": "general code light",
    "quick": "general light",
    "vision": "general light vision",
}


def test_shapes_are_shipped_with_their_roles() -> None:
    assert {shape.name: " ".join(shape.roles) for shape in Shape.objects.all()} == SHIPPED


def test_shipped_rows_would_be_accepted_in_a_form() -> None:
    for shape in Shape.objects.all():
        shape.full_clean()
    assert len({shape.description for shape in Shape.objects.all()}) == len(SHIPPED)


def test_limits_are_shipped() -> None:
    limits = Limits.objects.get()
    assert (limits.max_calls, limits.max_explorers) == (5, 2)
    assert [limits.explorers_beside(members) for members in range(1, 7)] == [2, 2, 2, 1, 0, 0]


def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
