"""What a worker is told to ask one seat, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from collections_app.models import LanguageModel
from collections_app.models.health import Quota
from collections_app.services.quotas import Claim
from gateway.chat import Message
from gateway.upstream.contract import Target
from gateway.workers.target import target_of

# What protocols call the longest answer that a call asks for.
LONGEST_ANSWER_OPTIONS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "num_predict", "maxOutputTokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatJob:
    """What a worker needs to ask one seat: plain values, and no secret.

    `tokens` is the estimate of the prompt; `quotas` are the limits that the call draws on, none when none is known.
    `endpoint_id` is 0 where nothing is to be learned from the call. `traceparent` is the panel's span, where there is one.
    """

    call: str
    alias: str
    target: Target
    messages: tuple[Message, ...]
    nominated: bool = False
    endpoint_id: int = 0
    tokens: int = 0
    quotas: tuple[Quota, ...] = ()
    endpoint: str = ""
    traceparent: str = ""

    @property
    def most_tokens(self) -> int:
        """The estimate of the prompt and of the longest answer that the call asks for, where it names one."""
        return self.tokens + _asked_for(self.target.options)

    def below(self, traceparent: str) -> "SeatJob":
        """The same job in a trace, if there is one."""
        return replace(self, traceparent=traceparent) if traceparent else self

    @property
    def claim(self) -> Claim:
        """What the call would draw on its limits."""
        return Claim(endpoint_id=self.endpoint_id, quotas=self.quotas, tokens=self.most_tokens)


def job_for(
    model: LanguageModel,
    quotas: tuple[Quota, ...],
    *,
    call: str,
    messages: tuple[Message, ...],
    tokens: int,
    nominated: bool = False,
) -> SeatJob:
    """The job of asking `model`, whose calls draw on `quotas`."""
    return SeatJob(
        call=call,
        alias=model.alias,
        target=target_of(model),
        messages=messages,
        nominated=nominated,
        endpoint_id=model.endpoint_id,
        tokens=tokens,
        quotas=quotas,
        endpoint=model.endpoint.name,
    )


def _asked_for(options: Mapping[str, Any]) -> int:
    asked = (options.get(name) for name in LONGEST_ANSWER_OPTIONS)
    return next((most for most in asked if type(most) is int and most > 0), 0)
