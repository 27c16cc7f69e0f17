"""Processes of one bench: who has gone silent is found out by looking, and what they held is ended, once and for all."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from evidence.models import Call, Panel, Process
from evidence.processes import interrupting
from evidence.processes.here import ThisProcess
from evidence.processes.interrupting import interrupt_held
from evidence.processes.sweep import GONE, NOT_TAKEN, Swept, sweep
from evidence.processes.taking import take_call
from evidence.processes.watch import GONE_AFTER_SECONDS, Watch
from evidence.services import PlannedSeat, record_call, record_note, record_seat
from evidence.tests.rows import Ended, end, make_model, make_panel

ANY = datetime(2026, 1, 2, 15, 4, 5)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def held_panel(holder: str, **panel) -> Panel:
    made = make_panel(held_by=holder, **panel)
    made.calls.update(held_by=holder)
    return made


def merger_seat() -> PlannedSeat:
    model = make_model("scribe")
    return PlannedSeat(
        seat_name="merger", language_model_id=model.pk, alias=model.alias, endpoint_name="mock", served_id=model.served_id
    )


def looks(watch: Watch, clock: Clock, beats, times: int, apart: float = 5.0) -> list[str]:
    for _ in range(times):
        clock.now += apart
        silent = watch.silent(beats)
    return silent


def test_who_beats_no_more_is_silent_after_its_time():
    clock = Clock()
    watch = Watch(clock)
    assert looks(watch, clock, {"a": ANY}, 4) == []
    assert looks(watch, clock, {"a": ANY}, 1) == ["a"]
    assert watch.silent({"a": ANY + timedelta(seconds=1)}) == []


def test_a_beat_of_any_time_counts_however_wrong_its_clock():
    clock = Clock()
    watch = Watch(clock)
    for hours in (5, -7, 0, 3, -1, 2, -4):
        clock.now += 5
        assert watch.silent({"a": ANY + timedelta(hours=hours)}) == []


def test_what_was_not_looked_at_is_no_silence():
    """A process that was stopped, or whose database was away, for an hour finds nobody gone at its first looks."""
    clock = Clock()
    watch = Watch(clock)
    watch.silent({"a": ANY})
    assert looks(watch, clock, {"a": ANY}, 3, apart=3600) == []
    assert looks(watch, clock, {"a": ANY}, 1, apart=3600) == ["a"]


@pytest.mark.django_db
def test_a_process_that_is_there_says_so_and_is_gone_once_it_has_left():
    here = ThisProcess()
    here.join(Process.Kind.WEB)
    here.beat()
    first = Process.objects.get(name=here.name)
    here.beat()
    assert Process.objects.get(name=here.name).seen_at > first.seen_at
    here.leave()
    assert not Process.objects.exists()


@pytest.mark.django_db
def test_what_a_gone_process_held_is_ended_and_nothing_else():
    clock = Clock()
    watch = Watch(clock)
    gone, alive, queued, merged = (held_panel("gone"), held_panel("alive"), held_panel(""), held_panel("gone", reply="merged"))
    end(gone, "member1")
    for seat in ("member1", "explorer1"):
        end(merged, seat)
    for name in ("gone", "alive"):
        Process.objects.create(name=name, kind="web", seen_at=timezone.now())
    for _ in range(6):
        clock.now += 5
        Process.objects.filter(name="alive").update(seen_at=timezone.now())
        swept = sweep(watch, own_name="me", queued_seconds=60)
        if swept.gone:
            break
    assert swept.gone == ("gone",)
    assert (swept.calls, swept.panels) == (1, {gone.panel_id, merged.panel_id})
    assert clock.now <= GONE_AFTER_SECONDS + 5
    interrupted = Call.objects.get(error_kind="interrupted")
    assert (interrupted.panel, interrupted.seat_name, interrupted.error, interrupted.ended_as) == (gone, "explorer1", GONE, 2)
    assert Call.objects.filter(status="running", panel__in=(alive, queued)).count() == 4
    assert Panel.objects.get(pk=merged.pk).note == f"Not merged: {GONE}."
    assert list(Process.objects.values_list("name", flat=True)) == ["alive"]


@pytest.mark.django_db
def test_what_a_gone_process_had_not_queued_is_ended_and_what_a_worker_asks_is_not():
    panel, others = make_panel(held_by="gone"), make_panel(held_by="alive")
    panel.calls.filter(seat_name="explorer1").update(held_by="worker")
    assert interrupt_held(GONE, "gone").calls == 1
    assert dict(panel.calls.values_list("seat_name", "status")) == {"member1": "error", "explorer1": "running"}
    assert others.calls.filter(status="running").count() == 2


@pytest.mark.django_db
def test_a_seat_that_is_taken_just_as_its_process_is_found_gone_is_left_to_its_worker(monkeypatch):
    panel = make_panel(held_by="gone")
    taken = f"{panel.panel_id}.member1"
    # Between the look at what runs and the word that ends it.
    monkeypatch.setattr(interrupting, "hold_panels", lambda _: take_call(taken, by="worker", at=timezone.now()))
    assert interrupt_held(GONE, "gone").calls == 1
    assert panel.calls.get(seat_name="member1").status == "running"


@pytest.mark.django_db
def test_a_holder_that_never_said_it_was_there_is_given_the_same_time():
    clock = Clock()
    watch = Watch(clock)
    panel = held_panel("unknown")
    for _ in range(4):
        assert not sweep(watch, own_name="me", queued_seconds=60).gone
        clock.now += 5
    assert sweep(watch, own_name="me", queued_seconds=60).panels == {panel.panel_id}


@pytest.mark.django_db
def test_no_process_finds_itself_gone():
    clock = Clock()
    watch = Watch(clock)
    held_panel("me")
    for _ in range(9):
        clock.now += 5
        assert not sweep(watch, own_name="me", queued_seconds=60).gone


@pytest.mark.django_db
def test_a_seat_that_no_worker_takes_in_time_is_ended():
    clock = Clock()
    watch = Watch(clock)
    old, new = make_panel(minutes_ago=10), make_panel(minutes_ago=1)
    for _ in range(12):
        # By its own looks: when another machine's clock says that it was asked tells nothing.
        assert sweep(watch, own_name="me", queued_seconds=57) == Swept()
        clock.now += 5
    swept = sweep(watch, own_name="me", queued_seconds=57)
    assert (swept.gone, swept.calls, swept.panels) == ((), 2, {old.panel_id})
    assert set(old.calls.values_list("error", flat=True)) == {NOT_TAKEN}
    assert new.calls.filter(status="running").count() == 2


@pytest.mark.django_db
def test_a_queue_that_moves_on_is_left_alone():
    clock = Clock()
    watch = Watch(clock)
    for minutes in range(20, 0, -1):
        panel = make_panel(minutes_ago=minutes)
        assert sweep(watch, own_name="me", queued_seconds=57) == Swept()
        clock.now += 5
        take_call(f"{panel.panel_id}.member1", by="me", at=timezone.now())
        take_call(f"{panel.panel_id}.explorer1", by="me", at=timezone.now())


@pytest.mark.django_db
def test_looking_costs_two_queries_while_nobody_is_gone(django_assert_num_queries):
    held_panel("alive")
    Process.objects.create(name="alive", kind="web", seen_at=timezone.now())
    with django_assert_num_queries(2):
        sweep(Watch(), own_name="me", queued_seconds=300)


@pytest.mark.django_db
def test_an_answer_that_comes_after_all_is_kept_beside_the_ending_that_was_told():
    panel = held_panel("gone")
    interrupt_held(GONE, "gone")
    late = Ended(call=f"{panel.panel_id}.member1", answer="Too late.", reasoning="Hm.", output_tokens=7)
    told = record_call(late)
    assert (told.status, told.error_kind, told.error, told.answer) == ("error", "interrupted", GONE, "")
    row = panel.calls.get(seat_name="member1")
    assert (row.status, row.error, row.answer, row.ended_as) == ("error", GONE, "", told.ended_as)
    assert (row.partial, row.reasoning, row.output_tokens) == ("Too late.", "Hm.", 7)


@pytest.mark.django_db
def test_what_was_recorded_in_time_is_not_touched_by_what_comes_second():
    panel = make_panel()
    assert record_call(Ended(call=f"{panel.panel_id}.member1", answer="First.")) is None
    told = record_call(Ended(call=f"{panel.panel_id}.member1", answer="Second."))
    assert (told.status, told.answer) == ("ok", "First.")
    assert panel.calls.get(seat_name="member1").partial == ""


@pytest.mark.django_db
def test_a_panel_that_was_ended_without_a_merger_gets_none_later():
    panel = held_panel("gone", reply="merged")
    interrupt_held(GONE, "gone")
    merger = merger_seat()
    note = f"Not merged: {GONE}."
    assert record_seat(merger, panel_id=panel.panel_id, asked_at=timezone.now()) == note
    assert not panel.calls.filter(seat_name="merger").exists()
    assert record_note(panel.panel_id, "Another note.") == note


@pytest.mark.django_db
def test_a_panel_whose_merger_writes_gets_no_note():
    panel = held_panel("gone", reply="merged")
    merger = merger_seat()
    assert record_seat(merger, panel_id=panel.panel_id, asked_at=timezone.now()) == ""
    panel.calls.filter(seat_name="merger").update(held_by="worker")
    assert interrupt_held(GONE, "gone").calls == 2
    assert Panel.objects.get(pk=panel.pk).note == ""
    assert panel.calls.get(seat_name="merger").status == "running"
