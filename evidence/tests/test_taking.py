"""Who takes a seat asks it, and nobody else does."""

from datetime import UTC, datetime

import pytest

from evidence.models import Call, Panel, Process
from evidence.processes.taking import has_workers, is_left_behind, stand_of, take_call, take_calls

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def calls() -> dict[str, Call]:
    panel = Panel.objects.create(panel_id="p1", asked_at=NOW, prompt_tokens=1)
    names = ("member1", "member2", "merger")
    return {name: Call.objects.create(panel=panel, seat_name=name, asked_at=NOW) for name in names}


def test_a_seat_is_taken_once(calls):
    assert take_call("p1.member1", by="first", at=NOW)
    assert not take_call("p1.member1", by="second", at=NOW)
    call = Call.objects.get(pk=calls["member1"].pk)
    assert (call.held_by, call.sent_at) == ("first", NOW)
    assert Call.objects.exclude(held_by="").count() == 1


def test_of_a_seat_that_is_asked_for_twice_at_once_one_is_told_yes(calls):
    assert take_calls(["p1.member2", "p1.member1", "p1.member2"], by="first", at=NOW) == [True, True, False]
    assert take_calls(["p1.member2", "p1.merger"], by="second", at=NOW) == [False, True]
    assert dict(Call.objects.values_list("seat_name", "held_by")) == {
        "member1": "first",
        "member2": "first",
        "merger": "second",
    }


@pytest.mark.parametrize("call_id", ["p1.member3", "p2.member1", "p1", "", "p1.member1.member1"])
def test_a_seat_that_there_is_not_is_not_taken(calls, call_id):
    assert not take_call(call_id, by="first", at=NOW)


def test_a_seat_that_has_ended_is_not_taken(calls):
    Call.objects.filter(seat_name="member1").update(status="error")
    assert not take_call("p1.member1", by="first", at=NOW)


def test_how_seats_stand(calls):
    take_call("p1.member1", by="first", at=NOW)
    Call.objects.filter(seat_name="merger").update(status="ok", answer="both")
    stand = stand_of({"p1.member1", "p1.member2", "p1.merger", "p2.member1"})
    assert ([call.answer for call in stand.ended], stand.untaken) == (["both"], {"p1.member2"})
    assert stand_of({"p1.member1"}).ended == ()


def test_a_seat_is_left_behind_when_its_worker_is_not_there(calls):
    Process.objects.create(name="first", kind=Process.Kind.WORKER, seen_at=NOW)
    assert not is_left_behind("p1.member1")
    take_call("p1.member1", by="first", at=NOW)
    assert not is_left_behind("p1.member1")
    Process.objects.all().delete()
    assert is_left_behind("p1.member1")
    Call.objects.update(status="ok")
    assert not is_left_behind("p1.member1")


def test_whether_there_are_workers():
    Process.objects.create(name="web", kind=Process.Kind.WEB, seen_at=NOW)
    assert not has_workers()
    Process.objects.create(name="worker", kind=Process.Kind.WORKER, seen_at=NOW)
    assert has_workers()
