"""One seat, asked: the one function that every worker pool runs, in a thread or on another machine.

Never raises for a failed call: a failed seat is an answer.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from collections_app.services.quotas import Reservation
from gateway.chat import web_images
from gateway.redact import hide_images
from gateway.reply import SeatAnswer
from gateway.telemetry.endings import seat_ended
from gateway.telemetry.metrics import ASKING
from gateway.upstream import complete
from gateway.upstream.answer.showing import AnswerAsItComes
from gateway.upstream.contract import Completion, Delta, UpstreamError
from gateway.workers.ended import Ended, ended
from gateway.workers.job import SeatJob
from gateway.workers.key_ring import KeyRing
from gateway.workers.turnstile import Turnstile

logger = logging.getLogger(__name__)
Recorded = TypeVar("Recorded")
OnText = Callable[[str], None]


def run_seat(
    job: SeatJob,
    keys: KeyRing,
    turnstile: Turnstile,
    *,
    record: Callable[[Ended], Recorded],
    on_text: OnText | None = None,
) -> Recorded:
    """Ask one seat, hand what came of it to `record`, and return what that returns. `on_text` gets its text as it comes."""
    began = time.time()
    with ASKING.track_inprogress():
        seat = ask_seat(job, keys, turnstile, on_text)
    seat_ended(job, seat.answer, began)
    return record(seat)


def ask_seat(job: SeatJob, keys: KeyRing, turnstile: Turnstile, on_text: OnText | None = None) -> Ended:
    """Ask one seat when its limits have room for it. What its provider was waited for counts, its turn does not."""
    reservation: Reservation | None = None
    outcome: Completion | UpstreamError
    started = time.perf_counter()
    try:
        reservation = turnstile.reserve(job.claim)
        started = time.perf_counter()
        outcome = complete(
            job.target,
            job.messages,
            typed_key=partial(keys.key_for, job.target),
            on_delta=_text_only(on_text) if on_text else None,
        )
    except UpstreamError as error:
        # Without the frames that it came through: they hold the request's bytes, and this one among them holds the error.
        outcome = error.with_traceback(None)
    except Exception:
        # The seat's last boundary: whatever is wrong in here, the panel must still end and say so. No prompt in the log.
        logger.exception("Asking seat %s failed inside the gateway", job.call)
        outcome = UpstreamError("the gateway failed while asking; its log says why", kind="bad_reply")
    seconds = time.perf_counter() - started
    answer = _failed(job, outcome, seconds) if isinstance(outcome, UpstreamError) else _answered(job, outcome, seconds)
    return ended(job, answer, outcome, reservation)


def for_the_log(answer: SeatAnswer) -> SeatAnswer:
    """The answer as it may be written down: a model may have echoed an image, or what gives access to one."""
    told = [answer.answer, answer.partial, answer.reasoning, answer.error]
    shown = [hide_images(text, answer.image_urls) for text in told]
    if shown == told:
        return answer
    return replace(answer, answer=shown[0], partial=shown[1], reasoning=shown[2], error=shown[3])


def _text_only(on_text: OnText) -> Callable[[Delta], None]:
    """Pass text on as it comes, without reasoning that a model writes into it; the answer has what is held back."""
    answer = AnswerAsItComes()

    def take(delta: Delta) -> None:
        text = answer.after(delta.text)
        if text:
            on_text(text)

    return take


def _answered(job: SeatJob, completion: Completion, seconds: float) -> SeatAnswer:
    text = completion.text.strip()
    return SeatAnswer(
        call=job.call,
        alias=job.alias,
        nominated=job.nominated,
        status="ok" if text else "empty",
        answer=completion.text if text else "",
        error="" if text else completion.empty_why,
        reasoning=completion.reasoning,
        finish_reason=completion.finish_reason[:40],
        served_model=_other_model(job.target.model, completion.model),
        seconds=seconds,
        first_token_seconds=completion.first_token_seconds,
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        upstream_status=completion.upstream_status,
        image_urls=web_images(job.messages),
    )


def _failed(job: SeatJob, error: UpstreamError, seconds: float) -> SeatAnswer:
    return SeatAnswer(
        call=job.call,
        alias=job.alias,
        nominated=job.nominated,
        status="error",
        error=error.message,
        error_kind=error.kind,
        partial=error.partial,
        reasoning=error.reasoning,
        seconds=seconds,
        first_token_seconds=error.first_token_seconds,
        upstream_status=error.status,
        retry_after=error.retry_after,
        image_urls=web_images(job.messages),
    )


def _other_model(asked: str, served: str) -> str:
    """The served model where it is another: providers leave a folder off an id, and the variant after its colon."""
    asked, told = (name.removeprefix("models/") for name in (asked, served))
    return "" if told in (asked, asked.rpartition(":")[0]) else served
