"""A panel's seats as a page shows them: in which order and under which name, and how much of each text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from evidence.admin.panels.advice import what_to_do
from evidence.admin.panels.blind import has_name_shown, key_of, letter_of, shuffled, tells_names
from evidence.admin.panels.timeline import Timing, timings
from evidence.admin.panels.verdict_form import VerdictForm
from evidence.markdown_view import LONGEST_SHOWN, Shown, beginning, show_markdown
from evidence.models import Call, Panel
from evidence.selectors import MOST_VERDICTS

# What the answers of one page have together, so that nine long ones take no longer to show than one.
PAGE_CHARACTERS = 60_000
# Of what is folded away.
FOLDED_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One seat: its row, what it is called here, what is shown of it; `is_held_back`: nothing yet, for it names the others."""

    call: Call
    key: str
    label: str
    is_named: bool
    timing: Timing
    answer: Shown | None
    raw: str
    form: VerdictForm | None = None
    is_held_back: bool = False

    @property
    def status(self) -> str:
        return self.call.status

    @property
    def what_to_do(self) -> str:
        return what_to_do(self.call)

    @property
    def folded(self) -> list[dict[str, Any]]:
        """What is behind a click: the texts beside the answer, as far as a page shows them."""
        texts = (("reasoning", "Reasoning"), ("partial", "What had come when it failed"))
        shown = () if self.is_held_back else texts
        return [_folded(self.call, name) | {"title": title} for name, title in shown if _head(self.call, name)]

    @property
    def earlier(self) -> list[Any]:
        """The verdicts that were replaced, the latest first."""
        return [verdict for verdict in self.call.verdicts.all() if verdict.replaced_at is not None][: MOST_VERDICTS - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """All seats of a panel in the order in which they are shown, and the axis of their timings in seconds."""

    all: list[Seat]
    axis: float
    is_blind: bool

    def keyed(self, key: str) -> Seat | None:
        return next((seat for seat in self.all if seat.key == key), None)

    @property
    def names_are_hidden(self) -> bool:
        return any(not seat.is_named for seat in self.all)


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How seats are shown: `may_judge` with forms to judge them, of which `forms` are those that were sent and not taken.

    `texts_of`: the keys of those whose answers are shown, None: of all. `alone`: one has the page for itself.
    """

    blind: bool
    may_judge: bool = False
    texts_of: Collection[str] | None = None
    alone: bool = False
    forms: Mapping[str, VerdictForm] = field(default_factory=dict)

    def shows(self, key: str) -> bool:
        return self.texts_of is None or key in self.texts_of


def seats_of(panel: Panel, showing: Showing) -> Seats:
    """Return a panel's seats as they are shown."""
    calls = list(panel.calls.all())
    ordered = shuffled(panel.panel_id, calls) if showing.blind else calls
    spans, axis = timings(panel, ordered, timezone.now())
    rooms = [LONGEST_SHOWN] * len(ordered)
    if not showing.alone:
        rooms = shares([len(_head(call, "answer")) for call in ordered], PAGE_CHARACTERS)
    seats = []
    for position, call in enumerate(ordered):
        key = key_of(panel.panel_id, call.seat_name, blind=showing.blind)
        is_named = not showing.blind or has_name_shown(call, calls)
        held = showing.blind and tells_names(call, calls)
        answer, raw = _answer(call, rooms[position]) if showing.shows(key) and not held else (None, "")
        seats.append(
            Seat(
                call=call,
                key=key,
                label=call.alias if is_named else letter_of(position),
                is_named=is_named,
                timing=spans[position],
                answer=answer,
                raw=raw,
                form=None if held else _form(call, showing, key),
                is_held_back=held,
            )
        )
    return Seats(all=seats, axis=axis, is_blind=showing.blind)


def _form(call: Call, showing: Showing, key: str) -> VerdictForm | None:
    if not showing.may_judge or call.status == Call.Status.RUNNING:
        return None
    return showing.forms.get(key) or VerdictForm.of(call.verdict)


def _answer(call: Call, room: int) -> tuple[Shown | None, str]:
    """An answer as Markdown, within `room` characters, and the same part of it raw."""
    raw = beginning(_head(call, "answer"), longest=room)
    if not raw:
        return None, ""
    return Shown(show_markdown(raw).html, is_cut=len(raw) < _length(call, "answer")), raw


def _folded(call: Call, name: str) -> dict[str, Any]:
    length = _length(call, name)
    return {"name": name, "text": _head(call, name)[:FOLDED_CHARACTERS], "length": length, "is_cut": length > FOLDED_CHARACTERS}


def _head(call: Call, name: str) -> str:
    """The beginning of one of a call's texts, as selectors.panel_to_read has read it."""
    return str(getattr(call, f"{name}_head"))


def _length(call: Call, name: str) -> int:
    return int(getattr(call, f"{name}_length"))


def shares(lengths: Sequence[int], room: int) -> list[int]:
    """Divide `room` fairly: who needs less than a share leaves the rest to the others."""
    given = [0] * len(lengths)
    waiting = sorted(range(len(lengths)), key=lambda at: lengths[at])
    for served, at in enumerate(waiting):
        given[at] = min(lengths[at], room // (len(lengths) - served))
        room -= given[at]
    return given
