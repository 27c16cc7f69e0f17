import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evidence.models import Call, Panel, Verdict
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db
LIST = "/admin/evidence/panel/"
HOSTILE = "\"><script>alert('owned')</script><img src=x onerror=alert(1)>\u202egnp.exe\x00</pre>{{ 7 }}\ud800"


class Tags(HTMLParser):
    """The tags of a page that an answer could have made."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if dict(attributes).get("onerror"):
            self.bad.append(tag)

    def handle_data(self, data):
        if self.lasttag == "script" and "owned" in data:
            self.bad.append("script")


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


@pytest.fixture
def reader(client):
    """A browser of somebody who may look at panels and nothing else."""
    user = get_user_model().objects.create_user("reader", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_panel"))
    client.force_login(user)
    return client


def page_of(reader, panel: Panel) -> str:
    response = reader.get(f"{LIST}{panel.pk}/change/")
    assert response.status_code == 200
    return response.content.decode()


def list_of(reader, **query) -> str:
    response = reader.get(LIST, query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_has_a_chip_a_seat_in_words(reader):
    skipped = [{"seat": "member", "alias": "opus", "why": "cooling down until 21:30"}]
    panel = make_panel(("member1", "a"), ("member2", "b"), ("member3", "c"), ("explorer1", "d"), skipped=skipped)
    record_verdict(call_id=end(panel, "member1", seconds=12.34), given_by="local", useful=True)
    end(panel, "member2", status="empty", answer="", seconds=1.0)
    end(panel, "member3", status="error", error_kind="timeout", answer="", seconds=420.0)
    page = text_of(list_of(reader))
    for words in (
        panel.panel_id,
        "bench/core general",
        "user: Is there a race here?",
        "a ok 12.3 s useful",
        "b empty 1.0 s",
        "c error timeout 420.0 s",
        "d running",
        "opus skipped",
        "1 given 0 owed",
        "420.0",
    ):
        assert words in page


def test_the_newest_panel_comes_first(reader):
    older, newer = make_panel(minutes_ago=5), make_panel()
    page = list_of(reader)
    assert page.index(newer.panel_id) < page.index(older.panel_id)


def test_a_list_of_fifty_costs_as_many_queries_as_a_list_of_two(reader):
    for _ in range(2):
        record_verdict(call_id=end(make_panel()), given_by="local", useful=True)
    list_of(reader)
    with CaptureQueriesContext(connection) as two:
        list_of(reader)
    for _ in range(48):
        record_verdict(call_id=end(make_panel()), given_by="local", useful=False)
    with CaptureQueriesContext(connection) as fifty:
        page = list_of(reader)
    assert page.count('class="panel-link"') == 50
    assert len(fifty) == len(two)


def test_a_list_reads_no_answer(reader):
    panel = make_panel(request="user: " + "long " * 200_000)
    end(panel, answer="answer " * 150_000, reasoning="reasoning " * 100_000)
    with CaptureQueriesContext(connection) as queries:
        page = list_of(reader)
    selected = " ".join(query["sql"].partition(" FROM ")[0] for query in queries)
    for column in ("answer", "reasoning", "partial"):
        assert f'"{column}"' not in selected
    assert len(page) < 200_000


@pytest.mark.parametrize(
    "words",
    ["{panel_id}", "{panel_id}.member1", " {panel_id} ", "{suffix}", "deadlock", "RACE here", "opus-7", "too many requests"],
)
def test_a_panel_is_found_by_ids_and_words(reader, words):
    wanted = make_panel(("member1", "opus-7"), ("explorer1", "slow"), request="user: a race here")
    end(wanted, "member1", answer="A deadlock.")
    end(wanted, "explorer1", status="error", answer="", error="too many requests")
    other = make_panel(request="user: hello")
    page = list_of(reader, q=words.format(panel_id=wanted.panel_id, suffix=wanted.panel_id[-6:]))
    assert wanted.panel_id in page
    assert other.panel_id not in page


@pytest.mark.parametrize("words", ["nothing like it", "%", "'; --", "a\x00", "x" * 100_000, "\\"])
def test_a_search_for_anything_finds_nothing_in_peace(reader, words):
    make_panel()
    list_of(reader, q=words)


@pytest.mark.parametrize(
    "query,found",
    [
        ({"status": "running"}, ["running"]),
        ({"status": "all"}, ["all"]),
        ({"status": "some"}, ["some"]),
        ({"status": "none"}, ["none"]),
        ({"shape": "code"}, ["all"]),
        ({"format": "gemini"}, ["none"]),
        ({"status": "all", "shape": "general"}, []),
        ({"_facets": "True"}, ["running", "all", "some", "none"]),
        ({}, ["running", "all", "some", "none"]),
    ],
)
def test_the_list_is_narrowed(reader, query, found):
    panels = {
        "running": make_panel(),
        "all": make_panel(shape="code"),
        "some": make_panel(),
        "none": make_panel(format="gemini"),
    }
    end(panels["running"], "member1")
    for name, seats in {"all": ("ok", "ok"), "some": ("ok", "error"), "none": ("empty", "error")}.items():
        for seat_name, status in zip(("member1", "explorer1"), seats, strict=True):
            end(panels[name], seat_name, status=status)
    page = list_of(reader, **query)
    assert [name for name, panel in panels.items() if panel.panel_id in page] == found


def test_a_panels_page_has_everything(reader):
    skipped = [{"seat": "member", "alias": "opus", "why": "cooling down until 21:30"}]
    panel = make_panel(
        asked_by="editor-plugin",
        skipped=skipped,
        ignored=["temperature", "top_p"],
        request="user: line one\nline two",
        notice="For trying the bench.",
    )
    answered = end(panel, "member1", answer="first\n  second", reasoning="thinking", served_model="another-model", seconds=3.21)
    end(panel, "explorer1", status="error", error_kind="timeout", error="no answer in 420 s", answer="", partial="It beg")
    record_verdict(call_id=answered, given_by="local", useful=True, note="first thought")
    record_verdict(
        call_id=answered, given_by="local", useful=False, note="n", real=["r1"], false=["f1"], score=0.25, correction="Lock."
    )
    page = page_of(reader, panel)
    words = text_of(page)
    for expected in (
        panel.panel_id,
        "editor-plugin",
        "For trying the bench.",
        "temperature, top_p",
        "opus skipped member: cooling down until 21:30",
        f"{answered} · mock: fast",
        "served by another-model",
        "first token 0.25 s · 10 tokens in · 200 tokens out · finish: stop · HTTP 200",
        "Reasoning thinking",
        "timeout : no answer in 420 s",
        "What had come when it failed It beg",
        "Not useful , score 0.25 by local",
        "Held: r1 Did not hold: f1 Correction: Lock.",
        "first thought",
        "1 given, 0 owed",
    ):
        assert expected in words
    assert "first\n  second</pre>" in page
    assert "user: line one\nline two</pre>" in page


def test_an_answer_without_a_verdict_says_how_to_give_one(reader):
    panel = make_panel()
    call_id = end(panel)
    assert f"python manage.py verdict {call_id} --useful" in page_of(reader, panel)


@pytest.mark.parametrize("seen", [list_of, page_of])
def test_hostile_text_is_shown_and_does_nothing(reader, seen):
    panel = make_panel(request=HOSTILE, asked_by=HOSTILE[:64], skipped=[{"seat": HOSTILE, "alias": HOSTILE, "why": HOSTILE}])
    call_id = end(panel, answer=HOSTILE, reasoning=HOSTILE, served_model=HOSTILE, finish_reason=HOSTILE)
    end(panel, "explorer1", status="error", error=HOSTILE, partial=HOSTILE, answer="")
    record_verdict(call_id=call_id, given_by="local", useful=True, note=HOSTILE, real=[HOSTILE], false=[HOSTILE])
    record_verdict(call_id=call_id, given_by="local", useful=True, correction=HOSTILE)
    page = list_of(reader) if seen is list_of else page_of(reader, panel)
    assert "&lt;script&gt;alert(&#x27;owned&#x27;)&lt;/script&gt;" in page
    assert not Tags(page).bad
    assert "\u202e" not in page
    assert "[U+202E]gnp.exe" in page
    assert "{{ 7 }}" in page


def test_the_check_for_hostile_tags_would_see_them():
    assert Tags(f"<p>{HOSTILE}</p>").bad == ["script", "img"]


def test_a_megabyte_is_shown_in_full(reader):
    panel = make_panel()
    end(panel, answer="0123456789" * 100_000)
    assert "0123456789" * 100_000 in page_of(reader, panel)


def test_a_panels_page_costs_the_same_with_one_seat_or_nine(reader):
    one = make_panel(("member1", "a"))
    nine = make_panel(*[(f"member{number}", f"m{number}") for number in range(1, 10)])
    for panel in (one, nine):
        for call in panel.calls.all():
            record_verdict(call_id=end(panel, call.seat_name), given_by="local", useful=True)
    with CaptureQueriesContext(connection) as few:
        page_of(reader, one)
    with CaptureQueriesContext(connection) as many:
        page_of(reader, nine)
    assert len(few) == len(many)


def test_a_panel_that_is_not_there(reader):
    for key in ("999999", "nope"):
        assert reader.get(f"{LIST}{key}/change/").status_code == 302


def test_nobody_writes_the_call_log_by_hand(client):
    client.force_login(get_user_model().objects.create_superuser("root"))
    panel = make_panel()
    record_verdict(call_id=end(panel), given_by="local", useful=True)
    assert client.get(f"{LIST}add/").status_code == 403
    assert client.get(f"{LIST}{panel.pk}/delete/").status_code == 403
    assert client.post(f"{LIST}{panel.pk}/delete/", {"post": "yes"}).status_code == 403
    client.post(f"{LIST}{panel.pk}/change/", {"request": "changed"})
    client.post(LIST, {"action": "delete_selected", "_selected_action": [panel.pk], "post": "yes"})
    panel.refresh_from_db()
    assert panel.request == "user: Is there a race here?"
    assert (Call.objects.count(), Verdict.objects.count()) == (2, 1)


def test_who_may_not_view_panels_sees_none(client):
    client.force_login(get_user_model().objects.create_user("clerk", is_staff=True))
    panel = make_panel()
    assert client.get(LIST).status_code == 403
    assert client.get(f"{LIST}{panel.pk}/change/").status_code == 403
