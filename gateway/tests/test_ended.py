"""A seat that has ended: what it took of its limits, and what its call tells of the model."""

from typing import Any

import pytest
from django.utils import timezone

from collections_app.models.health import Quota
from collections_app.services.quotas import Reservation
from gateway.chat import ImagePart, Message
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Completion, LimitTold, Target, UpstreamError
from gateway.workers.ended import Ended, ended
from gateway.workers.job import SeatJob

URL = "https://u:pw@photos.example/a.jpg?sig=SECRET"
ANSWER = SeatAnswer(call="p1.member1", alias="a", status="ok")
QUOTA = Quota(pattern="m", tokens_per_day=10_000)


def job(quotas: tuple[Quota, ...] = (QUOTA,), **options: Any) -> SeatJob:
    target = Target(
        protocol="openai_chat",
        base_url="",
        model="m",
        options=options,
        connect_timeout=1,
        first_token_timeout=1,
        seat_timeout=1,
    )
    messages = (Message("user", (ImagePart(URL),)),)
    return SeatJob(call="p1.member1", alias="a", target=target, messages=messages, endpoint_id=1, tokens=100, quotas=quotas)


def of(outcome: Completion | UpstreamError, asked: SeatJob | None = None) -> Ended:
    asked = asked or job(max_tokens=50)
    return ended(asked, ANSWER, outcome, Reservation(claim=asked.claim, at=timezone.now()))


@pytest.mark.parametrize(
    ("outcome", "tokens"),
    [
        (Completion(text="Yes.", input_tokens=7, output_tokens=5), 12),
        (Completion(text="y" * 40, reasoning="r" * 20, input_tokens=7), 22),
        (Completion(text="y" * 40, output_tokens=5), 105),
        (Completion(text="y" * 40), 110),
        # Refused, or never sent: nothing was taken.
        (UpstreamError("slow down", kind="rate_limited", status=429), 0),
        (UpstreamError("the name cannot be resolved", kind="unavailable"), 0),
        (UpstreamError("no key", kind="unauthorized"), 0),
        # Broken off: nobody knows, and the estimate stands.
        (UpstreamError("no token for 120 s", kind="timeout"), 150),
        (UpstreamError("the stream ended early", kind="bad_reply", status=200), 150),
    ],
)
def test_what_a_call_took_is_what_its_provider_says_or_the_nearest_guess(
    outcome: Completion | UpstreamError, tokens: int
) -> None:
    assert of(outcome).tokens == tokens


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({}, 100),
        ({"max_tokens": 50}, 150),
        ({"max_completion_tokens": 60, "max_tokens": 50}, 160),
        ({"num_predict": -1}, 100),
        ({"max_tokens": None}, 100),
        ({"max_tokens": True}, 100),
    ],
)
def test_a_claim_is_for_the_prompt_and_the_longest_answer_that_is_asked_for(options: dict[str, Any], tokens: int) -> None:
    assert job(**options).claim.tokens == tokens


def test_a_finding_is_what_the_call_told_and_nothing_of_an_image() -> None:
    error = UpstreamError(
        f"cannot load {URL}",
        kind="rate_limited",
        status=429,
        retry_after=9.0,
        span="day",
        pattern="*:free",
        limits=(LimitTold(field="requests_per_day", limit=50, remaining=0, reset_seconds=60.0, account=True),),
    )
    finding = of(error).finding
    assert finding
    assert (finding.endpoint_id, finding.served_id, finding.request, finding.kind) == (1, "m", "p1", "rate_limited")
    assert (finding.retry_after, finding.span, finding.pattern, finding.tokens) == (9.0, "day", "*:free", 150)
    assert finding.said == "cannot load [image: https://photos.example/a.jpg?...]"
    (limit,) = finding.limits
    assert (limit.field, limit.limit, limit.remaining, limit.reset_seconds, limit.account) == (
        "requests_per_day",
        50,
        0,
        60.0,
        True,
    )


def test_who_was_not_asked_tells_nothing() -> None:
    held_back = UpstreamError("not asked: its limit is used up", kind="rate_limited", retry_after=60.0)
    assert ended(job(), ANSWER, held_back, None).finding is None
    assert ended(job(quotas=()), ANSWER, held_back, None).finding is not None
