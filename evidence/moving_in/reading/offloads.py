"""Offloads: one line each time work was handed to a model, and one more each time its answer was judged.

The gateway writes one for every seat the moment that it ends; people write others, with no call's id.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evidence.moving_in.reading.calls import CALL_ID, time_in_id
from evidence.moving_in.reading.fields import UnusableError, moment, text, texts
from evidence.moving_in.reading.values import OldOffload, OldPanel, OldSeat, OldVerdict

# What the gateway notes of a seat that ended: which seat, how, after how long, and why where it failed.
_ENDED = re.compile(
    r"[^;]{0,60}; (?:first turn )?(?P<status>ok|empty|error) in (?P<seconds>\d{1,9}(?:\.\d{1,9})?)s(?:: (?P<error>.*))?",
    re.DOTALL,
)
# Which collection was asked, and for which kind of work, at the end of what the gateway notes of a task.
_ASKED = re.compile(r"\((?P<collection>bench/[a-z0-9-]{1,32})(?:, (?P<shape>[a-z0-9-]{1,32})|:route)\)\Z")
SEAT = "member1"


def read_offload(line: int, entry: Mapping[str, Any]) -> OldOffload:
    """One line's offload. Raises UnusableError."""
    named = text(entry, "call")
    call = CALL_ID.fullmatch(named)
    if named and not call:
        raise UnusableError("call is no call's id")
    useful = entry.get("useful")
    if useful is not None and not isinstance(useful, bool):
        raise UnusableError("useful is neither true, false nor null")
    panel_id, seat_name = (call[1], call[2]) if call else ("", "")
    return OldOffload(
        line=line,
        panel_id=panel_id,
        seat_name=seat_name,
        alias=text(entry, "model", None),
        at=_at(entry.get("date"), panel_id),
        task=text(entry, "task"),
        note=text(entry, "note"),
        useful=useful,
        real=texts(entry, "real"),
        false=texts(entry, "false"),
    )


def _at(date: Any, panel_id: str) -> datetime:
    found = moment(date)
    if found is None and (asked := time_in_id(panel_id)):
        return asked.replace(tzinfo=UTC)
    if found is None:
        raise UnusableError("date is no date")
    return found


def content_digest(offload: OldOffload) -> str:
    """The same for two offloads that say the same, whatever lines they stand in."""
    said = (offload.alias, offload.at.isoformat(), offload.task, offload.note, offload.useful, offload.real, offload.false)
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def named_alone(offload: OldOffload, digest: str, times: int) -> OldOffload:
    """An offload that names no call as a panel of its own, by an id that it has in every run.

    `times`: how often the same stands in lines before it.
    """
    drawn = hashlib.sha256(f"{digest} {times}".encode()).hexdigest()
    return replace(offload, panel_id=f"o{offload.at:%Y%m%d}-{drawn[:14]}", seat_name=SEAT)


def panel_of(offloads: Sequence[OldOffload]) -> OldPanel:
    """A panel as far as its offloads, in the order of their lines, tell of it."""
    first = offloads[0]
    asked = _ASKED.search(first.task)
    return OldPanel(
        panel_id=first.panel_id,
        asked_at=_asked_at(offloads),
        asked_by="local",
        collection=asked["collection"] if asked else "",
        shape=(asked and asked["shape"]) or "general",
        shape_by="as its offload says" if asked and asked["shape"] else "not known",
        request=first.task,
        seats=seats_of(offloads),
        whole=False,
    )


def seats_of(offloads: Iterable[OldOffload]) -> tuple[OldSeat, ...]:
    """Each seat by its first line: the gateway's own, where it wrote one."""
    seats: dict[str, OldSeat] = {}
    for offload in offloads:
        if offload.seat_name not in seats:
            seats[offload.seat_name] = _seat(offload)
    return tuple(seats.values())


def verdicts_of(offloads: Sequence[OldOffload], asked_at: datetime) -> tuple[OldVerdict, ...]:
    """The judgements of one seat in their order; the same twice in a row is one, and its place the first."""
    noted = offloads[0].note if offloads[0].useful is None else ""
    verdicts: list[OldVerdict] = []
    for offload in offloads:
        if offload.useful is not None:
            verdict = _verdict(offload, offload.useful, noted, asked_at)
            if not verdicts or not same_judgement(verdict, verdicts[-1]):
                verdicts.append(verdict)
    return tuple(verdicts)


def same_judgement(one: Any, other: Any) -> bool:
    """Whether two say the same; either may be a row."""
    said = (bool(one.useful), one.note, list(one.real), list(one.false))
    return said == (bool(other.useful), other.note, list(other.real), list(other.false))


def _verdict(offload: OldOffload, useful: bool, noted: str, asked_at: datetime) -> OldVerdict:
    # A judgement without a note was given the one that the gateway had made of how the seat ended.
    note = "" if noted == offload.note and _ended(noted) else offload.note
    return OldVerdict(
        place=offload.line,
        useful=useful,
        note=note,
        real=offload.real,
        false=offload.false,
        # Its date has no hour, and nobody judges an answer before it was asked for.
        given_at=max(offload.at, asked_at),
    )


def _seat(offload: OldOffload) -> OldSeat:
    ended = _ended(offload.note)
    return OldSeat(
        seat_name=offload.seat_name,
        alias=offload.alias,
        status=ended["status"] if ended else "ok",
        seconds=float(ended["seconds"]) if ended else None,
        error=(ended["error"] or "") if ended else "",
    )


def _ended(note: str) -> "re.Match[str] | None":
    return _ENDED.fullmatch(note)


def _asked_at(offloads: Sequence[OldOffload]) -> datetime:
    asked = time_in_id(offloads[0].panel_id)
    return asked.replace(tzinfo=UTC) if asked else min(offload.at for offload in offloads)
