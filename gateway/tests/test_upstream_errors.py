"""Providers' error replies are read for their kind, their words, their wait and their window."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urllib3 import HTTPHeaderDict

from gateway.chat import Message, TextPart
from gateway.upstream.classify import read_error
from gateway.upstream.classify.echoes import asked
from gateway.upstream.classify.notices import notice_in
from gateway.upstream.classify.waits import LONGEST_WAIT
from gateway.upstream.contract import UpstreamError

NOW = 1_795_975_200.0


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


def test_of_a_header_that_came_twice_with_two_values_neither_is_believed() -> None:
    twice = HTTPHeaderDict([("Retry-After", "5"), ("retry-after", "30")])
    assert read_error(429, twice, b"{}", now=NOW).retry_after is None


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
        ({"error": {"message": "boom", "metadata": {"raw": "boom", "provider_name": "DeepInfra"}}}, "boom (DeepInfra)"),
        ({"error": {"message": "boom", "metadata": {"provider_name": 7}}}, "boom"),
        ("boom\r\n  and bust", "boom and bust"),
        ('event: error\ndata: {"error": {"message": "boom"}}\n\n', "boom"),
        ("<!doctype html><html><title>\n A &lt;wall&gt; </title><p>secret", "a web page came instead of an answer: A <wall>"),
        ("<html></title><title>Sign in</title>", "a web page came instead of an answer: Sign in"),
        ("<html><title>Sign in", "a web page came instead of an answer"),
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
        (404, {"error": {"message": "This is not a chat model", "code": None}}, "wrong_endpoint"),
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
        (400, {"error": {"message": "This model has reached its end of life"}}, "retired"),
        (500, {"error": {"message": "Another model has reached its end of life"}}, "unavailable"),
        (404, {"error": {"message": "x", "availability": {"code": "model_unavailable_upstream"}}}, "retired"),
        (404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}, "maybe_gone"),
        (404, {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-0"}}, "maybe_gone"),
        (404, {"error": {"message": "This model is no longer available"}}, "maybe_gone"),
        (400, {"error": {"message": "a/b is not a valid model ID", "code": 400}}, "maybe_gone"),
        (400, {"error": {"message": "No model found: m:free"}}, "maybe_gone"),
        (429, {"error": {"message": "insufficient balance (1008)"}}, "maybe_gone"),
        (500, {"error": {"type": "api_error", "message": "insufficient balance (1008)"}}, "payment_required"),
        (403, {"error": {"message": "Project p does not have access to model m", "code": "model_not_found"}}, "no_access"),
        (400, {"error": {"message": "user is not allowed to access model m"}}, "no_access"),
        (404, {"error": {"message": "No endpoints found that support image input", "code": 404}}, "refused"),
        (404, {"error": {"message": "No endpoints found for a/b:free.", "code": 404}}, "not_found"),
        (404, {"error": {"message": "No endpoints found: the model was not found under your data policy"}}, "not_found"),
        (404, {"detail": "Not Found"}, "not_found"),
        (404, {"error": "No models loaded. Please load a model"}, "unavailable"),
        (400, {"error": {"message": "Use /responses", "metadata": {"error_type": "wrong_endpoint"}}}, "wrong_endpoint"),
        (404, {"error": {"message": "This model is only supported in v1/responses and not in v1/chat"}}, "wrong_endpoint"),
        (400, {"__type": "ThrottlingException", "code": "ThrottlingException", "message": "Too many tokens"}, "rate_limited"),
        (429, {"success": False, "errors": [{"code": 3040, "message": "Capacity exceeded"}]}, "overloaded"),
        (413, {"type": "error", "error": {"type": "request_too_large", "message": "x"}}, "context_too_long"),
        (400, {"error": {"message": "string too long", "code": "string_above_max_length"}}, "context_too_long"),
        (400, {"error": "prompt too long; exceeded max context length by 4 tokens"}, "context_too_long"),
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
    ("status", "code", "window"),
    [
        (400, "context_length_exceeded", 8192),
        (413, None, 8192),
        (422, "", 8192),
        (200, 400, 8192),
        (401, "context_length_exceeded", None),
        (404, "context_length_exceeded", None),
        (429, "context_length_exceeded", None),
        (500, "context_length_exceeded", None),
        (200, 500, None),
        (500, "exceed_context_size_error", 8192),
        (503, "exceed_context_size_error", None),
    ],
)
def test_a_window_is_learned_from_an_error_about_the_request_alone(status: int, code: Any, window: int | None) -> None:
    message = "This model's maximum context length is 8192 tokens."
    assert read(status, {"error": {"message": message, "code": code}}).window == window


@pytest.mark.parametrize(("n_ctx", "window"), [(256, 256), (255, None), (20_000_000, 20_000_000), (20_000_001, None)])
def test_a_window_has_bounds(n_ctx: int, window: int | None) -> None:
    error = {"message": "too large", "type": "exceed_context_size_error", "n_ctx": n_ctx}
    assert read(400, {"error": error}).window == window
    assert read(400, {"error": {"message": f"prompt is too long: 1 tokens > {n_ctx:,} maximum"}}).window == window


@pytest.mark.parametrize("n_ctx", [True, "8192", 8192.0, None, [8192]])
def test_a_window_is_a_whole_number(n_ctx: Any) -> None:
    assert read(400, {"error": {"message": "x", "type": "exceed_context_size_error", "n_ctx": n_ctx}}).window is None


def test_a_number_that_the_end_of_the_words_cuts_is_not_learned() -> None:
    message = "x " * 976 + "this model's maximum context length is 131072 tokens."
    for more in range(40):
        assert read(400, {"error": {"message": "y" * more + message}}).window in (131072, None)


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("max_tokens is too large: 9. This model supports at most 16384 completion tokens, whereas you provided 9.", 16384),
        ("max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens for claude-3", 8192),
        ("`max_tokens` must be less than or equal to `8192`, the maximum value for this model", 8192),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("Range of max_tokens should be [1, 8192]", 8192),
        ("This model supports at most 16 completion tokens", None),
    ],
)
def test_an_output_limit_is_read_and_is_no_window(message: str, limit: int | None) -> None:
    error = read(400, {"error": {"message": message}})
    assert (error.kind, error.output_limit, error.window) == ("output_limit", limit, None)


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
        "Input length (5000) exceeds model's maximum context length (4096).",
        "Requested token count exceeds the model's maximum context length of 4096 tokens",
        "Input length 5000 exceeds the maximum allowed input length of 4096 tokens.",
        "Prompt has 5000 tokens, but the configured context size is 4096 tokens",
        "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 9",
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


# What a reader could be slow at: each would be read again from each of its places.
SLOW = {
    "words": b"retry in reset wait available model prompt token limit " * 1_200,
    "resets": b"reset" * 12_800,
    "digits": b"wait " + b"1" * 64_000,
    "spaces": b"retry" + b" " * 64_000 + b"x",
    "titles": b"<html><title" + b"<title" * 10_600,
    "open-titles": b"<html>" + b"<title>" * 9_100,
    "quotes": b'"' * 64_000,
    "escapes": b'"' + b"\\" * 63_000,
    "backticks": b"`max_tokens" * 5_800,
    "durations": b"try again in " + b"1s " * 21_000 + b"x",
    "commas": b"maximum context length is " + b"1," * 32_000,
    "limits": b"limit of 1 requests per " * 2_600,
    "models": b"model models " * 4_900,
    "urls": b"http://" * 9_100,
    "lines": b"\n" * 64_000,
    "events": b"data: {" * 9_100,
    "open-lists": b"[" * 64_000,
    "objects": b'{"error":' * 7_100,
    "fields": json.dumps({"error": {f"k{at}": "retry in" for at in range(3_000)}}).encode(),
    "codes": json.dumps({"error": [{"code": "a" * 60, "retry_after": "x" * 60}] * 400}).encode(),
    "quotas": json.dumps({"error": {"details": [{"violations": [{"quotaId": "GenerateRequests" * 3_900}]}]}}).encode(),
    "headers": json.dumps(
        {"error": {"message": "per day", "metadata": {"headers": {f"x-{at}": 1 for at in range(4_000)}}}}
    ).encode(),
}


@pytest.mark.parametrize("name", SLOW)
def test_no_body_takes_long_to_read(name: str) -> None:
    body = SLOW[name][:64_000]
    inside = json.dumps({"error": {"message": body.decode()}}).encode()
    for status in (400, 429):
        for sent in (body, inside):
            assert any(_seconds(status, sent) < 0.5 for _ in range(3))


def _seconds(status: int, body: bytes) -> float:
    started = time.process_time()
    read_error(status, {"retry-after": "x" * 64_000}, body)
    return time.process_time() - started


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


def test_a_notice_tells_of_its_wait() -> None:
    short, day = notice_in("Rate limit exceeded. Try again in 20 seconds."), notice_in("Daily limit reached!")
    assert short is not None and day is not None
    assert (short.retry_after, short.span) == (20, "")
    assert day.span == "day"
    assert 0 < (day.retry_after or 0) <= LONGEST_WAIT


def test_a_notice_that_was_asked_for_is_an_answer() -> None:
    notice = "Rate limit exceeded. Try again in 20 seconds."
    with asked((Message("user", (TextPart(f"Answer with nothing but: {notice}"),)),)):
        assert notice_in(f"{notice}\n") is None
    assert notice_in(notice) is not None


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
