"""The numbers of this process: panels, seats, refusals, each counted where it ends.

Labels are few and bounded: what an operator has named, and words of ours. Decides nothing, and reads no row.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

from prometheus_client import Counter, Gauge, Histogram

# Of whatever an operator names: more are counted together. Who has that many looks at few of them.
MOST_NAMES = 200
OTHER = "(other)"
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 240, 420)

PANELS = Counter("bench_panels", "Panels that ended.", ["collection", "reply", "outcome"])
PANEL_SECONDS = Histogram("bench_panel_seconds", "From a panel's first row to its reply.", ["reply"], buckets=_SECONDS)
SEATS = Counter("bench_seats", "Seats that this process asked.", ["endpoint", "seat", "status"])
SEAT_ERRORS = Counter("bench_seat_errors", "Seats that failed, by why.", ["endpoint", "kind"])
SEAT_SECONDS = Histogram("bench_seat_seconds", "What a seat's provider took.", ["endpoint"], buckets=_SECONDS)
FIRST_TOKEN = Histogram("bench_first_token_seconds", "Until a seat's first token.", ["endpoint"], buckets=_SECONDS)
TOKENS = Counter("bench_tokens", "Tokens as providers count them.", ["endpoint", "direction"])
ASKING = Gauge("bench_seats_asking", "Seats that this process is asking now.")
LOST = Counter("bench_seats_lost", "Seats whose process was stopped, killed or cut off before they had answered.")
REFUSALS = Counter("bench_refusals", "Requests that were turned away, by why.", ["reason"])


class EndedSeat(Protocol):
    """How a seat ended; gateway's SeatAnswer is one."""

    @property
    def seat(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def error_kind(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def first_token_seconds(self) -> float | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...


class AskedPanel(Protocol):
    """A panel as it was asked; gateway's own is one."""

    @property
    def id(self) -> str: ...
    @property
    def collection(self) -> str: ...
    @property
    def shape(self) -> str: ...
    @property
    def reply(self) -> str: ...
    @property
    def members(self) -> int: ...
    @property
    def explorers(self) -> int: ...
    @property
    def skipped(self) -> Sequence[object]: ...


def count_seat(endpoint: str, answer: EndedSeat) -> None:
    """Count a seat that was asked, whatever came of it."""
    endpoint = known("endpoint", endpoint)
    _labelled(SEATS, endpoint, answer.seat, answer.status).inc()
    _labelled(SEAT_SECONDS, endpoint).observe(answer.seconds)
    if answer.error_kind:
        _labelled(SEAT_ERRORS, endpoint, answer.error_kind).inc()
    if answer.first_token_seconds is not None:
        _labelled(FIRST_TOKEN, endpoint).observe(answer.first_token_seconds)
    if answer.input_tokens:
        _labelled(TOKENS, endpoint, "input").inc(answer.input_tokens)
    if answer.output_tokens:
        _labelled(TOKENS, endpoint, "output").inc(answer.output_tokens)


def outcome_of(calls: Sequence[EndedSeat], skipped: int) -> str:
    """How a panel went: whole, degraded (a seat was skipped, or a seat or the merger did not answer) or unanswered."""
    answered = sum(call.status == "ok" for call in calls)
    if not answered:
        return "unanswered"
    return "degraded" if skipped or answered < len(calls) else "whole"


def count_panel(panel: AskedPanel, outcome: str, seconds: float, calls: Sequence[EndedSeat]) -> None:
    """Count a panel that ended; those of its calls, too, that no process answered for."""
    _labelled(PANELS, known("collection", panel.collection), panel.reply, outcome).inc()
    _labelled(PANEL_SECONDS, panel.reply).observe(seconds)
    if lost := sum(seat.error_kind == "interrupted" for seat in calls):
        LOST.inc(lost)


def count_refusal(error: Exception) -> None:
    """Count a request that is turned away, by the class of why: there are only so many."""
    _labelled(REFUSALS, _words(type(error).__name__)).inc()


def known(label: str, name: str) -> str:
    """The name as a label's value: itself, or OTHER once there are too many."""
    names = _names(label)
    if name not in names:
        if len(names) >= MOST_NAMES:
            return OTHER
        names.add(name)
    return name


@cache
def _labelled(metric: Any, *values: str) -> Any:
    """The metric's child. The library finds it anew each time, which takes longer than counting."""
    return metric.labels(*values)


@cache
def _names(label: str) -> set[str]:
    return set()


@cache
def _words(name: str) -> str:
    """KeyUnknown as key_unknown."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
