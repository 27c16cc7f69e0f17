import pytest
from django.db import IntegrityError, connection

from evidence.models import Call
from evidence.processes.interrupting import interrupt_running
from evidence.services import record_call, record_calls
from evidence.tests.rows import Ended, end, make_panel

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
    # The test's own transaction makes a savepoint of the one around them: two queries more.
    with django_assert_num_queries(connection.features.has_select_for_update + len(ended) + 1 + 2):
        record_calls(ended)
    assert not Call.objects.exclude(status="ok").exists()


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
    with pytest.raises(IntegrityError):
        make_panel(panel_id=panel.panel_id)
    assert Call.objects.count() == 2
