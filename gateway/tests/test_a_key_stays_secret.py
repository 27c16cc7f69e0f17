"""A recognisable key is typed into a real server's dashboard, used in real calls, and is then to be found nowhere.

Not in a reply, a page, the log, a dump or a byte of the data folder, whatever the upstream does with it.
"""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from gateway.tests import fake_upstream
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

KEY = "sk-Recognisable/47+11~0815-QWERTZuiop"
ENDPOINT = "/admin/collections_app/endpoint/"


def sent(call: Any) -> str:
    """The key, as the upstream got it."""
    return str(call.received.headers.get("authorization", "")).removeprefix("Bearer ")


def in_pieces(call: Any, _: str) -> None:
    call.start_stream()
    for start in range(0, len(text := f"The key is {sent(call)}, and that is all there is to say of it."), 3):
        call.delta(content=text[start : start + 3])
    call.end()


def in_reasoning(call: Any, _: str) -> None:
    call.start_stream()
    call.delta(reasoning=f"They sent {sent(call)}. ")
    call.say("42.")
    call.end()


def in_error_event(call: Any, _: str) -> None:
    call.start_stream()
    call.say("The")
    call.event({"error": {"message": f"overloaded for Bearer {sent(call)}", "code": sent(call), "type": sent(call)}})
    call.wfile.write(b"0\r\n\r\n")


def in_names(call: Any, _: str) -> None:
    call.start_stream()
    call.event({"id": sent(call), "model": sent(call), "choices": [{"delta": {"content": "42."}, "finish_reason": sent(call)}]})
    call.wfile.write(b"0\r\n\r\n")


def in_half_a_stream(call: Any, _: str) -> None:
    call.start_stream()
    call.say(f"The key is {sent(call)}")
    call.hang_up()


def in_bad_json(call: Any, _: str) -> None:
    call.start_stream()
    call.send(b'data: {"choices": [{"delta": oops ' + sent(call).encode() + b"\n\n")
    call.end()


def whole(status: int, words: str, content_type: str = "application/json", **headers: str) -> fake_upstream.Script:
    def script(call: Any, _: str) -> None:
        filled = {name: value.replace("KEY", quote(sent(call), safe="")) for name, value in headers.items()}
        call.whole(status, words.replace("KEY", sent(call)).encode(), content_type, **filled)

    return script


LEAKS: dict[str, fake_upstream.Script] = {
    "leak-in-pieces": in_pieces,
    "leak-in-reasoning": in_reasoning,
    "leak-in-error-event": in_error_event,
    "leak-in-names": in_names,
    "leak-in-half-a-stream": in_half_a_stream,
    "leak-in-bad-json": in_bad_json,
    "leak-401": whole(401, '{"error": {"message": "Incorrect API key provided: KEY", "code": "KEY", "param": "KEY"}}'),
    "leak-429": whole(429, '{"error": {"message": "Key KEY has no quota"}}', Retry_After="KEY", X_Request_Id="KEY"),
    "leak-500": whole(500, "<html><head><title>500 for KEY</title></head><body>KEY</body></html>", "text/html"),
    "leak-text": whole(200, "KEY is not welcome", "text/plain"),
    "leak-redirect": whole(307, "", Location="https://elsewhere.example/v1?token=KEY"),
    "leak-body": whole(200, '{"choices": [{"message": {"content": "It is KEY."}, "finish_reason": "stop"}], "model": "KEY"}'),
}
QUOTING = [*LEAKS, "echo-secret", "echo-error", "echo-cut", "redirect", "err-401", "err-500", "err-429-3", "ok"]
COLLECTIONS = {"all": QUOTING, "merging": ["ok", "say-two"]} | {f"one-{n}": [name] for n, name in enumerate(QUOTING)}


class Dashboard:
    """A person's browser in the dashboard; keeps every page it was shown."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._session = requests.Session()
        self._session.trust_env = False
        self.pages: list[str] = []

    def get(self, path: str) -> str:
        reply = self._session.get(f"{self._base_url}{path}", timeout=30)
        assert reply.status_code == 200, path
        self.pages.append(f"{reply.headers}{reply.cookies}{reply.text}")
        return reply.text

    def post(self, path: str, **fields: str) -> str:
        page = self.get(path)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        form = {"csrfmiddlewaretoken": token[1], **fields}
        reply = self._session.post(f"{self._base_url}{path}", form, timeout=30)
        assert reply.status_code == 200, path
        self.pages.append(f"{reply.headers}{reply.cookies}{reply.text}")
        return reply.text


@pytest.fixture
def server(upstream: FakeUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    for name, script in LEAKS.items():
        monkeypatch.setitem(fake_upstream.SCRIPTS, name, script)
    models = {name: {"model": name, "status": "ad_hoc"} for name in [*QUOTING, "say-two"]}
    file = bench_file(upstream.url, models, COLLECTIONS)
    with running_server(tmp_path, file + "\n[limits]\nmax_explorers = 0\n") as running:
        yield running


def form(upstream: FakeUpstream, **fields: str) -> dict[str, str]:
    return {"name": "fake", "protocol": "openai_chat", "base_url": upstream.url, "api_key_env": "", **fields}


def written_forms(key: str) -> list[bytes]:
    """The key as it stands, and as it would stand encoded: its base64 wherever it begins, hexadecimal, quoted."""
    raw = key.encode()
    shifted = [base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)]
    safe = [form.translate(bytes.maketrans(b"+/", b"-_")) for form in shifted]
    return [raw, raw[:24], raw[-20:], raw.hex().encode(), quote(key, safe="").encode(), raw[::-1], *shifted, *safe]


def ask(server: RunningServer, name: str, **fields: Any) -> bytes:
    return server.chat(f"bench/{name}", **fields).body


def test_a_key_that_is_used_is_found_nowhere(server: RunningServer, upstream: FakeUpstream) -> None:
    dashboard = Dashboard(server.base_url)
    page = f"{ENDPOINT}1/change/"
    assert "was changed successfully" in dashboard.post(page, **form(upstream, new_key=KEY))
    assert "over https:// alone" in dashboard.post(page, **form(upstream, new_key=KEY, base_url="http://evil.example"))
    before = len(upstream.requests)
    told = [ask(server, name, **how) for name in COLLECTIONS for how in ({}, {"stream": True})]
    merged = {"bench": {"reply": "merged", "merger": "leak-in-pieces"}}
    told += [ask(server, "merging", **merged), ask(server, "merging", **merged, stream=True)]
    assert sum(b"[key]" in body for body in told) > len(told) / 3
    used = {request.headers.get("authorization") for request in upstream.requests[before:]}
    assert used == {f"Bearer {KEY}"}

    panels = [panel for (panel,) in server.rows("select id from evidence_panel")]
    # Who was refused for asking too often cools down, and a panel of nobody else is none.
    assert len(panels) == sum(b"Nobody can sit" not in body for body in told) > 40
    told += [server.request("GET", f"/bench/panels/{panel}").body for panel in panels]
    for path in (ENDPOINT, page, "/admin/", "/admin/collections_app/change/", "/admin/collections_app/languagemodel/"):
        dashboard.get(path)
    for (change,) in server.rows("select id from auditlog_logentry"):
        dashboard.get(f"/admin/collections_app/change/{change}/change/")
    dashboard.get("/admin/evidence/panel/")
    for panel in panels:
        dashboard.get(f"/admin/evidence/panel/{panel}/change/")
    dumped = [server.manage("dump_bench", "--format", name) for name in ("toml", "json")]
    assert server.manage("rotate_secrets").returncode == 0
    told.append(ask(server, "one-0"))
    assert server.stop() == 0

    texts = [*told, *(page.encode() for page in dashboard.pages), *(f"{done.stdout}{done.stderr}".encode() for done in dumped)]
    files = server.kept()
    assert {"server.log", "provider_key_secret"} <= files.keys()
    assert len(files.get("bench.sqlite3", b"") + files["database"]) > 50_000
    for form_of_key in written_forms(KEY):
        assert not [text for text in texts if form_of_key in text], form_of_key
        assert not [name for name, content in files.items() if form_of_key in content], form_of_key


def test_it_goes_to_its_own_host_alone_while_its_secret_is_there(server: RunningServer, upstream: FakeUpstream) -> None:
    dashboard = Dashboard(server.base_url)
    page = f"{ENDPOINT}1/change/"

    def seats() -> list[tuple[str, str, str]]:
        reply = server.chat("bench/merging").json
        bench = reply.get("bench") or reply["error"]["bench"]
        return [(seat["status"], seat["error_kind"], seat["error"]) for seat in bench["seats"]]

    dashboard.post(page, **form(upstream, new_key=KEY))
    assert {status for status, _, _ in seats()} == {"ok"}
    assert server.manage("rotate_secrets").stdout == "A new secret; 1 key is kept under it.\n"
    server.stop()
    server.start()
    assert {status for status, _, _ in seats()} == {"ok"}
    assert upstream.requests[-1].headers["authorization"] == f"Bearer {KEY}"

    server.stop()
    (server.folder / "provider_key_secret").unlink()
    server.start()
    asked = len(upstream.requests)
    why = (
        "the key typed in for this endpoint cannot be read: the file provider_key_secret is not in the data folder. "
        "Put that file back, or type the key again on the endpoint's page"
    )
    assert seats() == [("error", "unauthorized", why)] * 2
    assert len(upstream.requests) == asked
    assert "the file provider_key_secret is not in the data folder" in dashboard.get(page)
    dashboard.post(page, **form(upstream, new_key=KEY))
    assert {status for status, _, _ in seats()} == {"ok"}
    assert upstream.requests[-1].headers["authorization"] == f"Bearer {KEY}"

    with FakeUpstream() as elsewhere:
        host = upstream.url.removesuffix("/v1")
        assert f"it was typed for {host}" in dashboard.post(page, **form(elsewhere))
        assert {status for status, _, _ in seats()} == {"ok"}
        assert [request.headers.get("authorization") for request in elsewhere.requests] == [None, None]
