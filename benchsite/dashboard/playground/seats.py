"""A panel's seats as the playground shows them: who answered, who still thinks and since when; no name where none is wanted.

Reads rows that are there already; asks and judges nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from evidence.markdown_view import Shown, show_markdown
from evidence.models import Call, Panel

MERGER = "merger"
# Of an answer, beside others: the log shows more, and all of it raw.
LONGEST_SHOWN = 30_000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatShown:
    """One seat. `state` changes when what is shown of it does; `waits`: why it has not been asked yet, if so.

    `since`: when it began to think, or to wait. `is_named`: whether the model's name is shown. `note`: why nobody sits there.
    """

    key: str
    title: str
    state: str
    since: datetime
    call: Call | None
    is_named: bool = True
    waits: str = ""
    note: str = ""

    @property
    def mark(self) -> str:
        """What tells this seat in this state from any other."""
        return f"{self.key} {self.state}"

    @property
    def is_running(self) -> bool:
        return not self.note and (self.call is None or self.call.status == Call.Status.RUNNING)

    @property
    def answer(self) -> Shown:
        """What it answered, as safe HTML."""
        return show_markdown(self.call.answer if self.call else "", longest=LONGEST_SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelShown:
    """A panel's seats in the order in which they are shown, the merger's last."""

    panel: Panel
    seats: Sequence[SeatShown]
    is_blind: bool

    @property
    def is_running(self) -> bool:
        return any(seat.is_running for seat in self.seats)

    @property
    def ended(self) -> int:
        return sum(not seat.is_running for seat in self.seats)


def shown(panel: Panel, *, blind: bool, waits: Mapping[str, str] = MappingProxyType({})) -> PanelShown:
    """Show a panel that was read with its calls and verdicts: no query. `waits`: by seat name, why it may not be asked yet."""
    calls = [call for call in panel.calls.all() if call.seat_name != MERGER]
    if blind:
        # By chance, and for each panel another: the first seat is not always the first member's.
        calls.sort(key=lambda call: hashlib.sha256(f"{panel.panel_id} {call.seat_name}".encode()).digest())
    seats = [_seat(call, number, blind, waits.get(call.seat_name, "")) for number, call in enumerate(calls)]
    merger = _merger(panel, calls, blind)
    return PanelShown(panel=panel, seats=[*seats, merger] if merger else seats, is_blind=blind)


def _seat(call: Call, number: int, blind: bool, waits: str) -> SeatShown:
    return SeatShown(
        key=f"answer{number + 1}" if blind else call.seat_name,
        title=f"Answer {_LETTERS[number]}" if blind else call.seat_name,
        state=_state(call) + waits,
        since=call.asked_at,
        call=call,
        is_named=not blind or _is_judged(call),
        waits=waits,
    )


def _merger(panel: Panel, calls: Sequence[Call], blind: bool) -> SeatShown | None:
    """The merger's place, which is kept from the start where a merge was asked for. It says who said what: last, if blind."""
    if panel.reply != "merged":
        return None
    if panel.note:
        return SeatShown(key=MERGER, title=MERGER, state="nobody", since=panel.asked_at, call=None, note=panel.note)
    call = next((call for call in panel.calls.all() if call.seat_name == MERGER), None)
    ended = [call.asked_at + timedelta(seconds=call.seconds or 0) for call in calls if call.status != Call.Status.RUNNING]
    if call is None:
        everyone = len(ended) == len(calls)
        waits = "chooses who merges" if everyone else "waits for the others"
        since = max([panel.asked_at, *ended]) if everyone else panel.asked_at
        return SeatShown(key=MERGER, title=MERGER, state=waits, since=since, call=None, waits=waits)
    judged = all(_is_judged(call) for call in calls)
    return SeatShown(
        key=MERGER,
        title=MERGER,
        state=f"{_state(call)} {judged or not blind}",
        since=call.asked_at,
        call=call,
        is_named=judged or not blind,
    )


def _is_judged(call: Call) -> bool:
    """Whether nothing is left to judge: of who failed or came back empty there is nothing."""
    return call.status not in (Call.Status.RUNNING, Call.Status.OK) or call.verdict is not None


def _state(call: Call) -> str:
    verdict = call.verdict
    return f"{call.status} {verdict.pk}" if verdict else str(call.status)
