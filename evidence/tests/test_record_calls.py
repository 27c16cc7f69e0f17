import pytest
from django.db import connection

from evidence.errors import PanelIdTaken
from evidence.models import Call
from evidence.processes.interrupting import interrupt_running
from evidence.services import record_call, record_calls
from evidence.tests.rows import Ended, end, make_panel

# As the gateway's ledger gives them to it.
AT_ONCE = 250

pytestmark = pytest.mark.django_db


def call_of(call_id: str) -> Call:
    panel_id, _, seat_name = call_id.rpartition(".")
    return Call.objects.get(panel__panel_id=panel_id, seat_name=seat_name)


def test_a_seat_is_written_down_when_asked_and_when_it_ends():
    panel = make_panel(("member1", "fast"), ("explorer1", "slow"))
    assert [(call.call_id, call.status) for call in panel.calls.all()] == [
        (f"{panel.panel_id}.member1", "running"),
        (f"{panel.panel_id}.explorer1", "running"),
    ]
    call = call_of(end(panel, answer="Yes.", reasoning="Hm.", output_tokens=7))
    assert (call.status, call.answer, call.reasoning, call.output_tokens) == ("ok", "Yes.", "Hm.", 7)
    assert call_of(f"{panel.panel_id}.explorer1").status == "running"


def test_a_late_answer_does_not_undo_an_interruption():
    panel = make_panel()
    end(panel, "explorer1", answer="In time.")
    assert interrupt_running("the server was stopped") == 1
    call = call_of(end(panel, "member1", answer="Too late."))
    assert (call.status, call.error_kind, call.error, call.answer) == ("error", "interrupted", "the server was stopped", "")
    assert call_of(f"{panel.panel_id}.explorer1").answer == "In time."


def test_many_calls_end_in_one_transaction_and_are_counted_by_one_statement(django_assert_num_queries):
    panels = [make_panel() for _ in range(4)]
    ended = [Ended(call=f"{panel.panel_id}.{seat}") for panel in panels for seat in ("member1", "explorer1")]
    # Panels held, where a database holds rows; how the calls ended; the tallies. The test's own transaction makes a savepoint
    # of the one around them: two queries more.
    with django_assert_num_queries(connection.features.has_select_for_update + 1 + 1 + 2):
        record_calls(ended)
    assert not Call.objects.exclude(status="ok").exists()


def test_calls_that_end_in_one_statement_are_numbered_in_their_order():
    panel = make_panel(*[(f"member{number}", "fast") for number in range(1, 6)])
    end(panel, "member3", answer="Yes.")
    ended = [Ended(call=f"{panel.panel_id}.member{number}", answer=f"Answer {number}.") for number in (5, 1, 4)]
    record_calls(ended)
    end(panel, "member2", answer="Yes.")
    in_order = panel.calls.order_by("ended_as").values_list("ended_as", "seat_name", "answer")
    assert list(in_order) == [
        (1, "member3", "Yes."),
        (2, "member5", "Answer 5."),
        (3, "member1", "Answer 1."),
        (4, "member4", "Answer 4."),
        (5, "member2", "Yes."),
    ]


def test_one_that_is_late_takes_nothing_from_those_that_end_with_it():
    panels = [make_panel(("member1", "fast"), ("member2", "slow")) for _ in range(3)]
    end(panels[1], "member1", answer="In time.")
    ended = [
        Ended(call=f"{panel.panel_id}.{seat}", answer=f"Of {panel.panel_id}.")
        for panel in panels
        for seat in ("member1", "member2")
    ]
    late = record_calls([*ended, ended[0]])
    assert {call_id: call.answer for call_id, call in late.items()} == {
        ended[2].call: "In time.",
        ended[0].call: f"Of {panels[0].panel_id}.",
    }
    assert [call_of(one.call).answer for one in ended] == ["In time." if one is ended[2] else one.answer for one in ended]
    assert not Call.objects.filter(status="running").exists()


def test_as_many_calls_as_one_transaction_takes_end_in_one_statement():
    panels = [make_panel(*[(f"member{number}", "fast") for number in range(1, 6)]) for _ in range(50)]
    ended = [Ended(call=f"{panel.panel_id}.member{number}", seconds=None) for panel in panels for number in range(1, 6)]
    assert len(ended) == AT_ONCE
    assert not record_calls(ended)
    assert Call.objects.filter(status="ok", seconds=None).count() == AT_ONCE


def test_nothing_that_a_provider_sends_can_lose_a_row():
    panel = make_panel()
    record_call(
        Ended(
            call=f"{panel.panel_id}.member1",
            answer="a\x00b",
            reasoning="split \ud83d\ude00, alone \ud83d.",
            finish_reason="f" * 1000,
            served_model="m" * 1000,
            input_tokens=-1,
            output_tokens=2**70,
            upstream_status=10**6,
        )
    )
    call = call_of(f"{panel.panel_id}.member1")
    assert (call.answer, call.reasoning) == ("a\ufffdb", "split \U0001f600, alone \ufffd.")
    assert (len(call.finish_reason), len(call.served_model)) == (40, 200)
    assert (call.input_tokens, call.output_tokens, call.upstream_status) == (None, None, None)


def test_nothing_that_a_caller_sends_can_lose_a_panel():
    panel = make_panel(
        request="user: \x00\ud800",
        shape_by="because " * 100,
        skipped=[{"seat": "member", "alias": "\ud800", "why": "\x00"}],
        ignored=["a\x00"],
    )
    panel.refresh_from_db()
    assert panel.request == "user: \ufffd\ufffd"
    assert panel.skipped == [{"seat": "member", "alias": "\ufffd", "why": "\ufffd"}]
    assert panel.ignored == ["a\ufffd"]
    assert len(panel.shape_by) == 200


def test_a_panel_id_is_taken_once_and_the_second_leaves_nothing():
    panel = make_panel()
    with pytest.raises(PanelIdTaken):
        make_panel(panel_id=panel.panel_id)
    assert Call.objects.count() == 2
