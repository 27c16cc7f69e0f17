"""What replies tell of limits: on answers and errors, in headers and bodies, and how long a limit that was hit holds."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.tests.native_upstream import NativeUpstream, Scripted
from gateway.upstream.classify import read_error
from gateway.upstream.classify.header_limits import limits_in_headers
from gateway.upstream.contract import LimitTold, UpstreamError

NOW = datetime(2026, 11, 29, 18, tzinfo=UTC).timestamp()
HOUR, DAY = 3_600.0, 86_400.0
ANSWER = b'{"choices": [{"message": {"content": "42"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}'
STREAM = b'data: {"choices": [{"delta": {"content": "42"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
IN_STREAM = b'data: {"choices": [{"delta": {"content": "4"}}]}\n\ndata: {"error": {"code": 429, "message": "Slow down"}}\n\n'
TPM = {
    "message": "Rate limit reached for model `m` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443.",
    "code": "rate_limit_exceeded",
}
HEADERS = {
    "X-RateLimit-Limit-Requests": "500",
    "X-RateLimit-Remaining-Requests": "499",
    "X-RateLimit-Reset-Requests": "120ms",
    "X-RateLimit-Limit-Tokens": "6000",
    "X-RateLimit-Reset-Tokens": "9.66s",
}
PER_MINUTE = LimitTold(field="requests_per_minute", limit=500, remaining=499, reset_seconds=0.12)
TOKENS = LimitTold(field="tokens_per_minute", limit=6000, reset_seconds=9.66)
REPLIES = {
    "whole": Scripted(ANSWER, headers=HEADERS),
    "streamed": Scripted(STREAM, headers=HEADERS),
    "silent": Scripted(ANSWER),
    "nothing": Scripted(ANSWER, headers={"x-ratelimit-limit-requests": "0", "x-ratelimit-remaining-requests": "0"}),
    "refused": Scripted(json.dumps({"error": TPM}).encode(), 429, HEADERS),
    "in-stream": Scripted(IN_STREAM, headers={**HEADERS, "Content-Type": "text/event-stream"}),
    "in-200": Scripted(b'{"error": {"code": 429, "message": "Slow down"}}', headers=HEADERS),
    "outside-the-plan": Scripted(b'{"message": "Rate limit exceeded"}', 429, {"x-ratelimit-limit-req-minute": "0"}),
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[NativeUpstream]:
    with NativeUpstream("openai_chat", REPLIES) as server:
        yield server


def failed(upstream: NativeUpstream, model: str) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        upstream.ask(model)
    return caught.value


def read(status: int, body: Any, **headers: str) -> UpstreamError:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return read_error(status, {name.replace("_", "-"): value for name, value in headers.items()}, data, now=NOW)


def told(headers: Mapping[str, str], url: str = "https://llm.example/v1") -> list[LimitTold]:
    return list(limits_in_headers(headers, url=url, now=NOW))


@pytest.mark.parametrize("model", ["whole", "streamed"])
def test_an_answer_tells_of_limits(upstream: NativeUpstream, model: str) -> None:
    completion = upstream.ask(model)
    assert completion.text == "42"
    assert completion.limits == (PER_MINUTE, TOKENS)


@pytest.mark.parametrize("model", ["silent", "nothing"])
def test_an_answer_without_such_headers_or_with_a_limit_of_none_tells_of_no_limit(upstream: NativeUpstream, model: str) -> None:
    assert upstream.ask(model).limits == ()


@pytest.mark.parametrize("model", ["in-stream", "in-200"])
def test_an_error_inside_a_200_tells_of_its_replys_limits_too(upstream: NativeUpstream, model: str) -> None:
    error = failed(upstream, model)
    assert (error.kind, error.limits) == ("rate_limited", (PER_MINUTE, TOKENS))


def test_an_errors_words_come_before_its_headers_and_are_completed_by_them(upstream: NativeUpstream) -> None:
    error = failed(upstream, "refused")
    assert error.span == "minute"
    assert error.limits == (
        LimitTold(field="tokens_per_minute", limit=6000, remaining=966, reset_seconds=9.66),
        PER_MINUTE,
    )


def test_a_rate_of_none_is_a_model_outside_the_plan(upstream: NativeUpstream) -> None:
    error = failed(upstream, "outside-the-plan")
    assert (error.kind, error.retry_after, error.limits) == ("payment_required", None, ())


@pytest.mark.parametrize(
    ("url", "headers", "limits"),
    [
        (
            "https://api.groq.com/openai/v1",
            {
                "x-ratelimit-limit-requests": "14400",
                "x-ratelimit-remaining-requests": "14370",
                "x-ratelimit-reset-requests": "2m59.56s",
                "x-ratelimit-limit-tokens": "18000",
                "x-ratelimit-remaining-tokens": "17997",
                "x-ratelimit-reset-tokens": "7.66ms",
            },
            [("requests_per_day", 14400, 14370, 179.56), ("tokens_per_minute", 18000, 17997, 0.00766)],
        ),
        (
            "https://api.cerebras.ai/v1",
            {
                "x-ratelimit-limit-requests-day": "1000000000",
                "x-ratelimit-remaining-requests-day": "999999999",
                "x-ratelimit-reset-requests-day": "33011.382867",
                "x-ratelimit-limit-tokens-minute": "1000000000",
                "x-ratelimit-reset-tokens-minute": "11.3",
                "x-ratelimit-limit-requests-hour": "900",
            },
            [("requests_per_day", 1_000_000_000, 999_999_999, 33011.382867), ("tokens_per_minute", 1_000_000_000, None, 11.3)],
        ),
        (
            "https://api.anthropic.com/v1",
            {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2026-11-29T18:00:14Z",
                "anthropic-ratelimit-tokens-limit": "40000",
                "anthropic-ratelimit-input-tokens-limit": "30000",
            },
            [("requests_per_minute", 50, 49, 14.0), ("tokens_per_minute", 40000, None, None)],
        ),
        (
            "https://api.mistral.ai/v1",
            {
                "x-ratelimit-limit-req-minute": "60",
                "x-ratelimit-remaining-req-minute": "59",
                "x-ratelimit-limit-tokens-month": "9",
            },
            [("requests_per_minute", 60, 59, None)],
        ),
        (
            "https://api.sambanova.ai/v1",
            {
                "x-ratelimit-limit-requests": "60",
                "x-ratelimit-limit-requests-day": "1000",
                "x-ratelimit-reset-requests-day": "1795980000",
            },
            [("requests_per_minute", 60, None, None), ("requests_per_day", 1000, None, 4800.0)],
        ),
        (
            "https://api.cohere.ai/compatibility/v1",
            {
                "x-trial-endpoint-call-limit": "20",
                "x-trial-endpoint-call-remaining": "19",
                "x-endpoint-monthly-call-limit": "1000",
            },
            [("requests_per_minute", 20, 19, None)],
        ),
        (
            "https://api-inference.modelscope.cn/v1",
            {"modelscope-ratelimit-model-requests-limit": "500", "modelscope-ratelimit-model-requests-remaining": "499"},
            [("requests_per_day", 500, 499, None)],
        ),
        # A provider that is not known: a reset after more than a minute is of no minute, and of which span nobody says.
        (
            "https://llm.example/v1",
            {
                "x-ratelimit-limit-requests": "14400",
                "x-ratelimit-reset-requests": "1m26.4s",
                "x-ratelimit-limit-tokens": "6000",
            },
            [("tokens_per_minute", 6000, None, None)],
        ),
    ],
)
def test_headers_are_read_as_their_provider_means_them(
    url: str, headers: dict[str, str], limits: list[tuple[Any, ...]]
) -> None:
    read_as = [(limit.field, limit.limit, limit.remaining, limit.reset_seconds) for limit in told(headers, url)]
    assert read_as == [
        (field, most, left, reset if reset is None else pytest.approx(reset)) for field, most, left, reset in limits
    ]


def test_a_limit_of_the_whole_account_is_told_from_the_models_own() -> None:
    whole, own = told({"modelscope-ratelimit-requests-limit": "2000", "modelscope-ratelimit-model-requests-limit": "500"})
    assert (whole.limit, whole.account, own.limit, own.account) == (2000, True, 500, False)


@pytest.mark.parametrize("value", ["", "-1", "many", "1e9", "100, 100;w=60", "9" * 40, "0x10", "1.5", "\N{SUPERSCRIPT TWO}"])
def test_a_header_that_holds_no_number_tells_nothing(value: str) -> None:
    assert told({"x-ratelimit-limit-requests": value, "x-ratelimit-remaining-requests": value}) == []
    assert told({"x-ratelimit-limit-requests": "5", "x-ratelimit-remaining-requests": value}) == [
        LimitTold(field="requests_per_minute", limit=5)
    ]


@pytest.mark.parametrize("reset", ["", "soon", "9" * 400, "9" * 90, "4000000000", "-5", "x" * 5_000])
def test_a_reset_that_is_no_time_is_left_out(reset: str) -> None:
    limits = told({"x-ratelimit-limit-requests-day": "5", "x-ratelimit-reset-requests-day": reset})
    assert limits == [LimitTold(field="requests_per_day", limit=5)]


def test_a_moment_that_has_passed_is_no_negative_time() -> None:
    headers = {"anthropic-ratelimit-requests-limit": "5", "anthropic-ratelimit-requests-reset": "2026-11-29T17:59:00Z"}
    assert told(headers) == [LimitTold(field="requests_per_minute", limit=5, reset_seconds=0.0)]


@pytest.mark.parametrize("status", [413, 429])
def test_what_is_too_large_for_a_minute_is_too_large_and_no_window(status: int) -> None:
    words = "Request too large for model `m` on tokens per minute (TPM): Limit 6,000, Requested 12328, please reduce it."
    error = read(status, {"error": {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}}, Retry_After="5")
    assert (error.kind, error.window, error.retry_after) == ("context_too_long", None, None)
    assert error.limits == (LimitTold(field="tokens_per_minute", limit=6000),)


def gemini(*violations: tuple[str, str]) -> dict[str, Any]:
    quotas = [{"quotaId": name, "quotaValue": value} for name, value in violations]
    details = [{"@type": "QuotaFailure", "violations": quotas}, {"@type": "RetryInfo", "retryDelay": "38s"}]
    return {"error": {"code": 429, "message": "You exceeded your current quota.", "details": details}}


def test_a_geminis_quotas_are_read_by_their_ids() -> None:
    error = read(
        429,
        gemini(
            ("GenerateContentInputTokensPerModelPerMinute-FreeTier", "250000"),
            ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "20"),
        ),
    )
    assert (error.span, error.retry_after) == ("day", 14 * HOUR)
    assert error.limits == (
        LimitTold(field="tokens_per_minute", limit=250_000),
        LimitTold(field="requests_per_day", limit=20, remaining=0, reset_seconds=14 * HOUR),
    )
    minute = read(429, gemini(("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "5")))
    assert (minute.kind, minute.span, minute.retry_after) == ("rate_limited", "minute", 38)


@pytest.mark.parametrize("words", ["", " * Quota exceeded for metric: free_tier_requests, limit: 0, model: gemini-pro"])
def test_a_gemini_quota_of_none_is_a_model_outside_the_free_tier(words: str) -> None:
    body = gemini(("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "0"))
    body["error"]["message"] += words
    error = read(429, body)
    assert (error.kind, error.span, error.retry_after, error.limits) == ("payment_required", "", None, ())


@pytest.mark.parametrize(
    ("status", "message", "span", "pattern", "wait"),
    [
        (429, "Rate limit exceeded: free-models-per-min. ", "minute", "*:free", None),
        (429, "Rate limit exceeded: free-models-per-day. Please try again in 5s", "day", "*:free", 6 * HOUR),
        (402, "You have exceeded your monthly included credits for Inference Providers.", "month", "*", DAY),
        (429, "You are using a Trial key, which is limited to 1000 API calls / month.", "month", "*", DAY),
        (402, "Insufficient Balance", "", "*", None),
        (400, "Your credit balance is too low to access the API.", "", "*", None),
        # With what is free, an account without money goes on.
        (402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits", "", "", None),
        (429, "Rate limit reached on requests per day (RPD): Limit 9, Used 9, Requested 1.", "day", "", 6 * HOUR),
        (429, "Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 7 seconds", "minute", "", 7),
        (429, "Requests per day limit exceeded - too many requests sent.", "day", "", 6 * HOUR),
        (429, "Tokens per minute limit exceeded - too many tokens processed.", "minute", "", None),
        (429, "We're experiencing high traffic right now! Please try again soon.", "", "", None),
        (429, "Rate limit of 1 per 0s exceeded for UserConcurrentRequests.", "", "", None),
        # Groq's advertisement is no span.
        (429, "Rate limit reached. Need more tokens? Upgrade to Dev Tier today", "", "", None),
    ],
)
def test_how_long_a_limit_holds_and_for_whom(status: int, message: str, span: str, pattern: str, wait: float | None) -> None:
    error = read(status, {"error": {"message": message}})
    assert (error.span, error.pattern, error.retry_after) == (span, pattern, wait)


@pytest.mark.parametrize("body", ["", "<html><title>429 Too Many Requests</title>", "Too Many Requests"])
def test_a_429_that_says_nothing_of_a_wait_tells_none(body: str) -> None:
    error = read(429, body)
    assert (error.kind, error.retry_after, error.span, error.pattern, error.limits) == ("rate_limited", None, "", "", ())


@pytest.mark.parametrize(
    ("moment", "message", "wait"),
    [
        (datetime(2026, 11, 29, 23, 59, 30, tzinfo=UTC), "the daily limit", 30),
        (datetime(2026, 11, 30, 0, 0, 0, tzinfo=UTC), "the daily limit", DAY),
        (datetime(2026, 11, 30, 23, 0, tzinfo=UTC), "1000 calls per month", HOUR),
        (datetime(2026, 12, 31, 23, 30, tzinfo=UTC), "1000 calls per month", HOUR / 2),
        (datetime(2028, 2, 29, 12, 0, tzinfo=UTC), "1000 calls per month", 12 * HOUR),
    ],
)
def test_a_day_ends_at_midnight_and_a_month_with_its_last(moment: datetime, message: str, wait: float) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    assert read_error(429, {}, body, now=moment.timestamp()).retry_after == wait


@pytest.mark.parametrize(
    ("moment", "wait"),
    [
        (datetime(2026, 7, 1, 6, 0, tzinfo=UTC), HOUR),
        (datetime(2026, 12, 1, 7, 0, tzinfo=UTC), HOUR),
        # The night in which the clocks go back has an hour more, and one that would end after a day ends after a day.
        (datetime(2026, 11, 1, 6, 58, tzinfo=UTC), 120),
        (datetime(2026, 11, 1, 8, 0, tzinfo=UTC), DAY),
        (datetime(2026, 11, 2, 6, 0, tzinfo=UTC), 2 * HOUR),
    ],
)
def test_geminis_day_ends_in_california(moment: datetime, wait: float) -> None:
    body = json.dumps(gemini(("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "20"))).encode()
    assert read_error(429, {}, body, now=moment.timestamp()).retry_after == wait


def test_a_longer_wait_than_until_midnight_is_believed() -> None:
    assert read(429, {"error": {"message": "the daily limit"}}, Retry_After="30000").retry_after == 30_000
