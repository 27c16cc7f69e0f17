"""A request's name belongs to one panel: its own key for a day, its question while the panel runs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evidence.again import AlreadyAsked, KnownAs, Question, forget_questions, running_panel_asked, take_first_try
from evidence.models import IdempotencyKey, Panel
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db
FIRST, RETRY = Question("d" * 64), Question("d" * 64, is_retry=True)


def taken(**panel) -> str:
    """Open a panel that is there already; returns whose its name is, and leaves no row of its own."""
    before = Panel.objects.count()
    with pytest.raises(AlreadyAsked) as already:
        make_panel(**panel)
    assert Panel.objects.count() == before
    return already.value.panel_id


def end_all(panel) -> None:
    for seat in panel.calls.values_list("seat_name", flat=True):
        end(panel, seat)


def test_a_key_is_one_panels():
    key = KnownAs("key", "a" * 64, since=timezone.now() - timedelta(hours=24))
    first = make_panel(known_as=key)
    assert taken(known_as=key) == first.panel_id
    assert make_panel(known_as=key, asked_by="another").panel_id != first.panel_id


def test_a_key_that_is_a_day_old_names_the_next_panel():
    make_panel(known_as=KnownAs("key", "a" * 64), minutes_ago=25 * 60)
    key = KnownAs("key", "b" * 64, since=timezone.now() - timedelta(hours=24))
    second = make_panel(known_as=key)
    assert taken(known_as=key) == second.panel_id
    assert IdempotencyKey.objects.get().digest == "b" * 64


def test_a_retry_finds_the_panel_of_its_first_try_while_that_runs():
    first = make_panel(known_as=FIRST)
    assert running_panel_asked("local", FIRST.digest) == first.panel_id
    assert running_panel_asked("another", FIRST.digest) is None
    assert taken(known_as=RETRY) == first.panel_id
    end_all(first)
    assert running_panel_asked("local", FIRST.digest) is None
    second = make_panel(known_as=RETRY)
    assert running_panel_asked("local", FIRST.digest) == second.panel_id


def test_a_merged_panel_runs_until_it_is_merged_or_has_a_note():
    panel = make_panel(known_as=FIRST, reply="merged")
    end_all(panel)
    assert taken(known_as=RETRY) == panel.panel_id
    Panel.objects.update(note="Nobody may merge.")
    assert running_panel_asked("local", FIRST.digest) is None


def test_a_first_try_has_a_panel_of_its_own():
    first = make_panel(known_as=FIRST)
    make_panel(known_as=FIRST)
    assert taken(known_as=RETRY) == first.panel_id


def test_a_first_try_that_comes_after_its_retry_joins_it_once():
    retried = make_panel(known_as=RETRY)
    assert taken(known_as=FIRST) == retried.panel_id
    assert take_first_try("local", FIRST.digest)
    assert not take_first_try("local", FIRST.digest)
    assert make_panel(known_as=FIRST).panel_id != retried.panel_id


@pytest.mark.django_db(transaction=True)
def test_a_question_costs_one_statement_where_nobody_asks_the_same():
    make_panel(known_as=FIRST)
    with CaptureQueriesContext(connection) as unnamed:
        make_panel()
    with CaptureQueriesContext(connection) as named:
        make_panel(known_as=Question("e" * 64))
    assert len(named) == len(unnamed) + 1


def test_questions_that_nobody_asks_any_more_are_forgotten_and_keys_are_not():
    make_panel(known_as=KnownAs("key", "a" * 64), minutes_ago=9)
    ended, running = make_panel(known_as=FIRST, minutes_ago=9), make_panel(known_as=Question("f" * 64), minutes_ago=9)
    end_all(ended)
    forget_questions(timezone.now() - timedelta(minutes=5))
    assert sorted(row.key.strip()[:3] for row in IdempotencyKey.objects.all()) == ["fff", "key"]
    assert running_panel_asked("local", "f" * 64) == running.panel_id
