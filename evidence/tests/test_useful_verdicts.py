"""Whose answers were judged useful on a shape, which chooses who merges: however many days the log is long."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from evidence.models import Tally
from evidence.selectors import useful_verdicts
from evidence.tests.plans import plans_of
from evidence.tests.rows import make_model
from evidence.tests.standing import judged

pytestmark = pytest.mark.django_db


def test_useful_ones_and_all_that_were_judged_by_model():
    judged("fast", useful=2, not_useful=1)
    judged("slow", useful=0, not_useful=1, unjudged=2)
    fast, slow, new = (make_model(alias).pk for alias in ("fast", "slow", "new"))
    assert useful_verdicts("general", [fast, slow, new]) == {fast: (2, 3), slow: (0, 1)}
    assert useful_verdicts("code", [fast]) == {}


def test_merging_well_does_not_count():
    judged("fast", useful=2, seat="merger")
    assert useful_verdicts("general", [make_model("fast").pk]) == {}


@pytest.fixture
def many_days() -> list[int]:
    """Tallies enough for a planner to think of an index: of thirty models on four shapes."""
    models = [make_model(f"model{number}") for number in range(30)]
    today = timezone.now().date()
    Tally.objects.bulk_create(
        Tally(
            language_model=model,
            alias=model.alias,
            shape=shape,
            day=today - timedelta(days=days),
            seat="member",
            last_asked=timezone.now(),
            in_log=True,
        )
        for model in models
        for shape in ("general", "code", "hard", "light")
        for days in range(40)
    )
    return [model.pk for model in models]


def test_many_days_are_read_from_an_index_of_the_model_and_the_shape(many_days):
    (plan,) = plans_of(lambda: useful_verdicts("general", many_days[:3]))
    found = " ".join(plan)
    if connection.vendor == "sqlite":
        assert "USING COVERING INDEX tallies_of_a_model (language_model_id=? AND shape=?)" in found
    else:
        assert "tallies_of_a_model" in found and "Seq Scan" not in found
        assert "Index Cond: ((language_model_id = ANY" in found and "(shape)::text = 'general'" in found
