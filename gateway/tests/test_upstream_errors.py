"""Providers' error replies are read for their kind, their words, their wait and their window."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.upstream.classify import read_error
from gateway.upstream.classify.notices import notice_in
from gateway.upstream.classify.waits import LONGEST_WAIT, seconds_in
from gateway.upstream.contract import UpstreamError

NOW = 1_795_975_200.0
VECTORS = Path(__file__).parents[3] / "shared" / "data" / "error_vectors.json"
# The vectors' finer kinds, as the kinds that a seat reports.
KINDS = {
    "context": "context_too_long",
    "rate": "rate_limited",
    "paid": "payment_required",
    "no_access": "not_found",
    "maybe_gone": "not_found",
    "gone": "retired",
    "output_limit": "refused",
    "wrong_endpoint": "refused",
    "filtered": "refused",
    "bad_request": "refused",
    "html": "bad_reply",
    "overloaded": "overloaded",
}


def read(status: int, body: Any, **headers: str) -> UpstreamError:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return read_error(status, {name.replace("_", "-"): value for name, value in headers.items()}, data, now=NOW)


def test_an_openai_error_is_read() -> None:
    error = read(
        429,
        {"error": {"message": "Rate limit reached for gpt-x", "type": "requests", "code": "rate_limit_exceeded"}},
        Retry_After="20",
    )
    assert (error.kind, error.message, error.status) == ("rate_limited", "Rate limit reached for gpt-x", 429)
    assert (error.retry_after, error.window) == (20, None)


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not on this machine")
def test_the_shared_vectors_are_read_as_expected() -> None:
    vectors = json.loads(VECTORS.read_text())
    read_as, expected = {}, {}
    for vector in vectors["errors"]:
        body = vector["body"].encode() if isinstance(vector["body"], str) else json.dumps(vector["body"]).encode()
        error = read_error(vector["status"], vector.get("headers", {}), body, now=vectors["now"])
        told = {"kind": error.kind, "window": error.window, "retry_after": error.retry_after, "message": error.message}
        wanted = {name: value for name, value in vector["expect"].items() if name in told}
        wanted["kind"] = KINDS[wanted["kind"]]
        if wanted.get("message", "") in error.message:
            wanted["message"] = error.message
        read_as[vector["name"]] = {name: told[name] for name in wanted}
        expected[vector["name"]] = wanted
    assert read_as == expected
    assert len(expected) > 50


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not on this machine")
def test_the_shared_durations_are_read_as_expected() -> None:
    durations = json.loads(VECTORS.read_text())["durations"]
    assert {text: seconds_in(text) for text in durations} == pytest.approx(durations)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "boom", "code": None}}, "boom"),
        ({"error": "boom"}, "boom"),
        ({"error": '{"message": "boom", "code": 400}'}, "boom"),
        ({"error": "{not json"}, "{not json"),
        ({"error": {"code": 400}, "message": "boom"}, "boom"),
        ({"object": "error", "message": "boom"}, "boom"),
        ({"message": "boom"}, "boom"),
        ({"type": "error", "error": {"type": "x", "message": "boom"}}, "boom"),
        ([{"error": {"message": "boom"}}], "boom"),
        ({"detail": "boom"}, "boom"),
        (
            {"detail": [{"loc": ["body", "stream_options"], "msg": "not permitted", "input": {"message": "secret"}}]},
            "not permitted",
        ),
        ({"message": {"detail": [{"loc": ["body", "model"], "msg": "boom"}]}}, "model: boom"),
        ({"success": False, "errors": [{"code": 5, "message": "boom"}, {"code": 6, "message": "bang"}]}, "boom; bang"),
        ({"title": "Gone", "detail": "boom", "status": 400}, "boom"),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "boom"}}}, "Provider returned error: boom"),
        ("boom\r\n  and bust", "boom and bust"),
        ('event: error\ndata: {"error": {"message": "boom"}}\n\n', "boom"),
        ("<!doctype html><html><title>\n A &lt;wall&gt; </title><p>secret", "a web page came instead of an answer: A <wall>"),
        ("<html><body>secret</body></html>", "a web page came instead of an answer"),
        ("", "HTTP 400 Bad Request, without a word of explanation"),
        ({}, "HTTP 400 Bad Request, without a word of explanation"),
        ({"error": {"a": {"b": [1, None, {"c": {}}]}}}, "HTTP 400 Bad Request, without a word of explanation"),
    ],
)
def test_words_are_found_in_every_shape_of_body(body: Any, words: str) -> None:
    message = read(400, body).message
    assert message == words or message == f"stream_options: {words}"
    assert "secret" not in message


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            400,
            {"error": {"message": "API key not valid. Please pass a valid API key."}},
            "unauthorized",
        ),
        (400, {"error": {"message": "Your credit balance is too low to access the API"}}, "payment_required"),
        (400, {"detail": "Function id 'x': DEGRADED function cannot be invoked"}, "overloaded"),
        (400, {"error": {"message": "context window exceeds limit (2013)"}}, "context_too_long"),
        (400, {"error": {"message": "The model has been decommissioned", "code": "model_decommissioned"}}, "retired"),
        (402, "", "payment_required"),
        (403, {"error": {"message": "Your request was flagged by moderation"}}, "refused"),
        (
            403,
            {"error": {"message": "x", "code": "AllocationQuota.FreeTierOnly"}},
            "payment_required",
        ),
        (403, "<html><title>Attention Required! | Cloudflare</title>", "unavailable"),
        (404, "<html><title>404 Not Found</title>", "not_found"),
        (404, {"error": {"message": "This is not a chat model", "code": None}}, "refused"),
        (408, "", "timeout"),
        (410, "", "retired"),
        (
            413,
            {"error": {"message": "(TPM): Limit 6000, Requested 12328", "code": "rate_limit_exceeded"}},
            "context_too_long",
        ),
        (418, "", "refused"),
        (422, {"detail": [{"msg": "x", "loc": ["body"], "input": {"code": "insufficient_quota"}}]}, "refused"),
        (429, "", "rate_limited"),
        (429, "<html><title>Too Many</title>", "rate_limited"),
        (429, {"message": "Too many tokens, please wait before trying again."}, "rate_limited"),
        (
            429,
            {"error": {"message": "Quota exceeded, limit: 0, model: gemini-pro"}},
            "payment_required",
        ),
        (500, {"error": {"message": "image input is not supported", "type": "server_error"}}, "refused"),
        (500, {"error": {"message": "It broke", "type": "server_error"}}, "unavailable"),
        (500, {"error": {"message": "The model is overloaded"}}, "overloaded"),
        (503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, "overloaded"),
        (504, "", "timeout"),
        (524, "<html><title>A timeout occurred</title>", "overloaded"),
        (200, {"error": {"message": "x", "code": 502}}, "overloaded"),
        (200, {"error": {"message": "x", "status": "RESOURCE_EXHAUSTED"}}, "rate_limited"),
        (200, {"error": {"message": "x", "type": "invalid_request_error"}}, "refused"),
        (200, {"error": "something else"}, "bad_reply"),
    ],
)
def test_kinds_are_told_apart(status: int, body: Any, kind: str) -> None:
    assert read(status, body).kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "context window exceeds limit (2013)",
        "This model's maximum context length is 12 tokens.",
        "This model's maximum context length is 99999999999999999999 tokens.",
        "Request too large on tokens per minute (TPM): maximum context length is 6000 tokens",
        'Invalid content: "Please explain why an API would say that its maximum context length is 4096 tokens, in brief"',
    ],
)
def test_a_window_is_not_learned_from_everything_with_a_number(message: str) -> None:
    assert read(400, {"error": {"message": message}}).window is None


@pytest.mark.parametrize(
    "message",
    [
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 10 `max_new_tokens`",
        "Requested tokens (5000) exceed context window of 4096",
        "This model's maximum prompt length is 4096 but the request contains 5000 tokens.",
        "prompt token count of 5000 exceeds the limit of 4096",
        "Request body too large for gpt-x model. Max size: 4096 tokens.",
        "`inputs` must have less than 4,096 tokens. Given: 5000",
        "This endpoint's maximum context length is 4096 tokens. However, you requested about 5000 tokens",
    ],
)
def test_a_window_is_read_from_each_providers_words(message: str) -> None:
    error = read(400, {"error": {"message": message}})
    assert (error.kind, error.window) == ("context_too_long", 4096)


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"retry_after_ms": "850", "retry_after": "20"}, "", 0.85),
        ({"Retry_After": "20"}, {"error": {"message": "try again in 5s"}}, 20),
        ({"Retry_After": "Sun, 29 Nov 2026 18:00:30 GMT"}, "", 30),
        ({"Retry_After": "Sun, 29 Nov 2026 17:00:00 GMT"}, "", 0),
        ({"Retry_After": "9" * 30}, "", LONGEST_WAIT),
        ({"Retry_After": "soon"}, {"error": {"message": "Please retry in 38.2s"}}, 38.2),
        ({}, {"error": {"message": "x", "details": [{"retryDelay": "38s"}]}}, 38),
        ({}, {"error": {"message": "x"}, "availability": {"retry_after": 17}}, 17),
        ({}, {"error": {"message": "x", "metadata": {"headers": {"X-RateLimit-Reset": "1795975260000"}}}}, 60),
        ({}, {"error": {"message": "Please wait 40216 seconds before retrying."}}, 40216),
        ({}, {"error": {"message": "Please try again in 1 hour and 2 minutes."}}, 3720),
        ({}, {"error": {"message": "Please try again in 5 messages."}}, None),
        ({}, {"error": {"message": "You sent 20 requests in 5 minutes"}}, None),
        ({"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "1m26.4s"}, "", 86.4),
        ({"x_ratelimit_remaining_requests": "3", "x_ratelimit_reset_requests": "1m26.4s"}, "", None),
        ({"anthropic_ratelimit_tokens_remaining": "0", "anthropic_ratelimit_tokens_reset": "2026-11-29T18:00:14Z"}, "", 14),
        ({"x_ratelimit_remaining_tokens_minute": "0", "x_ratelimit_reset_tokens_minute": "1795975230"}, "", 30),
        ({}, "", None),
    ],
)
def test_a_wait_is_read_in_order_of_trust(headers: dict[str, str], body: Any, wait: float | None) -> None:
    assert read(429, body, **headers).retry_after == (wait if wait is None else pytest.approx(wait))


def test_a_wait_is_no_ones_business_where_waiting_does_not_help() -> None:
    assert read(401, "", Retry_After="20").retry_after is None


def test_words_are_redacted_before_they_are_cut() -> None:
    key = "sk-" + "a1" * 40
    message = read(400, {"error": {"message": "x" * 1_990 + f" {key} https://a.example/?q={key}"}}).message
    assert key[:12] not in message


@given(
    st.integers(100, 599), st.binary(max_size=200), st.dictionaries(st.sampled_from(["retry-after", "x-remaining"]), st.text())
)
def test_no_reply_whatever_breaks_the_reader(status: int, body: bytes, headers: dict[str, str]) -> None:
    for data in (body, b"{" + body, b"<title>" + body, b'{"error": ' + body + b"}"):
        error = read_error(status, headers, data)
        assert error.message
        assert error.retry_after is None or 0 <= error.retry_after <= LONGEST_WAIT


def test_a_body_of_any_depth_is_read() -> None:
    assert read(400, "[" * 100_000).message.startswith("[[")
    assert read(400, '{"error":' * 5_000 + '"boom"' + "}" * 5_000).kind == "refused"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The account behind this API key doesn't have enough credits. Please top up (https://x.example).", "payment_required"),
        ("⚠️ **Error 402**: Insufficient balance. Please recharge your account.", "payment_required"),
        ("Payment required", "payment_required"),
        ("You have exceeded your current quota, please check your plan and billing details.", "payment_required"),
        ("Sorry, you've run out of free credits.", "payment_required"),
        ("Rate limit exceeded. Try again in 20 seconds.", "rate_limited"),
        ("You have reached your daily message limit. Upgrade to continue.", "rate_limited"),
        ("Daily limit reached!", "rate_limited"),
    ],
)
def test_a_notice_that_comes_as_an_answer_is_a_failure(text: str, kind: str) -> None:
    error = notice_in(text)
    assert error is not None
    assert error.kind == kind
    assert "?" not in error.message


@pytest.mark.parametrize(
    "text",
    [
        "Insufficient balance: the check in withdraw() compares the wrong variable.",
        "Too many requests hit the cache at once; please add a lock.",
        "Rate limit exceeded means that you sent more than your plan allows.",
        "A 429 says: rate limit exceeded. Try again later.",
        "You have exceeded the budget of three sentences.",
        "No. The payment required field is optional.",
        "Rate limit exceeded. " + "Here is why, at length. " * 30,
        "Your daily limit of sugar is 50 g.",
        "",
    ],
)
def test_an_answer_about_such_notices_is_an_answer(text: str) -> None:
    assert notice_in(text) is None
