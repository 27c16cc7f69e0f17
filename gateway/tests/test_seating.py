"""Who sits: members, nominations, then the stalest explorers that bring another opinion."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from collections_app.models import CoolDown, LanguageModel, Limits
from gateway.errors import BadRequest, Unavailable
from gateway.panel.seating import Table, nobody_seated, seat_explorers, seat_members, seat_nominated

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def model(number: int, family: str = "", **fields) -> LanguageModel:
    fields = {
        "alias": f"m{number}",
        "served_id": f"served-{number}",
        "endpoint_id": 1,
        "family": [family or f"line{number}"],
    } | fields
    return LanguageModel(pk=number, **fields)


@dataclass
class Staleness:
    """As tests say it: by model, when it was last asked and how often; `counted`: whose calls somebody wanted to know."""

    known: dict[int, tuple[datetime, int]]
    counted: list[int] = field(default_factory=list)
    looked_for: list[int] = field(default_factory=list)

    @property
    def last_asked(self) -> dict[int, datetime | None]:
        return {pk: last_asked for pk, (last_asked, _) in self.known.items()}

    def calls(self, ids: Collection[int]) -> dict[int, int]:
        self.counted += ids
        return {pk: self.known[pk][1] for pk in ids}

    def look(self, ids: Collection[int]) -> "Staleness":
        self.looked_for += ids
        return self


def seat(members, candidates=(), nominated=(), *, staleness=None, limits=None, images=0, tokens=10) -> Table:
    limits = limits or Limits()
    table = Table(images=images, tokens=tokens)
    seat_members(table, members, nominated)
    seat_nominated(table, nominated, limits.explorers_beside)
    known = staleness if isinstance(staleness, Staleness) else Staleness(staleness or {})
    seat_explorers(table, candidates, known.look, limits.explorers_beside(len(table.members)))
    return table


def names(table: Table) -> dict[str, str]:
    return {seat.name: seat.model.alias for seat in table.seats()}


def test_members_sit_in_their_order_then_explorers():
    table = seat([model(2), model(1)], [model(3), model(4), model(5)], staleness={3: (LONG_AGO, 1)})
    assert list(names(table).items())[:2] == [("member1", "m2"), ("member2", "m1")]
    assert {names(table)["explorer1"], names(table)["explorer2"]} == {"m4", "m5"}


@pytest.mark.parametrize(("members", "explorers"), [(1, 2), (2, 2), (3, 2), (4, 1), (5, 0), (7, 0)])
def test_explorers_are_what_the_limits_leave(members, explorers):
    table = seat([model(n) for n in range(members)], [model(n) for n in range(100, 110)])
    assert len(table.explorers) == explorers


def test_a_retired_member_is_skipped_and_frees_its_seat():
    table = seat([model(n) for n in range(3)] + [model(3, status="retired")], [model(n) for n in range(10, 15)])
    assert [skipped.why for skipped in table.skipped] == ["retired"]
    assert len(table.explorers) == 2


def test_a_retiring_or_ad_hoc_model_sits_as_a_member_but_never_explores():
    members = [model(1, status="retiring"), model(2, status="ad_hoc")]
    table = seat(members, [model(3, status="retiring"), model(4, status="ad_hoc"), model(5)])
    assert sorted(names(table).values()) == ["m1", "m2", "m5"]


def test_two_aliases_of_one_served_model_never_sit_together():
    table = seat([model(1), model(2, served_id="served-1")], [model(3, served_id="served-1")])
    assert names(table) == {"member1": "m1"}


def test_the_same_served_id_on_another_endpoint_is_another_model():
    table = seat([model(1), model(2, served_id="served-1", endpoint_id=2)], [model(3, served_id="served-1", endpoint_id=3)])
    assert names(table) == {"member1": "m1", "member2": "m2", "explorer1": "m3"}
    assert table.skipped == []


def test_the_stalest_sit_first_and_never_asked_before_all():
    staleness = {1: (LONG_AGO, 9), 2: (LONG_AGO + timedelta(days=1), 1), 3: (LONG_AGO + timedelta(days=2), 1)}
    assert names(seat([], [model(3), model(2), model(1)], staleness=staleness)) == {"explorer1": "m1", "explorer2": "m2"}
    assert names(seat([], [model(3), model(1), model(4)], staleness=staleness))["explorer1"] == "m4"


def test_ties_go_to_the_fewest_calls():
    staleness = {1: (LONG_AGO, 5), 2: (LONG_AGO, 2), 3: (LONG_AGO, 3)}
    assert list(names(seat([], [model(1), model(2), model(3)], staleness=staleness)).values()) == ["m2", "m3"]


def test_calls_are_counted_of_nobody_whose_turn_they_do_not_settle():
    known = {number: (LONG_AGO + timedelta(days=number // 3), 5 - number % 3) for number in range(1, 9)}
    staleness = Staleness({9: (LONG_AGO - timedelta(days=1), 7)} | known)
    assert list(names(seat([], [model(n) for n in range(1, 10)], staleness=staleness)).values()) == ["m9", "m2"]
    assert sorted(staleness.counted) == [1, 2]


def test_who_cannot_sit_is_not_looked_for_and_nobody_is_where_no_seat_is_left():
    staleness, members = Staleness({}), [model(1, family="llama")]
    candidates = [model(1, family="llama"), model(2, family="llama"), model(3, status="retiring"), model(4)]
    assert list(names(seat(members, candidates, staleness=staleness)).values()) == ["m1", "m4"]
    seat(members, candidates, staleness=staleness, limits=Limits(max_explorers=0))
    assert staleness.looked_for == [4]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=8), st.integers(0, 4))
def test_whom_a_look_at_everybody_would_seat(asked, seats):
    """As the rule says it: never asked first, then the oldest last call, then the fewest calls; lots only among equals."""
    known = {pk: (LONG_AGO + timedelta(days=day), calls) for pk, (day, calls) in enumerate(asked) if day}
    limits = Limits(max_calls=seats, max_explorers=seats)
    seated = seat([], [model(pk) for pk in range(len(asked))], staleness=known, limits=limits).explorers
    ranks = [(day > 0, day, calls if day else 0) for day, calls in asked]
    assert [ranks[row.pk] for row in seated] == sorted(ranks)[:seats]


def test_equal_staleness_is_settled_at_random():
    firsts = {names(seat([], [model(n) for n in range(6)]))["explorer1"] for _ in range(200)}
    assert len(firsts) == 6


def test_an_explorer_shares_no_family_with_any_seat():
    carrier = model(3, family="llama")
    carrier.family = ["deepseek", "llama"]
    table = seat([model(1, family="llama")], [carrier, model(4, family="qwen"), model(5, family="qwen")])
    assert len(table.explorers) == 1
    assert table.explorers[0].families == {"qwen"}


def test_a_router_never_explores():
    router = model(9, served_id="openrouter/auto")
    router.family = []
    assert seat([], [router]).explorers == []


def test_nominated_models_take_explorer_seats_first():
    table = seat([model(1)], [model(2), model(3)], nominated=[model(7, status="ad_hoc", role="light")])
    seats = table.seats()
    assert (seats[1].name, seats[1].model.alias, seats[1].nominated) == ("explorer1", "m7", True)
    assert (seats[2].name, seats[2].nominated) == ("explorer2", False)


def test_a_nominated_member_uses_no_extra_seat():
    table = seat([model(1), model(2)], [model(3), model(4)], nominated=[model(2)])
    assert len(table.nominated) == 0
    assert len(table.explorers) == 2


def test_a_member_that_is_skipped_is_not_skipped_again_for_being_named_too():
    for one, images in ((model(2, status="retired"), 0), (model(2), 1)):
        table = seat([model(1, vision=True), one], nominated=[one], images=images)
        assert names(table) == {"member1": "m1"}
        assert [(skipped.seat, skipped.alias) for skipped in table.skipped] == [("member", "m2")]


def test_more_nominations_than_seats_is_refused_with_the_limit():
    with pytest.raises(BadRequest, match="2 explorer seats"):
        seat([model(1)], nominated=[model(2), model(3), model(4)])


def test_a_nominated_model_that_is_too_small_is_skipped_and_says_so():
    table = seat([model(1)], nominated=[model(2, context_window=100)], tokens=101)
    assert "100 tokens" in table.skipped[0].why


def test_explorers_too_small_are_passed_over_in_silence():
    table = seat([model(1)], [model(2, context_window=100), model(3, context_window=101)], tokens=101)
    assert names(table) == {"member1": "m1", "explorer1": "m3"}
    assert table.skipped == []


def test_images_seat_only_models_that_see():
    members = [model(1, vision=True), model(2, vision=False), model(3)]
    table = seat(members, [model(4), model(5, vision=True)], images=1)
    assert names(table) == {"member1": "m1", "explorer1": "m5"}
    assert [skipped.alias for skipped in table.skipped] == ["m2", "m3"]


def test_a_vision_model_is_no_member_of_a_panel_without_images_unless_named():
    eyes = model(1, role="vision", vision=True)
    assert names(seat([eyes, model(2)])) == {"member1": "m2"}
    assert names(seat([eyes, model(2)], nominated=[eyes])) == {"member1": "m1", "member2": "m2"}


def test_nobody_seated_is_the_callers_fault_only_for_images():
    assert isinstance(nobody_seated(seat([model(1)], images=1)), BadRequest)
    refusal = nobody_seated(seat([model(1, status="retired")]))
    assert isinstance(refusal, Unavailable)
    assert "m1: retired" in refusal.message
    assert refusal.wait


statuses = st.sampled_from(LanguageModel.Status.values)
benches = st.lists(
    st.builds(
        lambda number, family, status, served: model(number, family, status=status, served_id=f"s{served}"),
        st.integers(1, 40),
        st.sampled_from("abcdefgh"),
        statuses,
        st.integers(1, 30),
    ),
    max_size=14,
    unique_by=lambda row: row.pk,
)


@given(benches, benches, st.integers(1, 8), st.integers(0, 4))
def test_no_panel_breaks_the_rules(members, candidates, max_calls, max_explorers):
    limits = Limits(max_calls=max_calls, max_explorers=max_explorers)
    table = seat(members, candidates, limits=limits)
    assert len(table.explorers) <= max(0, min(max_explorers, max_calls - len(table.members)))
    assert all(explorer.status == "active" for explorer in table.explorers)
    assert not any(row.status == "retired" for row in table.seated)
    served = [(row.endpoint_id, row.served_id) for row in table.seated]
    assert len(served) == len(set(served)) == len({row.pk for row in table.seated})
    for explorer in table.explorers:
        others = [row for row in table.seated if row is not explorer]
        assert all(explorer.families.isdisjoint(other.families) for other in others)


@given(st.integers(1, 9), st.integers(0, 4), st.integers(1, 3))
def test_every_model_that_may_explore_is_asked_before_any_is_asked_twice(explorers, members, max_explorers):
    limits = Limits(max_calls=max_explorers + members, max_explorers=max_explorers)
    candidates = [model(100 + number) for number in range(explorers)]
    staleness: dict = {}
    asked: list[int] = []
    now = LONG_AGO
    while len(set(asked)) < explorers:
        now += timedelta(seconds=1)
        table = seat([model(n) for n in range(members)], candidates, staleness=staleness, limits=limits)
        fresh = explorers - len(set(asked))
        assert len({row.pk for row in table.explorers} - set(asked)) == min(fresh, len(table.explorers))
        for row in table.explorers:
            asked.append(row.pk)
            staleness[row.pk] = (now, staleness.get(row.pk, (None, 0))[1] + 1)


def resting(*aliases: str, minutes: float = 10) -> Table:
    """A table at which these models are not asked for a while."""
    until = timezone.now() + timedelta(minutes=minutes)
    rest = CoolDown(until=until, why="its limit of 50 requests a day is used up")
    return Table(images=0, tokens=10, cool_down_of=lambda model: rest if model.alias in aliases else None)


def test_who_cools_down_is_skipped_with_until_when_and_frees_a_seat_and_explores_nowhere():
    table = resting("m1", "m2", "m3")
    seat_members(table, [model(1), model(4), model(5), model(6)], [])
    seat_nominated(table, [model(2)], Limits().explorers_beside)
    seat_explorers(table, [model(3), model(7)], Staleness({}).look, Limits().explorers_beside(len(table.members)))
    assert list(names(table).values()) == ["m4", "m5", "m6", "m7"]
    assert [(skipped.seat, skipped.alias) for skipped in table.skipped] == [("member", "m1"), ("explorer", "m2")]
    for skipped in table.skipped:
        assert skipped.why.startswith("cooling down until 20")
        assert skipped.why.endswith(" UTC: its limit of 50 requests a day is used up")


def test_when_everybody_cools_down_the_refusal_says_when_the_first_may_sit_again():
    table = resting("m1", minutes=2)
    seat_members(table, [model(1), model(2, status="retired")], [])
    assert 118 < nobody_seated(table).wait <= 120
    over = resting("m1", minutes=-1)
    seat_members(over, [model(1)], [])
    assert nobody_seated(over).wait == 1
