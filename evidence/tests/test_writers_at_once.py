"""Twenty writers at once on the database as it is configured: nobody is told that it is locked, and nothing is lost."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from evidence.counting.tallies import differing
from evidence.models import Call, Verdict
from evidence.services import record_calls, record_verdict
from evidence.tests.rows import Ended, end, make_model, make_panel

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS = 20


def all_at_once(work):
    """Run work(0) to work(19), started together; returns what they return."""
    start = Barrier(WRITERS)

    def one(number):
        start.wait(10)
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(one, range(WRITERS)))


def test_twenty_panels_are_recorded_answered_and_judged():
    make_model("fast"), make_model("slow")

    def ask_and_judge(number):
        call_id = end(make_panel(request=f"user: {number}"))
        return record_verdict(call_id=call_id, given_by="local", useful=True, note=str(number))[1]

    assert all(all_at_once(ask_and_judge))
    assert Call.objects.filter(status="ok").count() == WRITERS
    assert {verdict.note for verdict in Verdict.objects.all()} == {str(number) for number in range(WRITERS)}


def test_twenty_seats_of_one_panel_end_one_after_the_other():
    panel = make_panel(*((f"member{number}", "fast") for number in range(WRITERS)))
    all_at_once(lambda number: end(panel, f"member{number}"))
    assert sorted(panel.calls.values_list("ended_as", flat=True)) == list(range(1, WRITERS + 1))


def test_batches_that_share_panels_in_any_order_are_all_written_and_counted():
    panels = [make_panel(*((f"member{number}", f"model{number % 7}") for number in range(WRITERS))) for _ in range(8)]

    def end_and_judge(number):
        mine = random.Random(number).sample(panels, len(panels))
        record_calls([Ended(call=f"{panel.panel_id}.member{number}") for panel in mine])
        return [
            record_verdict(call_id=f"{panel.panel_id}.member{number}", given_by="local", useful=True, real=["a", str(number)])
            for panel in mine
        ]

    all_at_once(end_and_judge)
    for panel in panels:
        assert sorted(panel.calls.values_list("ended_as", flat=True)) == list(range(1, WRITERS + 1))
    assert not Call.objects.exclude(status="ok").exists()
    assert differing() == []
    assert set(Verdict.objects.values_list("unique_finds", flat=True)) == {1}


def test_twenty_minds_about_one_call():
    call_id = end(make_panel())
    written = all_at_once(lambda number: record_verdict(call_id=call_id, given_by="local", useful=True, note=str(number))[1])
    assert all(written)
    assert Verdict.objects.count() == WRITERS
    assert Verdict.objects.filter(replaced_at=None).count() == 1


def test_the_same_verdict_from_twenty_is_one():
    call_id = end(make_panel())
    written = all_at_once(lambda _: record_verdict(call_id=call_id, given_by="local", useful=True)[1])
    assert written.count(True) == 1
    assert Verdict.objects.count() == 1


def test_twenty_answers_for_one_seat_end_it_once():
    panel = make_panel()
    all_at_once(lambda number: end(panel, answer=str(number)))
    call = Call.objects.get(panel=panel, seat_name="member1")
    assert call.status == "ok"
    assert call.answer in {str(number) for number in range(WRITERS)}
