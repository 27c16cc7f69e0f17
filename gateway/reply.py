"""What came back, in no format's words: a seat's answer, a seat that was not asked, a panel's reply.

Pure values; how they look as Markdown is panel/markdown.py, how they travel is wire/.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.chat import ReplyMode
from gateway.errors import EveryoneRateLimited, NobodyAnswered

Status = Literal["ok", "empty", "error", "running"]
SeatKind = Literal["member", "explorer", "merger"]

# How protocols say that an answer ended at the model's output limit.
CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAnswer:
    """How one seat ended. `error` says why it failed, or why it is empty; safe to show to a caller.

    Times are in seconds. `image_urls` are the request's own, which a model may repeat and which are never written down.
    `ended_as`: 1 for the panel's first call that ended, known once it is read back.
    """

    call: str
    alias: str
    status: Status
    nominated: bool = False
    answer: str = ""
    error: str = ""
    error_kind: str = ""
    reasoning: str = ""
    partial: str = ""
    finish_reason: str = ""
    served_model: str = ""
    seconds: float = 0.0
    first_token_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    upstream_status: int | None = None
    retry_after: float | None = None
    ended_as: int | None = None
    image_urls: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def is_cut(self) -> bool:
        """Whether the answer ended at the model's output limit."""
        return self.finish_reason.lower() in CUT

    @property
    def seat(self) -> SeatKind:
        kind = self.call.rpartition(".")[2].rstrip("0123456789")
        return "merger" if kind == "merger" else "explorer" if kind == "explorer" else "member"

    def as_bench(self) -> dict[str, Any]:
        """The seat as an item of the reply's `bench.seats`."""
        seat: dict[str, Any] = {
            "call": self.call,
            "seat": self.seat,
            "alias": self.alias,
            "status": self.status,
            "seconds": None if self.status == "running" else round(self.seconds, 3),
            "answer": self.answer,
            "error": self.error,
            "error_kind": self.error_kind,
            "usage": {"input": self.input_tokens, "output": self.output_tokens},
            "finish_reason": self.finish_reason,
        }
        if self.nominated:
            seat["nominated"] = True
        if self.served_model:
            seat["served_model"] = self.served_model
        return seat


@dataclass(frozen=True, slots=True)
class SkippedSeat:
    """A seat that was not asked, and why."""

    seat: SeatKind
    alias: str
    why: str

    def as_bench(self) -> dict[str, str]:
        return {"seat": self.seat, "alias": self.alias, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPanel:
    """A panel as it was asked: all that is known before any seat has ended.

    `created` is Unix time, `prompt_tokens` an estimate; `field`: whether the caller wants the `bench` field; `links_url`:
    where verdict links lead, empty where the collection has none.
    """

    id: str
    model: str
    collection: str
    shape: str
    shape_by: str
    reply: ReplyMode
    members: int
    explorers: int
    skipped: tuple[SkippedSeat, ...]
    ignored: tuple[str, ...]
    notice: str
    prompt_tokens: int
    created: float
    verdict_url: str
    links_url: str = ""
    field: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelReply:
    """A panel, ended or read back while it runs: every seat in seat order, and the Markdown that a caller reads.

    `note` says why a merged reply was asked for and every answer came instead; `completion_tokens` is an estimate.
    """

    panel: AskedPanel
    seats: tuple[SeatAnswer, ...]
    content: str
    seconds: float
    completion_tokens: int
    merger: SeatAnswer | None = None
    note: str = ""

    @property
    def called(self) -> tuple[SeatAnswer, ...]:
        """Every call: the seats, then the merger if one was asked."""
        return (*self.seats, self.merger) if self.merger else self.seats

    @property
    def answered(self) -> int:
        return sum(seat.status == "ok" for seat in self.seats)

    def or_refusal(self) -> "PanelReply":
        """The reply itself. Raises NobodyAnswered when no seat has an answer; EveryoneRateLimited when that is all there is."""
        if self.answered:
            return self
        reasons = "; ".join(f"{seat.alias}: {seat.error or seat.status}" for seat in self.seats)
        message = f"No seat of panel {self.panel.id} answered ({reasons})."
        bench = self.bench() if self.panel.field else None
        if all(seat.error_kind == "rate_limited" for seat in self.seats):
            waits = [seat.retry_after for seat in self.seats if seat.retry_after is not None]
            raise EveryoneRateLimited(message, wait=min(waits, default=None), bench=bench)
        raise NobodyAnswered(message, code="no_seat_answered", bench=bench)

    def bench_field(self) -> dict[str, Any]:
        """The field as part of a body; nothing for a caller who wants none."""
        return {"bench": self.bench()} if self.panel.field else {}

    def bench(self) -> dict[str, Any]:
        """The value of the reply's `bench` field: the same seats as data."""
        panel = self.panel
        bench: dict[str, Any] = {
            "panel": panel.id,
            "collection": panel.collection,
            "shape": panel.shape,
            "shape_by": panel.shape_by,
            "reply": panel.reply,
            "answered": self.answered,
            "degraded": bool(panel.skipped) or any(seat.status in ("empty", "error") for seat in self.seats),
            "seats": [seat.as_bench() for seat in self.seats],
            "skipped": [seat.as_bench() for seat in panel.skipped],
            "ignored": list(panel.ignored),
            "verdict": f'POST {panel.verdict_url} {{"call", "useful": true|false, "note": "", "real": [], "false": []}}',
        }
        if self.merger:
            bench["merger"] = self.merger.as_bench()
        if self.note:
            bench["note"] = self.note
        return bench
