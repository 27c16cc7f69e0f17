"""Every way in which an upstream fails ends in time, as an UpstreamError of the right kind with what had come."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.chat import Message, TextPart
from gateway.tests.fake_upstream import FakeUpstream
from gateway.upstream import complete
from gateway.upstream.contract import Target, UpstreamError

QUESTION = (Message("user", (TextPart("What is the answer?"),)),)
KEY = "9f8e7d6c5b4aQWERTYUIOP"


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as server:
        yield server


def failed(base_url: str, model: str, **settings: Any) -> tuple[UpstreamError, float]:
    """Ask, and return how it failed and after how many seconds."""
    limits = {"connect_timeout": 20, "first_token_timeout": 30, "seat_timeout": 60}
    target = Target(**{"protocol": "openai_chat", "base_url": base_url, "model": model, **limits, **settings})
    started = time.perf_counter()
    with pytest.raises(UpstreamError) as caught:
        complete(target, QUESTION)
    return caught.value, time.perf_counter() - started


def test_a_hung_stream_ends_and_keeps_what_had_come(upstream: FakeUpstream) -> None:
    error, seconds = failed(upstream.url, "hung-stream", first_token_timeout=1)
    assert error.kind == "timeout"
    assert error.message == f"127.0.0.1:{upstream.port}: no further token for 1 s"
    assert error.partial == "The answer"
    assert error.status == 200
    assert error.first_token_seconds is not None
    assert 1 <= seconds < 20


@pytest.mark.parametrize("model", ["hung-headers", "drip-comments", "drip-bytes", "drip-headers", "slow-headers-2", "slow-2"])
def test_a_first_token_is_not_awaited_for_ever(upstream: FakeUpstream, model: str) -> None:
    error, seconds = failed(upstream.url, model, first_token_timeout=0.3)
    assert error.kind == "timeout"
    assert "no first token within 0.3 s" in error.message
    assert error.first_token_seconds is None
    assert 0.3 <= seconds < 20


@pytest.mark.parametrize("model", ["hung-headers", "hung-stream", "drip-comments", "drip-headers"])
def test_the_whole_call_is_bounded_too(upstream: FakeUpstream, model: str) -> None:
    error, seconds = failed(upstream.url, model, seat_timeout=0.4)
    assert error.kind == "timeout"
    assert "no whole answer within 0.4 s" in error.message
    assert 0.4 <= seconds < 20


def test_an_upstream_that_reads_nothing_is_not_written_to_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        long = (Message("user", (TextPart("word " * 4_000_000),)),)
        limits = {"connect_timeout": 0.3, "first_token_timeout": 30, "seat_timeout": 0.5}
        target = Target(protocol="openai_chat", base_url=f"http://127.0.0.1:{deaf.getsockname()[1]}", model="m", **limits)
        started = time.perf_counter()
        with pytest.raises(UpstreamError) as caught:
            complete(target, long)
        assert caught.value.kind == "timeout"
        assert "no whole answer within 0.5 s" in caught.value.message, "connecting is over: its limit is not for sending"
        assert time.perf_counter() - started < 20


@pytest.mark.parametrize(("model", "last_words"), [("hung-finish", 0.4), ("hung-end", 60)])
def test_a_finished_answer_is_whole_whatever_becomes_of_its_stream(
    upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch, model: str, last_words: float
) -> None:
    monkeypatch.setattr("gateway.upstream.sockets.clock.LAST_WORDS_SECONDS", last_words)
    limits = {"connect_timeout": 0.3, "first_token_timeout": 20, "seat_timeout": 20}
    target = Target(protocol="openai_chat", base_url=upstream.url, model=model, **limits)
    started = time.perf_counter()
    assert complete(target, QUESTION).text == "The answer is 42."
    assert time.perf_counter() - started < 10


def test_every_token_is_awaited_anew(upstream: FakeUpstream) -> None:
    limits = {"connect_timeout": 20, "first_token_timeout": 30, "seat_timeout": 60}
    target = Target(protocol="openai_chat", base_url=upstream.url, model="tick-0.03", **limits)
    assert complete(target, QUESTION).text == "tick " * 20


@pytest.mark.parametrize(
    ("model", "kind", "words", "partial"),
    [
        ("disconnect", "bad_reply", "the stream ended early", "The answer"),
        ("truncated", "bad_reply", "the stream ended early", "The answer"),
        ("reset", "unavailable", "broke the connection off", "The answer"),
        ("closed", "unavailable", "closed the connection without an answer", ""),
        ("garbage", "bad_reply", "does not answer in HTTP", ""),
        ("malformed", "bad_reply", "a malformed chunk came in the stream", "The answer"),
        ("error-event", "overloaded", "The engine is overloaded", "The"),
        ("finish-error", "rate_limited", "Provider returned error (P): try again in 20s", "The"),
        ("html-200", "bad_reply", "a web page came instead of an answer: Sign in & go", ""),
        ("html-502", "overloaded", "a web page came instead of an answer: 502 Bad Gateway", ""),
        ("page-as-stream", "bad_reply", "a web page came instead of an answer: Sign in", ""),
        ("dropped", "bad_reply", "the stream ended early", ""),
        ("text-200", "bad_reply", "Down for maintenance", ""),
        ("empty-body", "bad_reply", "the answer is an empty body", ""),
        ("json-list", "overloaded", "The model is overloaded", ""),
        ("bad-json", "bad_reply", "JSON that cannot be read", ""),
        ("error-200", "rate_limited", "Rate limit exceeded: free-models-per-day", ""),
        ("notice", "payment_required", "doesn't have enough credits", None),
        ("huge", "bad_reply", "larger than 8,000,000 bytes", None),
        ("err-400", "refused", "The server had an error", ""),
        ("err-401", "unauthorized", "Incorrect API key provided", ""),
        ("err-402", "payment_required", "Insufficient credits", ""),
        ("err-404", "maybe_gone", "The model does not exist", ""),
        ("err-410", "retired", "reached its end of life", ""),
        ("err-413", "context_too_long", "maximum context length is 4096", ""),
        ("err-429", "rate_limited", "Rate limit reached", ""),
        ("err-500", "unavailable", "The server had an error", ""),
        ("err-503", "overloaded", "currently overloaded", ""),
        ("err-529", "overloaded", "Overloaded", ""),
    ],
)
def test_each_fault_has_its_kind_and_its_words(
    upstream: FakeUpstream, model: str, kind: str, words: str, partial: str | None
) -> None:
    error, seconds = failed(upstream.url, model)
    assert error.kind == kind
    assert words in error.message
    assert partial is None or error.partial == partial
    assert error.status in (None, 200) or 400 <= error.status < 600
    assert seconds < 15


def test_a_wait_and_a_window_are_handed_on(upstream: FakeUpstream) -> None:
    assert failed(upstream.url, "err-429-7")[0].retry_after == 7
    assert failed(upstream.url, "err-413")[0].window == 4096
    assert failed(upstream.url, "finish-error")[0].retry_after == 20


def test_a_redirect_is_not_followed_with_a_key(upstream: FakeUpstream) -> None:
    error, _ = failed(upstream.url, "redirect")
    assert (error.kind, error.status) == ("bad_reply", 308)
    assert error.message == (
        "HTTP 308 redirects to https://elsewhere.example/v1/chat/completions?..., and no redirect is followed with a key: "
        "correct the endpoint's base URL"
    )


def test_an_error_that_echoes_the_request_shows_none_of_it(upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    error, _ = failed(upstream.url, "echo-secret", api_key_env="FAKE_KEY")
    shown = "Bad request to /v1/chat/completions?key=[key] with Bearer [key] and [key]: [image: data URL, 1 KB]"
    assert error.message.startswith(shown)
    assert len(error.message) == 300
    assert KEY[:6] not in str(error)
    assert "iVBOR" not in str(error)
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("base_url", "kind", "words"),
    [
        ("http://127.0.0.1:9/v1", "unavailable", "127.0.0.1:9 refused the connection"),
        ("http://me:secret@127.0.0.1:9/v1", "unavailable", "127.0.0.1:9 refused the connection"),
        ("http://255.255.255.255/v1", "unavailable", "255.255.255.255 cannot be reached: "),
        ("http://nobody.invalid/v1", "unavailable", "no address was found for nobody.invalid"),
        ("https://127.0.0.1:PORT/v1", "unavailable", "no secure connection to 127.0.0.1:PORT: "),
        ("ftp://127.0.0.1/v1", "unavailable", "not a URL that can be called"),
        ("http://[::1/v1", "unavailable", "not a URL that can be called"),
        ("http://127.0.0.1:99999/v1", "unavailable", "not a URL that can be called"),
        (f"http://{'a' * 70}.example/v1", "unavailable", "not a URL that can be called"),
        ("nowhere", "unavailable", "not a URL that can be called"),
        ("", "unavailable", "not a URL that can be called"),
    ],
)
def test_an_endpoint_that_cannot_be_reached_is_named_by_its_host(
    upstream: FakeUpstream, base_url: str, kind: str, words: str
) -> None:
    error, _ = failed(base_url.replace("PORT", str(upstream.port)), "ok")
    assert error.kind == kind
    assert words.replace("PORT", str(upstream.port)) in error.message
    for untold in ("secret", "Error", "0x", "/v1", "urllib3", "[Errno"):
        assert untold not in error.message


def test_an_upstream_that_accepts_no_connection_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(3)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        error, seconds = failed(f"http://127.0.0.1:{full.getsockname()[1]}", "ok", connect_timeout=0.3)
        for caller in waiting:
            caller.close()
    assert error.kind == "timeout"
    assert "no connection within 0.3 s" in error.message
    assert seconds < 15


def test_failing_seats_neither_block_nor_confuse_each_other(upstream: FakeUpstream) -> None:
    told: dict[str, str] = {}

    def ask(name: str) -> None:
        model = f"say-{name}" if name.isdigit() else name
        limits = {"connect_timeout": 2, "first_token_timeout": 0.4, "seat_timeout": 5}
        target = Target(protocol="openai_chat", base_url=upstream.url, model=model, **limits)
        try:
            told[name] = complete(target, QUESTION).text.strip()
        except UpstreamError as error:
            told[name] = error.kind

    names = [*map(str, range(40)), "hung-stream", "hung-headers", "drip-comments", "reset", "malformed"]
    threads = [threading.Thread(target=ask, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert {name: told[name] for name in names if name.isdigit()} == {name: name for name in names if name.isdigit()}
    assert [told[name] for name in names[40:]] == ["timeout", "timeout", "timeout", "unavailable", "bad_reply"]
