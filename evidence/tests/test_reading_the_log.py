import pytest
from django.db import connection

from evidence.selectors import VerdictCounts, panel_with_calls, panels_listed, verdict_counts, verdicts_owed
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db


def test_a_panel_comes_with_its_calls_in_seat_order_and_their_verdicts(django_assert_num_queries):
    panel = make_panel(("member1", "b"), ("member2", "c"), ("explorer1", "a"), ("merger", "b"))
    record_verdict(call_id=end(panel, "member2"), given_by="local", useful=True, note="n")
    with django_assert_num_queries(3):
        found = panel_with_calls(panel.panel_id)
        assert [call.seat_name for call in found.calls.all()] == ["member1", "member2", "explorer1", "merger"]
        assert [call.verdict.note for call in found.calls.all() if call.verdict] == ["n"]
    with django_assert_num_queries(1):
        assert found.request == panel.request


@pytest.mark.parametrize("panel_id", ["", "nope", "a\x00", "\ud800", "p" * 5000])
def test_no_such_panel(panel_id):
    assert panel_with_calls(panel_id) is None


def test_verdicts_given_and_owed_of_a_list_cost_no_query_a_row(django_assert_num_queries):
    panels = [make_panel(("member1", "a"), ("member2", "b"), ("explorer1", "c")) for _ in range(5)]
    for panel in panels:
        record_verdict(call_id=end(panel, "member1"), given_by="local", useful=True)
        record_verdict(call_id=end(panel, "member1"), given_by="local", useful=False)
        record_verdict(call_id=end(panel, "member2", status="error", answer=""), given_by="local", useful=False)
        end(panel, "explorer1")
    with django_assert_num_queries(3):
        listed = list(panels_listed())
        assert [verdict_counts(panel) for panel in listed] == [VerdictCounts(given=2, owed=1)] * 5
        assert {panel.seconds for panel in listed} == {1.5}


def test_verdicts_are_owed_for_answers_that_nobody_judged_newest_first():
    older, newer = make_panel(minutes_ago=5, asked_by="app"), make_panel()
    first, failed = end(older, "member1"), end(older, "explorer1", status="error")
    judged, last = end(newer, "member1"), end(newer, "explorer1")
    record_verdict(call_id=judged, given_by="local", useful=True)
    assert failed not in [call.call_id for call in verdicts_owed()]
    assert [call.call_id for call in verdicts_owed()] == [last, first]
    assert [call.call_id for call in verdicts_owed("app")] == [first]


def test_a_panel_took_as_long_as_its_slowest_seat_and_then_the_merger():
    panel = make_panel(("member1", "a"), ("member2", "b"), ("merger", "a"))
    assert panel.seconds is None
    for seat_name, seconds in [("member1", 2.0), ("member2", 3.0), ("merger", 1.5)]:
        end(panel, seat_name, seconds=seconds)
    assert panel.seconds == 4.5


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plan")
@pytest.mark.parametrize("asked_by", [None, "app"])
def test_a_page_of_verdicts_owed_sorts_no_whole_log(asked_by):
    plan = verdicts_owed(asked_by)[:50].explain()
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan
    assert ("panels_of_a_caller (asked_by=?)" in plan) == (asked_by is not None)
