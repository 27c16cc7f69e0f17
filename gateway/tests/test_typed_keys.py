"""A key that was typed in reaches its endpoint's own host, when no environment variable comes first, and nobody else."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collections_app.sealing import UnsealError
from gateway.chat import Message, TextPart
from gateway.tests.fake_upstream import SCRIPTS, FakeUpstream
from gateway.upstream import PROTOCOLS, complete
from gateway.upstream.answer.hiding import without_key
from gateway.upstream.contract import Delta, Target, UpstreamError
from gateway.workers import key_ring
from gateway.workers.key_ring import KeyRing
from gateway.workers.target import target_of

KEY = "sk/Recognisable+4711-0815"
QUESTION = (Message("user", (TextPart("What is the answer?"),)),)
LIMITS = {"connect_timeout": 2, "first_token_timeout": 10, "seat_timeout": 20}


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as server:
        yield server


def target(base_url: str, model: str = "ok", **fields: Any) -> Target:
    return Target(**{"protocol": "openai_chat", "base_url": base_url, "model": model, **LIMITS, **fields})


def never() -> str:
    raise AssertionError("nobody should ask for the key")


def test_the_key_is_sent(upstream: FakeUpstream) -> None:
    complete(target(upstream.url), QUESTION, typed_key=lambda: KEY)
    assert upstream.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_a_variable_that_is_set_comes_first(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", "sk-of-the-environment")
    complete(target(upstream.url, api_key_env="FAKE_KEY"), QUESTION, typed_key=never)
    assert upstream.requests[-1].headers["authorization"] == "Bearer sk-of-the-environment"
    monkeypatch.setenv("FAKE_KEY", " ")
    complete(target(upstream.url, api_key_env="FAKE_KEY"), QUESTION, typed_key=lambda: KEY)
    assert upstream.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_with_neither_the_variable_is_missed(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAKE_KEY", raising=False)
    with pytest.raises(UpstreamError, match="FAKE_KEY is not set"):
        complete(target(upstream.url, api_key_env="FAKE_KEY"), QUESTION, typed_key=str)
    complete(target(upstream.url), QUESTION, typed_key=str)
    assert "authorization" not in upstream.requests[-1].headers


def test_a_key_that_no_header_can_carry_is_refused(upstream: FakeUpstream) -> None:
    with pytest.raises(UpstreamError, match="the key typed in holds characters that no key has") as refused:
        complete(target(upstream.url), QUESTION, typed_key=lambda: "sk-é")
    assert refused.value.kind == "unauthorized"


def test_the_llm_command_is_never_given_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where llm sends a key is its plugins' choice, and the key is bound to a host."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UpstreamError, match="no llm command"):
        complete(target("", protocol="llm_cli"), QUESTION, typed_key=never)


def test_the_ring_reads_a_key_once_for_each_host(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, str]] = []

    def typed_key(key_id: str, base_url: str) -> str:
        read.append((key_id, base_url))
        if "evil" in base_url:
            raise UnsealError("it was typed for another host")
        return f"key {key_id}"

    monkeypatch.setattr(key_ring, "typed_key", typed_key)
    ring = KeyRing(lambda look: look())
    first = target("https://a.example", typed_key_id="1")
    assert [ring.key_for(one) for one in (first, first, replace(first, typed_key_id="2"))] == ["key 1", "key 1", "key 2"]
    for _ in range(2):
        with pytest.raises(UpstreamError, match="typed for another host") as refused:
            ring.key_for(replace(first, base_url="https://evil.example"))
        assert refused.value.kind == "unauthorized"
    assert [key_id for key_id, _ in read] == ["1", "2", "1", "1"]
    assert ring.key_for(replace(first, typed_key_id="")) == ""
    assert len(read) == 4


class _Redirecting(BaseHTTPRequestHandler):
    """Sends whoever asks to another server, in the way that the port's owner chose."""

    elsewhere = ""
    status = 307

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Location", f"{self.elsewhere}{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_no_protocol_follows_a_redirect(upstream: FakeUpstream, protocol: str, status: int) -> None:
    handler = type("Here", (_Redirecting,), {"elsewhere": upstream.url, "status": status})
    before = len(upstream.requests)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as here:
        threading.Thread(target=here.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        base_url = f"http://127.0.0.1:{here.server_address[1]}/v1"
        with pytest.raises(UpstreamError, match=f"HTTP {status} redirects to http://127.0.0.1") as refused:
            complete(target(base_url, protocol=protocol), QUESTION, typed_key=lambda: KEY)
        here.shutdown()
    assert refused.value.kind == "bad_reply"
    assert len(upstream.requests) == before


def test_a_key_in_an_answers_pieces_is_hidden_as_they_come(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(call: Any, _: str) -> None:
        key = call.received.headers["authorization"].removeprefix("Bearer ")
        call.answer("It is ", key[:5], key[5:9], key[9:], " and sk", "-other, ", key[:9], "!")

    monkeypatch.setitem(SCRIPTS, "leak", leak)
    pieces: list[Delta] = []
    completion = complete(target(upstream.url, "leak"), QUESTION, typed_key=lambda: KEY, on_delta=pieces.append)
    assert completion.text == f"It is [key] and sk-other, {KEY[:9]}!"
    assert "".join(piece.text for piece in pieces) == completion.text


@given(
    words=st.lists(st.sampled_from(["ab", "a", "b", "aab", " ", "-", "abaab-abaab-aba"]), max_size=30), size=st.integers(1, 7)
)
def test_however_an_answer_is_cut_no_watcher_sees_the_key(words: list[str], size: int) -> None:
    key, text = "abaab-abaab-abaa", "".join(words)
    seen: list[str] = []
    take = without_key(lambda delta: seen.append(delta.text), key)
    for start in range(0, len(text), size):
        take(Delta(text=text[start : start + size]))
    told = "".join(seen)
    assert key not in told
    assert text.replace(key, "[key]").startswith(told)
    assert len(text.replace(key, "[key]")) - len(told) < len(key)


def test_a_job_names_the_key_and_does_not_hold_it() -> None:
    class Row:
        protocol, base_url, api_key_env, typed_key_id = "openai_chat", "https://a.example", "", "an-id"
        connect_timeout = first_token_timeout = seat_timeout = None
        typed_key_sealed = "gAAAA-sealed"

    class Model(Row):
        endpoint, served_id, options = Row, "m", {}

    asked = target_of(Model)  # type: ignore[arg-type]
    assert asked.typed_key_id == "an-id"
    assert "sealed" not in repr(asked)
