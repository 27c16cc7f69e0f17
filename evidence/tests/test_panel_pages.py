import html
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evidence.models import Call, Panel, Verdict
from evidence.selectors import listing
from evidence.services import PlannedSeat, record_seat, record_verdict
from evidence.tests.rows import end, make_model, make_panel

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
        ({"status": "nonsense"}, ["running", "all", "some", "none"]),
        ({"shape": "code"}, ["all"]),
        ({"format": "gemini"}, ["none"]),
        ({"collection": "bench/prose"}, ["some"]),
        ({"by": "editor"}, ["some"]),
        ({"verdicts": "given"}, ["some"]),
        ({"verdicts": "owed"}, ["running", "all"]),
        ({"until": "2026-01-31"}, ["none"]),
        ({"until": "not a day"}, ["running", "all", "some", "none"]),
        ({"until": "9999-12-31"}, ["running", "all", "some", "none"]),
        ({"status": "all", "shape": "general"}, []),
        ({"_facets": "True"}, ["running", "all", "some", "none"]),
        ({}, ["running", "all", "some", "none"]),
    ],
)
def test_the_list_is_narrowed(reader, query, found):
    panels = {
        "running": make_panel(),
        "all": make_panel(shape="code"),
        "some": make_panel(collection_name="bench/prose", asked_by="editor"),
        "none": make_panel(format="gemini", at=datetime(2026, 1, 31, 23, 59, tzinfo=UTC)),
    }
    end(panels["running"], "member1")
    for name, seats in {"all": ("ok", "ok"), "some": ("ok", "error"), "none": ("empty", "error")}.items():
        for seat_name, status in zip(("member1", "explorer1"), seats, strict=True):
            end(panels[name], seat_name, status=status)
    record_verdict(call_id=f"{panels['some'].panel_id}.member1", given_by="local", useful=True)
    page = list_of(reader, **query)
    assert [name for name, panel in panels.items() if panel.panel_id in page] == found


def listed(page: str) -> list[str]:
    return re.findall(r'<tr data-panel="([^"]+)"', page)


def older(reader, page: str) -> str | None:
    link = re.search(r'href="(\?[^"]*before=[^"]*)"', page)
    return reader.get(LIST + html.unescape(link[1])).content.decode() if link else None


def test_every_panel_is_on_one_page_of_the_list(reader):
    moment = datetime(2026, 1, 2, 12, tzinfo=UTC)
    # Asked in the same moment: order and pages are theirs all the same.
    panels = [make_panel(at=moment) for _ in range(60)] + [make_panel(minutes_ago=number) for number in range(60)]
    page, seen = list_of(reader), []
    while page:
        seen += listed(page)
        page = older(reader, page)
    assert len(seen) == len(set(seen)) == 120
    assert set(seen) == {panel.panel_id for panel in panels}
    assert seen == sorted(seen, key=lambda one: (Panel.objects.get(panel_id=one).asked_at, one), reverse=True)


def test_a_search_goes_on_from_where_its_time_was_over(reader, monkeypatch):
    monkeypatch.setattr(listing, "SECONDS", 0)
    monkeypatch.setattr(listing, "_FIRST_STRETCH", 10)
    wanted = [make_panel(minutes_ago=100 + number, request=f"user: needle {number}") for number in (1, 15, 16)]
    for number in range(20):
        make_panel(minutes_ago=number)
    page, seen, looks = list_of(reader, q="needle"), [], 1
    assert "Nothing since" in page and "Looked back to" in page
    while following := older(reader, page):
        page, looks = following, looks + 1
        seen += listed(page)
    assert seen == [panel.panel_id for panel in wanted]
    assert looks == 3
    assert "Looked back to" not in page


def test_a_search_stops_when_its_time_is_over(reader, monkeypatch):
    monkeypatch.setattr(listing, "_FIRST_STRETCH", 5)
    clock = iter(range(1000))
    monkeypatch.setattr(listing.time, "monotonic", lambda: next(clock))
    for _ in range(30):
        make_panel()
    with CaptureQueriesContext(connection) as queries:
        page = list_of(reader, q="needle")
    assert "Search older" in page
    assert len(queries) < 20


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


def test_who_may_only_look_has_no_form(reader):
    panel = make_panel()
    end(panel)
    page = page_of(reader, panel)
    assert "No verdict yet." in page
    assert 'name="note"' not in page


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


def test_five_megabytes_are_shown_in_part_and_had_whole(reader):
    panel = make_panel(request="user: " + "word " * 10_000)
    text = "0123456789\n" * 500_000
    end(panel, answer=text, reasoning=text)
    page = page_of(reader, panel)
    assert len(page) < 400_000
    assert "The first 22000 of 5500000 characters." in page
    for address, whole in (("member1/answer", text), ("member1/reasoning", text), ("request/request", panel.request)):
        got = reader.get(f"{LIST}{panel.pk}/text/{address}/")
        assert got.content.decode() == whole
        assert got.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert got.headers["Content-Disposition"].startswith("attachment")


def test_ten_thousand_items_are_a_page_that_a_browser_can_bear(reader):
    panel = make_panel(*[(f"member{number}", f"m{number}") for number in range(1, 6)])
    for call in panel.calls.all():
        end(panel, call.seat_name, answer="- item\n" * 10_000)
    assert page_of(reader, panel).count("<li>") <= 10_000


def test_long_answers_share_a_page_and_each_has_one_of_its_own(reader):
    panel = make_panel()
    end(panel, answer="a " * 40_000)
    end(panel, "explorer1", answer="b " * 500)
    page = page_of(reader, panel)
    assert "The first 59000 of 80000 characters." in page
    alone = reader.get(f"{LIST}{panel.pk}/seat/member1/").content.decode()
    assert "The first 60000 of 80000 characters." in alone
    assert "b b b" not in alone


def test_an_answer_is_read_as_markdown_and_raw(reader):
    panel = make_panel()
    end(panel, answer="It is **late**.")
    page = page_of(reader, panel)
    assert "<p>It is <strong>late</strong>.</p>" in page
    assert "It is **late**.</pre>" in page


@pytest.mark.parametrize(("kind", "advice"), [("timeout", "raise its time limit"), ("of-tomorrow", "if it stays so")])
def test_an_error_says_what_to_do(reader, kind, advice):
    panel = make_panel()
    end(panel, status="error", error_kind=kind, error="HTTP 503", answer="")
    assert advice in text_of(page_of(reader, panel))


def test_empty_answers_say_what_to_do(reader):
    panel = make_panel()
    end(panel, status="empty", finish_reason="length", answer="")
    assert "raise the limit in its call options" in page_of(reader, panel)


def test_timings_stand_on_one_axis(reader):
    panel = make_panel(("member1", "a"), ("member2", "b"))
    end(panel, "member1", seconds=10.0, first_token_seconds=2.5)
    end(panel, "member2", seconds=5.0, first_token_seconds=None)
    page = page_of(reader, panel)
    assert re.findall(r'<rect class="seat-bar__w\w+" x="([\d.]+)%" width="([\d.]+)%"', page) == [
        ("0.00", "25.00"),
        ("25.00", "75.00"),
        ("0.00", "50.00"),
        ("50.00", "0.00"),
    ]
    assert re.search(r"a ok 2\.5 10\.0 b ok - none 5\.0", text_of(page))


def test_a_merger_starts_when_the_others_have_answered(reader):
    panel = make_panel(("member1", "a"), minutes_ago=1, reply="merged")
    end(panel, "member1", seconds=15.0)
    seat = PlannedSeat(seat_name="merger", language_model_id=make_model("m").pk, alias="m", endpoint_name="mock", served_id="m")
    record_seat(seat, panel_id=panel.panel_id, asked_at=panel.asked_at + timedelta(seconds=15))
    end(panel, "merger", seconds=5.0, first_token_seconds=1.0)
    page = page_of(reader, panel)
    assert 'x="75.00%" width="5.00%"' in page and 'x="80.00%" width="20.00%"' in page
    assert "20.0 s" in page


def test_an_open_page_is_given_what_it_does_not_have(reader):
    panel = make_panel()
    end(panel, "member1")
    live = f"{LIST}{panel.pk}/live/"
    assert Seats(reader.get(live, {"have": "member1:running,explorer1:running"})).keys == ["member1"]
    end(panel, "explorer1")
    assert Seats(reader.get(live, {"have": "member1:ok,explorer1:running"})).keys == ["explorer1"]
    assert Seats(reader.get(live, {"have": "member1:ok,explorer1:ok"})).keys == []
    assert "2 owed" in reader.get(live, {"have": "member1:ok,explorer1:ok"}).content.decode()
    assert Seats(reader.get(live)).keys == ["member1", "explorer1"]


class Seats:
    def __init__(self, response) -> None:
        assert response.status_code == 200
        self.keys = re.findall(r'data-seat="(\w+)"', response.content.decode())


def test_an_open_list_is_given_rows_that_fit(reader):
    panels = [make_panel(), make_panel(shape="code"), make_panel()]
    end(panels[0])
    asked = {"panels": ",".join(panel.panel_id for panel in panels[:2]), "shape": "general"}
    page = reader.get(f"{LIST}rows/", asked).content.decode()
    assert re.findall(r'data-panel="([^"]+)"', page) == [panels[0].panel_id]
    assert "<html" not in page
    assert reader.get(f"{LIST}rows/", {"panels": "," * 5000}).status_code == 200


def test_a_panel_is_found_by_its_id_in_the_address(reader):
    panel = make_panel()
    assert reader.get(f"{LIST}of/{panel.panel_id}/").headers["Location"] == f"{LIST}{panel.pk}/change/"
    assert reader.get(f"{LIST}of/p20260102-150405-ffff/").status_code == 404


@pytest.mark.parametrize("path", ["999999/live/", "999999/seat/member1/", "{pk}/seat/member9/", "{pk}/text/member1/error/"])
def test_what_is_not_there(reader, path):
    assert reader.get(LIST + path.format(pk=make_panel().pk)).status_code == 404


def test_blind_hides_names_and_shuffles_alike_each_time(reader):
    aliases = [f"model-{number}" for number in range(6)]
    panel = make_panel(*[(f"member{number}", alias) for number, alias in enumerate(aliases)])
    for number in range(5):
        end(panel, f"member{number}", answer=f"answer {number}", served_model="another-name", finish_reason="stop")
    end(panel, "member5", status="error", error_kind="timeout", error="model-5 was slow", answer="")
    pages = [reader.get(f"{LIST}{panel.pk}/change/?blind=1").content.decode() for _ in range(2)]
    for name in (*aliases, "another-name", "member0"):
        assert name not in pages[0]
    orders = [re.findall(r"<p>answer (\d)</p>", page) for page in pages]
    assert orders[0] == orders[1]
    others = {tuple(re.findall(r"<p>answer (\d)</p>", blind_page(reader))) for _ in range(4)}
    assert len(others) > 1
    assert "model-0" in page_of(reader, panel)


def blind_page(reader) -> str:
    panel = make_panel(*[(f"member{number}", f"model-{number}") for number in range(6)])
    for number in range(6):
        end(panel, f"member{number}", answer=f"answer {number}")
    return reader.get(f"{LIST}{panel.pk}/change/?blind=1").content.decode()


def test_blind_shows_each_name_with_its_verdict_and_those_without_answers_last(reader):
    panel = make_panel(("member1", "alpha"), ("member2", "beta"), ("member3", "gamma"))
    first, second = end(panel, "member1"), end(panel, "member2")
    end(panel, "member3", status="error", error="gamma broke", answer="")
    seen = []
    for call_id in (None, first, second):
        if call_id:
            record_verdict(call_id=call_id, given_by="local", useful=True)
        page = reader.get(f"{LIST}{panel.pk}/change/?blind=1").content.decode()
        seen.append([name for name in ("alpha", "beta", "gamma") if name in page])
    assert seen == [[], ["alpha"], ["alpha", "beta", "gamma"]]


def test_blind_holds_on_every_way_to_a_seat(reader):
    panel = make_panel(("member1", "alpha"), ("member2", "beta"))
    end(panel, "member1")
    page = reader.get(f"{LIST}{panel.pk}/change/?blind=1").content.decode()
    for key in re.findall(r'data-seat="(\w+)"', page):
        assert key in reader.get(f"{LIST}{panel.pk}/live/?blind=1").content.decode()
        for path in (f"{LIST}{panel.pk}/seat/{key}/?blind=1", f"{LIST}{panel.pk}/live/?blind=1"):
            assert "alpha" not in reader.get(path).content.decode()
        assert "member" not in reader.get(f"{LIST}{panel.pk}/text/{key}/answer/?blind=1").headers["Content-Disposition"]
    assert reader.get(f"{LIST}{panel.pk}/seat/member1/?blind=1").status_code == 404


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
