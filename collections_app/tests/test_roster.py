"""The roster is one snapshot, kept until a row of it changes, whoever changes it."""

from collections.abc import Callable

import pytest
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from collections_app.models import Collection, Endpoint, LanguageModel, Limits, Shape
from collections_app.roster import RosterKeeper
from collections_app.services.bench_load import load_bench
from collections_app.services.members import set_members
from collections_app.services.status import set_status
from collections_app.tests.rosters import make_collection, make_model

pytestmark = pytest.mark.django_db


def test_an_unchanged_roster_costs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    make_collection("core", make_model("slow"), make_model("fast"), make_model("coder", role="code"))
    keeper = RosterKeeper()
    roster = keeper.current()
    with django_assert_num_queries(1):
        assert keeper.current() is roster
    with django_assert_num_queries(0):
        core = roster.collections["core"]
        assert (core.shape, core.merger) == (None, None)
        assert [m.language_model.endpoint.name for m in core.memberships.all()] == ["upstream"] * 3
        assert [model.alias for model in roster.may_explore(("general",))] == ["fast", "slow"]
        assert [model.alias for model in roster.may_explore(("code",))] == ["coder"]
        assert roster.shapes["general"].roles == ["general"]


def rename(alias: str) -> None:
    model = LanguageModel.objects.get(alias="fast")
    model.alias = alias
    model.save()


CHANGES: list[Callable[[], object]] = [
    lambda: rename("faster"),
    lambda: set_status(LanguageModel.objects.filter(alias="fast"), "retired"),
    lambda: set_members(Collection.objects.get(), [LanguageModel.objects.get(alias="slow")]),
    lambda: Collection.objects.get().delete(),
    lambda: Collection.objects.all().delete(),
    lambda: Endpoint.objects.get().save(),
    lambda: Shape.objects.get(name="quick").delete(),
    lambda: Limits.objects.update_or_create({"max_calls": 4}, pk=1),
    lambda: load_bench({"limits": {"max_calls": 3}}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_makes_another_roster_and_no_other_reader_is_late(change: Callable[[], object]) -> None:
    make_collection("core", make_model("slow"), make_model("fast"))
    here, in_another_process = RosterKeeper(), RosterKeeper()
    before = here.current(), in_another_process.current()
    change()
    after = here.current(), in_another_process.current()
    assert after[0] is not before[0]
    assert after[1] is not before[1]
    assert here.current() is after[0]


def test_a_change_that_is_taken_back_is_never_taken_for_the_next() -> None:
    make_model("fast")
    keeper = RosterKeeper()
    with transaction.atomic():
        rename("taken-back")
        assert keeper.current().active[0].alias == "taken-back"
        transaction.set_rollback(True)
    assert keeper.current().active[0].alias == "fast"
    rename("kept")
    assert keeper.current().active[0].alias == "kept"
