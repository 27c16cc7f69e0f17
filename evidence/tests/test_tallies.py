"""The tallies equal the log, whatever was asked, ended, judged, interrupted and forgotten, in whatever order."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, given, settings, strategies

from collections_app.models import LanguageModel
from evidence.counting.tallies import COUNTS, Calls, counted
from evidence.models import Call, Panel, Tally, Verdict
from evidence.processes.interrupting import interrupt_running
from evidence.pruning import prune_panels
from evidence.services import record_calls, record_verdict
from evidence.tests.rows import Ended, end, make_model, make_panel

pytestmark = pytest.mark.django_db


def judge(panel: Panel, seat_name: str, useful: bool = True, **claims: list[str]) -> None:
    record_verdict(call_id=f"{panel.panel_id}.{seat_name}", given_by="local", useful=useful, **claims)


def tallied(**of: Any) -> dict[str, Any]:
    return Tally.objects.filter(**of).aggregate(**{name: Sum(name) for name in COUNTS})


def of_the_log() -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The log's tallies, as `counted` gives them."""
    key = ("day", "alias", "endpoint_name", "served_id", "shape", "collection_name", "seat")
    rows = Tally.objects.filter(in_log=True, asked__gt=0).values_list(*key, *COUNTS)
    return {(str(row[0]), *row[1:7]): row[7:] for row in rows}


def agree() -> bool:
    found, expected = of_the_log(), counted(Calls.of_the_log())
    return found.keys() == expected.keys() and all(found[key] == pytest.approx(expected[key]) for key in found)


def test_a_call_is_counted_when_it_ends_and_again_when_it_is_judged() -> None:
    panel = make_panel(("member1", "fast"), ("explorer1", "slow"), ("merger", "fast"))
    assert not Tally.objects.exists()
    end(panel, "member1", seconds=2.0)
    end(panel, "explorer1", status="error", answer="", seconds=9.0)
    end(panel, "merger", status="empty", answer="")
    fast = Tally.objects.get(seat="member")
    assert (fast.alias, fast.day, fast.in_log) == ("fast", panel.asked_at.date(), True)
    assert (fast.language_model, fast.last_asked, fast.collection_name) == (make_model("fast"), panel.asked_at, "bench/core")
    assert (fast.asked, fast.answered, fast.seconds, fast.owed) == (1, 1, 2.0, 1)
    assert (tallied(seat="explorer")["failed"], tallied(seat="explorer")["seconds"]) == (1, 0)
    assert (tallied(seat="merger")["empty"], tallied(seat="merger")["owed"]) == (1, 0)
    judge(panel, "member1", real=["a", "b"], false=["c"])
    judged = tallied(seat="member")
    assert (judged["owed"], judged["useful"], judged["claims_real"], judged["claims_false"]) == (0, 1, 2, 1)
    judge(panel, "member1", useful=False)
    judged = tallied(seat="member")
    assert (judged["useful"], judged["not_useful"], judged["claims_real"], judged["asked"]) == (0, 1, 0, 1)


def test_a_call_that_ends_twice_is_counted_once() -> None:
    panel = make_panel(("member1", "fast"))
    assert interrupt_running("stopped") == 1
    end(panel, "member1")
    record_calls([])
    assert (tallied()["asked"], tallied()["failed"]) == (1, 1)


def test_more_calls_at_once_than_one_statement_takes() -> None:
    panels = [make_panel(("member1", "fast"), ("member2", "slow")) for _ in range(300)]
    record_calls([Ended(call=f"{panel.panel_id}.{seat}") for panel in panels for seat in ("member1", "member2")])
    assert tallied()["answered"] == 600
    assert agree()


def test_a_find_is_unique_where_two_seats_were_judged_and_one_has_it() -> None:
    panel = make_panel(("member1", "fast"), ("member2", "slow"), ("explorer1", "third"), ("merger", "fast"))
    for call in panel.calls.all():
        end(panel, call.seat_name)
    judge(panel, "member1", real=["A race", "a leak", "A  LEAK"])
    assert tallied()["unique_finds"] == 0
    judge(panel, "merger", real=["a race"])
    assert tallied()["unique_finds"] == 0
    judge(panel, "member2", real=["a  RACE"])
    assert (tallied(alias="fast")["unique_finds"], tallied(alias="slow")["unique_finds"]) == (1, 0)
    judge(panel, "explorer1", real=["a leak", "a typo"])
    assert (tallied(alias="fast")["unique_finds"], tallied(alias="third")["unique_finds"]) == (0, 1)
    judge(panel, "explorer1", useful=False)
    assert (tallied(alias="fast")["unique_finds"], tallied(alias="third")["unique_finds"]) == (1, 0)
    assert agree()


def test_what_is_forgotten_moves_and_owes_nothing_any_more() -> None:
    panel = make_panel(("member1", "fast"), minutes_ago=9 * 24 * 60)
    end(panel, "member1")
    prune_panels(timezone.now() - timedelta(days=1))
    kept = Tally.objects.get()
    assert (kept.in_log, kept.asked, kept.owed, kept.seat, kept.day) == (False, 1, 0, "member", panel.asked_at.date())


DEEDS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["ask", "end", "judge", "interrupt", "forget", "delete"]),
        strategies.integers(0, 5),
        strategies.sampled_from(["ok", "empty", "error"]),
        strategies.sampled_from(["member1", "explorer1", "merger"]),
        strategies.lists(strategies.sampled_from(["a", "B", "b "]), max_size=2),
    ),
    max_size=25,
)


def do(deed: str, number: int, status: str, seat_name: str, claims: list[str]) -> None:
    panels = list(Panel.objects.order_by("pk"))
    panel = panels[number % len(panels)] if panels else None
    match deed:
        case "ask":
            seats = (("member1", "fast"), ("explorer1", "slow"), ("merger", "fast"))
            make_panel(*seats, minutes_ago=number * 24 * 60, shape="code" if number % 2 else "general")
        case "end" if panel:
            end(panel, seat_name, status=status, answer="")
        case "judge" if panel and panel.calls.get(seat_name=seat_name).status != Call.Status.RUNNING:
            judge(panel, seat_name, status == "ok", real=claims, false=claims[:1])
        case "interrupt":
            interrupt_running("stopped")
        case "forget":
            prune_panels(timezone.now() - timedelta(days=number, minutes=1))
        case "delete":
            LanguageModel.objects.filter(alias="slow").delete()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(DEEDS)
def test_they_agree_after_anything(deeds: list[tuple[str, int, str, str, list[str]]]) -> None:
    for rows in (Panel, Tally):
        rows.objects.all().delete()
    ended = 0
    for deed in deeds:
        forgotten = tallied(in_log=False)["asked"] or 0
        do(*deed)
        assert (tallied(in_log=False)["asked"] or 0) >= forgotten
        assert agree()
        now_ended = tallied()["asked"] or 0
        assert now_ended >= ended
        ended = now_ended


def test_the_command_says_whether_they_agree_and_mends_them() -> None:
    panel = make_panel(("member1", "fast"), ("member2", "slow"))
    end(panel, "member1")
    end(panel, "member2")
    said = StringIO()
    call_command("check_tallies", stdout=said)
    assert said.getvalue() == "2 tallies of 2 calls equal the log.\n"
    Tally.objects.filter(alias="fast").update(asked=7)
    Verdict.objects.all().delete()
    with pytest.raises(CommandError, match="1 of 2 tallies differ from the log: fast on general"):
        call_command("check_tallies", stdout=said)
    call_command("check_tallies", mend=True, stdout=said)
    assert agree()
