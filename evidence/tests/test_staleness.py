from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings, strategies

from evidence.models import Call, Panel
from evidence.selectors import MOST_COUNTED, staleness
from evidence.tests.plans import plans_of
from evidence.tests.rows import asked_on, make_model, make_panel

pytestmark = pytest.mark.django_db


def test_when_and_how_often_each_model_was_asked_on_a_shape():
    fast, slow, new = make_model("fast"), make_model("slow"), make_model("new")
    now = timezone.now()
    make_panel(("member1", "fast"), ("explorer1", "slow"), at=now - timedelta(minutes=9))
    make_panel(("member1", "fast"), at=now - timedelta(minutes=5))
    assert asked_on("general", [fast.pk, slow.pk, new.pk]) == {
        fast.pk: (now - timedelta(minutes=5), 2),
        slow.pk: (now - timedelta(minutes=9), 1),
        new.pk: (None, 0),
    }


def test_another_shape_and_merging_do_not_count():
    model = make_model("fast")
    make_panel(("member1", "fast"), shape="code")
    make_panel(("member1", "slow"), ("merger", "fast"))
    assert asked_on("general", [model.pk]) == {model.pk: (None, 0)}


def test_a_seat_counts_from_the_moment_it_is_asked():
    panel = make_panel(("member1", "fast"))
    model = make_model("fast")
    assert panel.calls.get().status == "running"
    assert asked_on("general", [model.pk]) == {model.pk: (panel.asked_at, 1)}


def test_models_that_were_not_named_are_left_out():
    make_panel()
    assert asked_on("general", []) == {}
    assert list(asked_on("general", [make_model("fast").pk])) == [make_model("fast").pk]


def test_counting_stops_where_it_no_longer_matters():
    model = make_model("fast")
    for number in range(MOST_COUNTED + 2):
        make_panel(("member1", "fast"), minutes_ago=number)
    assert asked_on("general", [model.pk])[model.pk][1] == MOST_COUNTED


ASKED = strategies.tuples(
    strategies.sampled_from(["fast", "slow", "new"]),
    strategies.sampled_from(["general", "code"]),
    strategies.sampled_from(["member1", "explorer2", "merger"]),
    strategies.integers(0, 50),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(strategies.lists(ASKED, max_size=8))
def test_the_query_agrees_with_counting_by_hand(asked):
    Panel.objects.all().delete()
    models = {alias: make_model(alias).pk for alias in ("fast", "slow", "new")}
    now = timezone.now()
    for alias, shape, seat_name, minutes in asked:
        make_panel((seat_name, alias), shape=shape, at=now - timedelta(minutes=minutes))
    for alias, pk in models.items():
        ages = [minutes for name, shape, seat, minutes in asked if (name, shape) == (alias, "general") and seat != "merger"]
        last_asked = now - timedelta(minutes=min(ages)) if ages else None
        assert asked_on("general", models.values())[pk] == (last_asked, len(ages))


@pytest.fixture
def long_log():
    """Calls enough for a planner to take the latest hundred in the order of an index: of five models on four shapes."""
    panel, models = make_panel(), [make_model(f"model{number}") for number in range(5)]
    asked = timezone.now() - timedelta(days=9)
    Call.objects.bulk_create(
        Call(
            panel=panel,
            seat_name=f"member{number}",
            language_model=models[number % 5],
            alias=models[number % 5].alias,
            endpoint_name="mock",
            served_id="served",
            shape=("general", "code", "hard", "light")[number // 5 % 4],
            asked_at=asked + timedelta(minutes=number),
            status="ok",
            answer="A stale read needs a second writer. " * 20,
        )
        for number in range(100, 16_100)
    )
    return [model.pk for model in models]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plan")
def test_queries_are_answered_from_the_index_alone(long_log):
    last_asked, calls = plans_of(lambda: staleness("general", long_log).calls(long_log))
    for plan in (last_asked, calls):
        (look,) = [step for step in plan if "U0" in step]
        assert look.startswith("SEARCH U0 USING COVERING INDEX staleness (language_model_id=? AND shape=?"), plan
        assert not any("TEMP B-TREE" in step for step in plan)
    assert not any(step.startswith("SCAN") for step in last_asked)
    assert [step for step in calls if step.startswith("SCAN")] == ["SCAN counted"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="reads PostgreSQL's plan")
def test_queries_are_answered_from_the_index_alone_on_postgresql(long_log):
    last_asked, calls = plans_of(lambda: staleness("general", long_log).calls(long_log))
    for plan in (last_asked, calls):
        (place,) = [place for place, step in enumerate(plan) if "evidence_call" in step]
        assert plan[place].startswith("->  Index Only Scan using staleness on evidence_call"), plan
        assert "language_model_id = " in plan[place + 1] and "shape = 'general'" in plan[place + 1]
        assert not any("Sort" in step for step in plan)
