"""Traces: a span for each panel, continuing the caller's trace, and below it one for each seat; in GenAI's conventions.

No content: neither what was asked nor what was answered, no error's words, no caller. Off unless one of OpenTelemetry's own
variables says where traces go; then `None` stands for every span. Sends nothing itself (exporting.py).
"""

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.utils.module_loading import import_string
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway.conf import conf
from gateway.telemetry.metrics import AskedPanel, EndedSeat

logger = logging.getLogger(__name__)

PROVIDER = "gateway.telemetry.exporting.tracer_provider"
# GenAI's names for providers, by the host that is asked; any other provider goes by its endpoint's name.
PROVIDERS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "api.cohere.com": "cohere",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
}
# What a provider calls a model or an ending, if it is a name at all: these words are not ours.
_NAME = re.compile(r"[\w./:@+-]{1,100}", re.ASCII)
_SECOND = 1_000_000_000
_W3C = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True)
class CallerTrace:
    """The caller's own trace as its headers tell it; empty without one."""

    traceparent: str = ""
    tracestate: str = ""


NO_TRACE = CallerTrace()


class AskedSeat(Protocol):
    """A seat's job; gateway's SeatJob is one."""

    @property
    def call(self) -> str: ...
    @property
    def alias(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def traceparent(self) -> str: ...
    @property
    def target(self) -> Any: ...


class Answered(EndedSeat, Protocol):
    """How a seat ended, as far as a span tells of it."""

    @property
    def finish_reason(self) -> str: ...
    @property
    def served_model(self) -> str: ...
    @property
    def upstream_status(self) -> int | None: ...


@cache
def tracer() -> Tracer | None:
    """What makes this process's spans; None where nobody wants any."""
    if not conf.traces:
        return None
    try:
        made: Tracer = import_string(PROVIDER)().get_tracer("benchsite", conf.version)
    except ValueError as error:
        # Panels matter more. It quotes numbers and names of variables.
        logger.error("There are no traces: OpenTelemetry's variables contradict each other (%s)", error)
        return None
    return made


def trace_of(headers: Mapping[str, str]) -> CallerTrace:
    """The trace that a request's headers continue."""
    if "traceparent" not in headers:
        return NO_TRACE
    return CallerTrace(headers["traceparent"], headers.get("tracestate", ""))


def panel_span(caller: CallerTrace, began: float, panel: AskedPanel) -> Span | None:
    """Begin a panel's span at Unix time `began`."""
    tracing = tracer()
    if tracing is None:
        return None
    return tracing.start_span(
        f"invoke_workflow {panel.collection}",
        context=_context(caller.traceparent, caller.tracestate),
        kind=SpanKind.SERVER,
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": panel.collection,
            "bench.panel": panel.id,
            "bench.shape": panel.shape,
            "bench.reply": panel.reply,
            "bench.members": panel.members,
            "bench.explorers": panel.explorers,
            "bench.skipped": len(panel.skipped),
        },
        start_time=int(began * _SECOND),
    )


def end_panel(span: Span | None, outcome: str) -> None:
    """End a panel's span. One that nobody answered, or that broke, is an error."""
    if span is None:
        return
    span.set_attribute("bench.outcome", outcome)
    if outcome in ("unanswered", "broken"):
        span.set_attribute("error.type", outcome)
        span.set_status(StatusCode.ERROR)
    span.end()


def traceparent_of(span: Span | None) -> str:
    """What a seat's job carries, so that its span becomes this one's child wherever it is asked."""
    carried: dict[str, str] = {}
    if span is not None:
        _W3C.inject(carried, set_span_in_context(span, Context()))
    return carried.get("traceparent", "")


def seat_span(job: AskedSeat, answer: Answered, began: float) -> None:
    """Tell of a seat that was asked at Unix time `began` and has ended now."""
    tracing = tracer()
    if tracing is None or not job.traceparent:
        return
    span = tracing.start_span(
        f"chat {job.target.model}",
        context=_context(job.traceparent),
        kind=SpanKind.CLIENT,
        attributes=_asked(job) | _answered(answer),
        start_time=int(began * _SECOND),
    )
    if answer.status == "error":
        span.set_status(StatusCode.ERROR)
    span.end(time.time_ns())


def _context(traceparent: str, tracestate: str = "") -> Context:
    return _W3C.extract({"traceparent": traceparent, "tracestate": tracestate}, Context())


def _asked(job: AskedSeat) -> dict[str, Any]:
    where = urlsplit(job.target.base_url)
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(where.hostname or "", job.endpoint),
        "gen_ai.request.model": job.target.model,
        "server.address": where.hostname,
        "server.port": where.port,
        "bench.call": job.call,
        "bench.alias": job.alias,
        "bench.endpoint": job.endpoint,
    }
    return {name: value for name, value in told.items() if value}


def _answered(answer: Answered) -> dict[str, Any]:
    told = {
        "bench.seat": answer.seat,
        "bench.status": answer.status,
        "error.type": answer.error_kind or None,
        "gen_ai.response.model": _named(answer.served_model),
        "gen_ai.response.finish_reasons": [reason] if (reason := _named(answer.finish_reason)) else None,
        "gen_ai.response.time_to_first_chunk": answer.first_token_seconds,
        "gen_ai.usage.input_tokens": answer.input_tokens,
        "gen_ai.usage.output_tokens": answer.output_tokens,
        "http.response.status_code": answer.upstream_status,
    }
    return {name: value for name, value in told.items() if value is not None}


def _named(word: str) -> str | None:
    return word if _NAME.fullmatch(word) else None


def send_what_is_left() -> None:
    """Before a process ends by itself: send the spans that wait, within seconds."""
    if tracer() is not None:
        import_string(PROVIDER)().shutdown()
