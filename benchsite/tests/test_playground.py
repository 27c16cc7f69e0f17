"""The playground: a person asks from the dashboard, sees seats as they end, judges them, and takes the question along."""

import asyncio
import http.client
import io
import json
import re
import shutil
import subprocess
import sys
import time
import uuid
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.handlers.asgi import ASGIHandler
from django.test import RequestFactory
from django.urls import reverse

from benchsite.dashboard.playground.snippets import Asked, curl, javascript, python
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer, running_server

TOKEN = "a-token-of-24-characters"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
CAP = 600_000
MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "guest": {"model": "say-guest", "status": "ad_hoc"},
    # These explore no general question.
    "late": {"model": "slow-1", "role": "code"},
    "echo": {"model": "echo", "role": "code", "vision": True},
    "failing": {"model": "err-500", "role": "code"},
    "gone": {"model": "err-404", "role": "code"},
    "small": {"model": "say-small", "role": "code", "context_window": 100},
    "rare": {"model": "slow-1.5", "role": "code", "requests_per_minute": 1},
}
COLLECTIONS = {
    "pair": ["fast", "late"],
    "echo": ["echo"],
    "two": ["fast", "echo"],
    "broken": ["fast", "failing"],
    "tiny": ["small", "fast"],
    "alone": ["failing", "gone"],
    "seldom": ["rare", "fast"],
}
HOSTILE = (
    "it's \"quoted\" `id` $(touch pwned) ${HOME} \\n \\\\ %s %d !! '; touch pwned; '\n</pre><script>window.__pwned=1</script>"
    "\n\ttab \u202e\u2066reordered\u2069 \u200b\x1b[31m\x7f \u2028 \U000e0041 \U0001f600 {{ 7 * 7 }} {% now %} EOF\n"
)


@pytest.fixture(scope="module")
def server(loud_upstream, tmp_path_factory):
    bench = bench_file(loud_upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 2\n"
    with running_server(tmp_path_factory.mktemp("playground"), bench, BENCH_MAX_BODY_BYTES=str(CAP)) as running:
        yield running


class Person:
    """A browser, as far as it is needed here: it keeps its cookies, sends forms and follows where they lead."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.cookies: dict[str, str] = {}
        self.page = self.get("/admin/playground/")

    def get(self, path: str) -> str:
        return self._sent("GET", path)

    def ask(self, collection: str, prompt: str = "Is there a race?", image: bytes = b"", **fields) -> str:
        """Fill in the form and send it; returns the page that it led to."""
        given = {"collection": f"bench/{collection}", "prompt": prompt, **fields}
        self.page = self.send("/admin/playground/", given, image)
        return self.page

    def send(self, path: str, fields: dict, image: bytes = b"", *, fragment: bool = False) -> str:
        csrf = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page)
        boundary = uuid.uuid4().hex
        parts = [("csrfmiddlewaretoken", csrf[1] if csrf else "")]
        for name, value in fields.items():
            parts += [(name, one) for one in (value if isinstance(value, list) else [value])]
        body = b"".join(_part(boundary, name, str(value).encode()) for name, value in parts)
        if image:
            body += _part(boundary, 'image"; filename="holiday.png', image)
        body += f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"} | (
            {"X-Bench-Fragment": "1"} if fragment else {}
        )
        return self._sent("POST", path, body, headers)

    @property
    def panel(self) -> str:
        return re.search(r'data-live-panel="([^"]+)"', self.page)[1]

    def seats(self) -> str:
        """The seats as a page that is open gets them."""
        return self.get(unescape(re.search(r'data-live-url="([^"]+)"', self.page)[1]))

    def ended(self) -> str:
        """The seats when all have ended."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            # In this order: a merge that is no longer waited for has its seat.
            waits, seats = self.beside().count("merge"), self.seats()
            if 'data-status="running"' not in seats and not waits:
                return seats
            time.sleep(0.05)
        raise AssertionError(seats)

    def beside(self) -> str:
        return self.get(unescape(re.search(r'data-beside="([^"]+)"', self.page)[1]))

    def judge(self, seat: str, **fields) -> str:
        """Send the verdict form of one seat, as it stands on the page."""
        form = re.search(r'<form class="verdict-form" method="post" action="([^"]+)"', seat_of(self.page, seat))
        return self.send(unescape(form[1]), fields)

    def refusal(self) -> str:
        found = re.search(r'role="alert">(?:<p class="play-refusal"[^>]*>)(.*?)</p>', self.page, re.DOTALL)
        return unescape(re.sub("<[^>]+>", "", found[1])) if found else ""

    def _sent(self, method: str, path: str, body: bytes = b"", headers: dict | None = None) -> str:
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        connection.request(method, path, body=body, headers=sent)
        reply = connection.getresponse()
        for name, value in reply.getheaders():
            if name.lower() == "set-cookie":
                self.cookies.update([value.partition(";")[0].split("=", 1)])
        text = reply.read().decode()
        connection.close()
        self.status, self.headers = reply.status, reply.headers
        return self.get(reply.headers["Location"].partition("#")[0]) if reply.status == 302 else text


def _part(boundary: str, name: str, value: bytes) -> bytes:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"


@pytest.fixture
def person(server):
    return Person(server)


def seat_of(html: str, key: str) -> str:
    return re.search(rf'<section class="panel-card seat" id="{key}".*?</section>', html, re.DOTALL)[0]


def shown_text(html: str) -> str:
    return re.sub(r"\s+(,)?", lambda gap: gap[1] or " ", unescape(re.sub("<[^>]+>", " ", html)))


def test_a_person_asks_sees_seats_end_and_judges_them(person, server):
    page = person.ask("pair")
    assert "Still answering" in seat_of(page, "member2")
    assert 0 <= float(re.search(r'data-clock="([\d.]+)"', seat_of(page, "member2"))[1]) < 5
    seats = person.ended()
    assert "No stale read." in seat_of(seats, "member1") and "The answer is 42." in seat_of(seats, "member2")
    asked = server.rows("SELECT asked_by, format FROM evidence_panel WHERE panel_id = ?", person.panel)
    assert asked == [("dashboard:local", "playground")]
    person.page = person.get(f"/admin/playground/{person.panel}/")
    person.judge("member1", useful="no", false="It is slow\r\n\r\n It leaks", note="No.")
    assert server.rows('SELECT useful, "false", given_by FROM evidence_verdict ORDER BY id DESC LIMIT 1') == [
        (0, '["It is slow", "It leaks"]', "local")
    ]
    assert "Not useful" in seat_of(person.get(f"/admin/playground/{person.panel}/"), "member1")


def test_the_form_says_what_each_collection_is_and_takes(person):
    told = shown_text(person.page)
    assert "bench/tiny For tiny small, fast 2 members + 2 explorers = 4 seats · together 100 tokens" in told
    assert "windows unknown" in told


def test_a_seat_whose_limit_is_used_up_may_wait_and_says_until_when(person):
    page = person.ask("seldom")
    deadline = time.monotonic() + 5
    while "may wait" not in page and time.monotonic() < deadline:
        page = person.beside()
    assert re.search(r"rare may wait: the limit of 1 requests a minute is used up until \d\d:\d\d:\d\d UTC\.", page)
    person.ended()
    assert "may wait" not in person.beside()


def test_a_merged_panel_says_what_it_waits_for_and_ends_with_what_was_merged(person):
    assert "The merge waits for every seat" in person.ask("pair", reply="merged")
    seats = person.ended()
    assert re.findall(r'data-seat="(\w+)"', seats)[-1] == "merger"
    assert "merge" not in person.beside()


def test_a_merge_that_cannot_be_says_why(person):
    person.ask("alone", reply="merged")
    assert "Fewer than two seats answered" in person.ended()


def test_nominated_models_and_a_system_text_go_along_and_come_back_into_the_form(person):
    person.ask("pair", system="Be brief.", nominate=["guest", ""])
    person.ended()
    page = person.get(f"/admin/playground/{person.panel}/")
    assert "guest" in shown_text(seat_of(page, "explorer1"))
    assert re.search(r'name="nominate"[^>]*value="guest"', page)
    assert re.search(r'name="system"[^>]*>\nBe brief.</textarea>', page)
    assert re.search(r'name="prompt"[^>]*>\nIs there a race\?</textarea>', page)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"collection": "nope"}, "no collection is called that. Choose one of: bench/alone"),
        ({"collection": "pair", "prompt": "  "}, "Write a prompt first."),
        ({"collection": "tiny", "prompt": "word " * 500}, "small takes 100"),
        ({"collection": "pair", "nominate": ["gues"]}, "Nearest: guest"),
        ({"collection": "pair", "image": PNG}, "No seat of this collection can see"),
        ({"collection": "echo", "image": b"%PDF-1.7 no image"}, "choose one of png, jpeg, webp, gif"),
        ({"collection": "echo", "image": PNG + b"x" * 450_000}, "444,000 is the most"),
        ({"collection": "echo", "image": PNG + b"x" * CAP}, "600,000 bytes is the most"),
    ],
)
def test_what_cannot_be_asked_is_said_beside_the_form_which_keeps_what_was_typed(person, server, asked, why):
    before = server.rows("SELECT count(*) FROM evidence_panel")
    person.ask(**{"prompt": "Keep <this>, please.", **asked})
    assert person.status == 200
    assert why in person.refusal()
    assert unescape(re.search(r'name="prompt"[^>]*>\n(.*?)</textarea>', person.page, re.DOTALL)[1]) == asked.get(
        "prompt", "Keep <this>, please."
    )
    assert server.rows("SELECT count(*) FROM evidence_panel") == before


def test_an_image_goes_to_those_who_see_and_stays_nowhere(person, server, loud_upstream):
    page = person.ask("two", "What is on it?", PNG)
    person.ended()
    sent = [asked.body for asked in loud_upstream.requests if "image_url" in json.dumps(asked.body)]
    assert [body["model"] for body in sent] == ["echo"]
    url = sent[0]["messages"][-1]["content"][-1]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,iVBORw0KGgo")
    seen_again = page + person.get(f"/admin/playground/{person.panel}/") + server.log
    kept = b"".join(path.read_bytes() for path in server.folder.rglob("*") if path.is_file()) + seen_again.encode()
    for trace in (PNG[:40], b"iVBORw0KGgo", b"holiday.png", url[-60:].encode()):
        assert trace not in kept
    again = person.get(f"/admin/playground/{person.panel}/")
    assert "base64 &lt; image.png" in again
    assert re.search(r'name="prompt"[^>]*>\nWhat is on it\?</textarea>', again)
    assert "[image: data URL" in server.rows("SELECT request FROM evidence_panel WHERE panel_id = ?", person.panel)[0][0]


def test_what_is_uploaded_is_in_memory_alone(settings):
    assert settings.BENCH_MAX_BODY_BYTES > 3_000_000
    upload = io.BytesIO(PNG + bytes(3_000_000))
    upload.name = "large.png"
    request = RequestFactory().post("/admin/playground/", {"image": upload})
    assert isinstance(request.FILES["image"], InMemoryUploadedFile)
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1_000
    upload.seek(0)
    assert "image" not in RequestFactory().post("/admin/playground/", {"image": upload}).FILES


def test_no_body_is_spooled_into_a_file():
    async def receive():
        return {"type": "http.request", "body": bytes(3_000_000), "more_body": False}

    assert not asyncio.run(ASGIHandler().read_body(receive))._rolled


def test_a_button_pressed_twice_asks_once(person):
    person.ask("pair", "Once, please.")
    first = person.panel
    person.ask("pair", "Once, please.")
    assert person.panel == first
    person.ended()
    person.ask("pair", "Once, please.")
    assert person.panel != first


def test_what_is_written_is_measured(person):
    def measured(**fields) -> str:
        return shown_text(person.send("/admin/playground/size/", {"collection": "bench/tiny", **fields}))

    assert "about 110 tokens · too large for small (100, set on this bench)" in measured(prompt="x" * 400)
    assert measured(prompt="x").strip() == "about 1 token"
    assert "will be skipped: small, fast" in measured(prompt="x", images="1")


def test_names_are_hidden_until_judged(person):
    page = person.ask("two", "Blind?", blind="on")
    seats = person.ended()
    for part in (page[page.index("data-answers") : page.index("play-snippets")], seats):
        told = shown_text(part)
        assert "Answer A" in told and "Answer B" in told
        assert not re.search(r"fast|echo|member\d|explorer\d", re.sub(r"\bechoed\b", "", told))
    person.page = person.get(f"/admin/playground/{person.panel}/?blind=1")
    first, second = re.findall(r'data-seat="(s\w+)"', person.page)[:2]
    judged = person.judge(first, useful="yes")
    named = person.get(f"/admin/playground/{person.panel}/?blind=1")
    assert re.search("fast|echo", shown_text(seat_of(named, first)))
    assert not re.search("fast|echo", shown_text(seat_of(named, second)).replace("fastest", ""))
    assert "?blind=1" in judged


def test_a_merged_answer_which_names_the_others_is_held_back_until_they_are_judged(person):
    person.ask("two", "Blind and merged?", blind="on", reply="merged")
    person.ended()
    person.page = person.get(f"/admin/playground/{person.panel}/?blind=1")
    first, second, merger = re.findall(r'data-seat="(s\w+)"', person.page)
    for before, key in ((True, first), (True, second), (False, merger)):
        held = seat_of(person.get(f"/admin/playground/{person.panel}/?blind=1"), merger)
        assert ("It says who said what" in held) == before
        assert ("panel-markdown" in held and "verdict-form" in held) != before
        person.judge(key, useful="yes")
        if before:
            person.page = person.get(f"/admin/playground/{person.panel}/?blind=1")


def test_a_browsers_line_ends_are_not_the_prompts(person, loud_upstream):
    person.ask("echo", "one\r\ntwo", system="three\r\nfour")
    person.ended()
    heard = [asked.body["messages"] for asked in loud_upstream.requests if asked.body["model"] == "echo"][-1]
    assert [message["content"] for message in heard] == ["three\nfour", "one\ntwo"]


def test_a_script_is_told_where_the_panel_is_or_why_there_is_none(person):
    told = person.send("/admin/playground/", {"collection": "bench/echo", "prompt": ""}, fragment=True)
    assert told.startswith('<p class="play-refusal"') and "Write a prompt first." in told
    person.send("/admin/playground/", {"collection": "bench/echo", "prompt": "Where?"}, fragment=True)
    page = person.get(person.headers["X-Bench-Panel"].partition("#")[0])
    assert "echo" in seat_of(page, "member1")


def test_hostile_answers_are_shown_harmless(person):
    person.ask("echo", HOSTILE)
    seats = person.ended()
    page = person.get(f"/admin/playground/{person.panel}/")
    for html in (seats, page):
        assert "<script>window" not in html
        assert "[U+202E]" in html
        assert "{{ 7 * 7 }}" in seat_of(html, "member1")


def test_only_its_own_panels_are_shown(person, server):
    asked = server.chat("bench/echo").json["bench"]["panel"]
    for path in (f"/admin/playground/{asked}/", f"/admin/playground/{asked}/beside/", "/admin/playground/p0/"):
        person.get(path)
        assert person.status == 404


def test_a_panel_of_the_dashboard_is_no_keys(person, server):
    person.ask("echo", "Mine.")
    person.ended()
    assert server.request("GET", f"/bench/panels/{person.panel}").status == 200  # this machine's own user reads every panel
    with_forged_csrf = Person(server)
    with_forged_csrf.page = ""
    with_forged_csrf.ask("echo", "Not asked.")
    assert with_forged_csrf.status == 403


def test_a_key_does_not_open_it_and_neither_does_nobody(loud_upstream, tmp_path):
    bench = bench_file(loud_upstream.url, {"fast": MODELS["fast"]}, {"one": ["fast"]})
    with running_server(tmp_path, bench, BENCHWARMERS_ADMIN_TOKEN=TOKEN) as guarded:
        key = guarded.manage("create_key", "app").stdout.strip()
        for headers in ({}, {"Authorization": f"Bearer {key}"}):
            for path in ("", "size/", "p20260101-000000-0000/", "p20260101-000000-0000/beside/"):
                reply = guarded.request("GET", f"/admin/playground/{path}", headers=headers)
                assert (reply.status, reply.headers["location"].partition("?")[0]) == (302, "/admin/login/")


@pytest.mark.django_db
@pytest.mark.parametrize(("permissions", "status"), [([], 403), (["view_panel"], 403), (["view_panel", "add_panel"], 200)])
def test_who_may_not_have_a_panel_written_down_does_not_ask(client, permissions, status):
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(clerk)
    assert client.get(reverse("playground:page")).status_code == status


@pytest.mark.django_db
def test_the_page_asks_the_database_a_bounded_number_of_times(client, django_assert_max_num_queries):
    client.get(reverse("playground:page"))
    with django_assert_max_num_queries(14):
        assert client.get(reverse("playground:page")).status_code == 200


# --- The same from a program ---------------------------------------------------------------------


def asked_of(server: RunningServer, **how) -> Asked:
    return Asked(base_url=server.base_url, model="bench/echo", **{"prompt": HOSTILE, "system": HOSTILE, **how})


def run(folder, *command: str) -> str:
    (folder / "image.png").write_bytes(PNG)
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not (folder / "pwned").exists()
    return done.stdout


def last_asked(loud_upstream, *, image: bool) -> None:
    """The seat has heard exactly what was asked."""
    system, user = loud_upstream.requests[-1].body["messages"]
    said = user["content"][0]["text"] if image else user["content"]
    assert (system["content"], said) == (HOSTILE, HOSTILE)
    if image:
        assert user["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")


@pytest.mark.parametrize("image", [False, True])
def test_the_curl_that_is_shown_asks_the_same(server, loud_upstream, tmp_path, image):
    if not shutil.which("curl"):
        pytest.skip("no curl here")
    for shell in filter(shutil.which, ("sh", "bash", "zsh")):
        reply = run(tmp_path, shell, "-c", curl(asked_of(server, has_image=image)))
        assert json.loads(reply)["bench"]["seats"][0]["status"] == "ok"
        last_asked(loud_upstream, image=image)


@pytest.mark.parametrize("image", [False, True])
def test_the_python_that_is_shown_asks_the_same(server, loud_upstream, tmp_path, image):
    pytest.importorskip("openai")
    told = python(asked_of(server, has_image=image, nominated=("guest",)))
    assert "guest" in run(tmp_path, sys.executable, "-c", told)
    last = [asked for asked in loud_upstream.requests if asked.body["model"] == "echo"]
    assert last
    heard = last[-1].body["messages"]
    assert heard[0]["content"] == HOSTILE
    assert (heard[1]["content"][0]["text"] if image else heard[1]["content"]) == HOSTILE


@pytest.mark.parametrize("image", [False, True])
def test_the_javascript_that_is_shown_asks_the_same(server, tmp_path, image):
    """By a stand-in of the SDK that says what it was given."""
    if not shutil.which("node"):
        pytest.skip("no node here")
    package = tmp_path / "node_modules" / "openai"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "openai", "type": "module", "main": "index.js"}')
    (package / "index.js").write_text(
        "export default class { constructor(at) { this.chat = { completions: { create: async (body) =>"
        " ({ choices: [{ message: { content: JSON.stringify({ at, body }) } }] }) } } } }"
    )
    (tmp_path / "ask.mjs").write_text(javascript(asked_of(server, has_image=image, nominated=("guest",))))
    given = json.loads(run(tmp_path, "node", "ask.mjs"))
    assert given["at"]["baseURL"] == f"{server.base_url}/v1"
    assert given["body"]["with"] == ["guest"]
    said = given["body"]["messages"][1]["content"]
    assert (said[0]["text"] if image else said) == HOSTILE
    assert not image or said[1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")


def test_what_is_copied_holds_nothing_that_a_terminal_acts_on(server):
    for told in (curl(asked_of(server)), python(asked_of(server)), javascript(asked_of(server))):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", told)


def test_the_page_shows_what_was_asked_and_a_long_prompt_by_its_length(person):
    person.ask("echo", "It's $(hostname)", reply="merged")
    person.ended()
    page = unescape(person.get(f"/admin/playground/{person.panel}/"))
    assert f"{person.server.base_url}/v1/chat/completions" in page
    assert '"content": "It\'\\\'\'s $(hostname)"' in page
    assert '"bench/echo:merged"' in page
    person.ask("echo", "word " * 5_000)
    person.ended()
    assert "(the prompt of 25,000 characters goes here)" in person.get(f"/admin/playground/{person.panel}/")
