"""Answers that wait for their caller's verdict: whose they are, what each was asked, and no more than was wanted."""

import pytest

from evidence.errors import MalformedQuery, NotYours, UnknownPanel
from evidence.selectors import waiting
from evidence.selectors.waiting import owed_page
from evidence.serializers import read_owed_query
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db


def calls(who: str = "local", *, limit: int = 20, panel_id: str = "") -> list[str]:
    return [call.call for call in owed_page(who, limit=limit, panel_id=panel_id).calls]


def test_an_answer_without_a_verdict_is_told_with_what_it_was_asked() -> None:
    panel = make_panel(("member1", "fast"), ("explorer1", "slow"), shape="review", asked_by="app")
    call_id = end(panel, "explorer1")
    page = owed_page("app", limit=20)
    assert not page.more
    assert page.calls[0].as_json() == {
        "call": call_id,
        "panel": panel.panel_id,
        "collection": "bench/core",
        "alias": "slow",
        "seat": "explorer",
        "shape": "review",
        "asked_at": f"{panel.asked_at:%Y-%m-%dT%H:%M:%SZ}",
        "question": "Is there a race here?",
    }


def test_what_is_judged_or_has_no_answer_owes_nothing() -> None:
    panel = make_panel(("member1", "a"), ("member2", "b"), ("member3", "c"), ("member4", "d"))
    judged = end(panel, "member1")
    end(panel, "member2", status="error", error="HTTP 500")
    end(panel, "member3", status="empty")
    record_verdict(call_id=judged, given_by="local", useful=False)
    assert calls() == []


def test_a_caller_owes_for_its_own_panels_and_this_machine_for_all() -> None:
    mine, theirs = end(make_panel(asked_by="app")), end(make_panel(asked_by="other"))
    assert calls("app") == [mine]
    assert calls("other") == [theirs]
    assert calls("stranger") == []
    assert calls() == [theirs, mine]


def test_one_panel_can_be_asked_for_by_whoever_may_judge_it() -> None:
    end(make_panel(asked_by="app"))
    panel = make_panel(asked_by="app")
    wanted = end(panel)
    assert calls("app", panel_id=panel.panel_id) == calls("local", panel_id=panel.panel_id) == [wanted]
    with pytest.raises(NotYours, match="another caller"):
        calls("other", panel_id=panel.panel_id)
    for unknown in ("p20260101-000000-0000", "\x00", "x" * 5000):
        with pytest.raises(UnknownPanel):
            calls("app", panel_id=unknown)


def test_no_more_come_than_were_wanted_and_it_is_said_that_there_are_more() -> None:
    ended = [end(make_panel(minutes_ago=-number)) for number in range(4)]
    page = owed_page("local", limit=3)
    assert ([call.call for call in page.calls], page.more) == (ended[:0:-1], True)
    assert owed_page("local", limit=4).more is False


@pytest.mark.parametrize("who", ["local", "app"])
def test_however_long_the_log_is_only_its_newest_part_is_looked_at(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    monkeypatch.setattr(waiting, "LOOKED_AT", 4)
    # A panel has two calls, of which both count as rows of the one order.
    ended = [end(make_panel(asked_by="app", minutes_ago=-number)) for number in range(8)]
    found = calls(who)
    assert found == ended[::-1][: len(found)]
    assert 0 < len(found) < 6


def test_a_page_costs_three_queries_and_reads_no_answer(django_assert_max_num_queries, django_assert_num_queries) -> None:
    for _ in range(5):
        end(make_panel(asked_by="app"), answer="x" * 100_000)
    with django_assert_num_queries(3) as asked:
        assert len(calls("app")) == 5
    assert "answer" not in asked[-1]["sql"].lower()
    with django_assert_max_num_queries(2):
        calls()


@pytest.mark.parametrize(
    ("request_text", "question"),
    [
        ("user: Why?\nMore of it.", "Why?"),
        ("system: You review.\n\nuser: \n\n  Review this:  \ncode", "Review this:"),
        ("system: " + "x" * 5_000 + "\n\nuser: Why?", ("system: " + "x" * 192)),
        ("user: " + "y" * 500, "y" * 200),
        ("user: a\n\nassistant: b\n\nuser: c", "a"),
        ("", ""),
    ],
)
def test_the_question_is_the_first_line_of_what_was_asked(request_text: str, question: str) -> None:
    end(make_panel(request=request_text))
    assert owed_page("local", limit=1).calls[0].question == question


def test_a_limit_is_a_small_number() -> None:
    assert read_owed_query({}) == (20, "")
    assert read_owed_query({"limit": "100", "panel": "p"}) == (100, "p")
    for wrong in ("0", "101", "-1", "x", "1.5", "²", "9" * 5000):
        with pytest.raises(MalformedQuery, match="from 1 to 100"):
            read_owed_query({"limit": wrong})
