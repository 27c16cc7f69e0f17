"""A seat that has ended: its answer, what that tells of its model, and what follows from it once the answer is written down.

Limits are settled, windows learned, models cool down or retire: how, is collections_app's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.utils import timezone

from collections_app.roster import roster_keeper
from collections_app.services import quotas
from collections_app.services.findings import Finding, apply_findings, is_news
from collections_app.services.quotas import Reservation, settle
from evidence.models import Call
from gateway.chat import web_images
from gateway.redact import hide_images
from gateway.reply import SeatAnswer, Status
from gateway.upstream.contract import Completion, LimitTold, UpstreamError
from gateway.workers.job import SeatJob

# Of a failed call that never left this machine.
NOT_SENT = frozenset({"unavailable", "unauthorized", "refused"})
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """`finding` is None when nobody was asked; `reservation` is there when the call drew on limits, `tokens` what it took."""

    answer: SeatAnswer
    finding: Finding | None = None
    reservation: Reservation | None = None
    tokens: int = 0


def ended(job: SeatJob, answer: SeatAnswer, outcome: Completion | UpstreamError, reservation: Reservation | None) -> Ended:
    """Put an answer together with what else its call told."""
    asked = reservation is not None or not job.quotas
    return Ended(
        answer=answer,
        finding=_finding_of(job, outcome) if asked and job.endpoint_id else None,
        reservation=reservation,
        tokens=_tokens_taken(job, outcome),
    )


def unanswered(job: SeatJob, why: str, kind: str, seconds: float = 0.0) -> SeatAnswer:
    """The answer of a seat that nobody asked, or of which nobody knows what came."""
    return SeatAnswer(
        call=job.call,
        alias=job.alias,
        nominated=job.nominated,
        status="error",
        error=why,
        error_kind=kind,
        seconds=seconds,
        image_urls=web_images(job.messages),
    )


def answer_in(row: Call, call_id: str) -> SeatAnswer:
    """The answer as its row has it."""
    return SeatAnswer(
        call=call_id,
        alias=row.alias,
        status=cast(Status, row.status),
        nominated=row.nominated,
        answer=row.answer,
        error=row.error,
        error_kind=row.error_kind,
        reasoning=row.reasoning,
        partial=row.partial,
        finish_reason=row.finish_reason,
        served_model=row.served_model,
        seconds=row.seconds or 0.0,
        first_token_seconds=row.first_token_seconds,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        upstream_status=row.upstream_status,
        ended_as=row.ended_as,
    )


def follow_up(seats: Sequence[Ended]) -> None:
    """Act on what ended seats told. An ordinary answer of a model without limits costs no query.

    Judged by the roster as this process last read it: whoever seats nobody reads it first.
    """
    for seat in seats:
        if seat.reservation:
            settle(seat.reservation, seat.tokens)
    roster = roster_keeper().held or roster_keeper().current()
    news = [seat.finding for seat in seats if seat.finding and is_news(seat.finding, roster)]
    if news:
        apply_findings(news)
        # So that the seats which end next are judged by what these have told.
        roster_keeper().current()


def finding(
    endpoint_id: int,
    served_id: str,
    outcome: Completion | UpstreamError | None,
    *,
    request: str = "",
    tokens: int = 0,
    images: Sequence[str] = (),
) -> Finding:
    """What a call that ends now tells of what it asked; None: it was answered, in a way that tells of no limit.

    `request`, `tokens` and `images` are the call's, where it was a seat's: its panel, its estimate, its images' addresses.
    """
    limits = tuple(_to_count(limit) for limit in outcome.limits) if outcome else ()
    if not isinstance(outcome, UpstreamError):
        return Finding(endpoint_id, served_id, at=timezone.now(), request=request, tokens=tokens, limits=limits)
    return Finding(
        endpoint_id,
        served_id,
        at=timezone.now(),
        request=request,
        kind=outcome.kind,
        # Kept in rows: an upstream may have quoted the request.
        said=hide_images(outcome.message, images),
        retry_after=outcome.retry_after,
        span=outcome.span,
        pattern=outcome.pattern,
        window=outcome.window,
        output_limit=outcome.output_limit,
        tokens=tokens,
        limits=limits,
    )


def _finding_of(job: SeatJob, outcome: Completion | UpstreamError) -> Finding:
    return finding(
        job.endpoint_id,
        job.target.model,
        outcome,
        request=job.call.rpartition(".")[0] or job.call,
        tokens=job.most_tokens,
        images=web_images(job.messages),
    )


def _to_count(limit: LimitTold) -> quotas.LimitTold:
    """The same as a value of the app that counts, which knows no upstream."""
    return quotas.LimitTold(
        field=limit.field,
        limit=limit.limit,
        remaining=limit.remaining,
        reset_seconds=limit.reset_seconds,
        account=limit.account,
    )


def _tokens_taken(job: SeatJob, outcome: Completion | UpstreamError) -> int:
    """The tokens that a call took, estimated where its provider does not say."""
    if isinstance(outcome, Completion):
        written = (len(outcome.text) + len(outcome.reasoning)) // CHARACTERS_A_TOKEN
        read, wrote = outcome.input_tokens, outcome.output_tokens
        return (job.tokens if read is None else read) + (written if wrote is None else wrote)
    refused = outcome.status is not None and outcome.status >= 400
    # Of what broke off in the middle nobody knows how much was counted.
    return 0 if refused or (outcome.status is None and outcome.kind in NOT_SENT) else job.most_tokens
