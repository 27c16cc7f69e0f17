"""Writing down what came of it: panels and their seats when asked, answers when they end, verdicts when given.

Decides nothing and asks no model. Each function is one transaction.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol, Required, TypedDict, TypeVar, Unpack

from django.db import IntegrityError, transaction
from django.utils import timezone

from evidence.again import KnownAs, Question, name_panel
from evidence.counting.claims import find_unique
from evidence.counting.endings import ENDING, Ending, end_calls
from evidence.counting.given import VERDICTS
from evidence.counting.tallies import AT_ONCE, Calls, count, uncount
from evidence.counting.turns import hold_panels
from evidence.errors import NotYours, PanelIdTaken, StillRunning, UnknownCall
from evidence.links import LinkUsed, VerdictLink
from evidence.models import Call, Panel, Verdict
from evidence.processes.late import keep_late
from evidence.selectors import call_named
from evidence.storable import insert, storable
from keys.services import LOCAL

Written = TypeVar("Written", str, int)

_ending_of = attrgetter(*ENDING)

# Each lost race means that another verdict on the same call was written in between.
MOST_LOST_RACES = 20


class Judgement(TypedDict, total=False):
    """What a verdict says. `real` and `false` are claims of the answer; `score` is 0 to 1."""

    useful: Required[bool]
    note: str
    real: Sequence[str]
    false: Sequence[str]
    score: float | None
    correction: str


NOTHING_MORE: Mapping[str, Any] = {"note": "", "real": [], "false": [], "score": None, "correction": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSeat:
    """One seat as it is asked: its name in the panel and the model that sits."""

    seat_name: str
    language_model_id: int
    alias: str
    endpoint_name: str
    served_id: str
    nominated: bool = False
    held_by: str = ""


class EndedCall(Protocol):
    """How a call ended; gateway's SeatAnswer is one."""

    @property
    def call(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def error_kind(self) -> str: ...
    @property
    def error(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def partial(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def finish_reason(self) -> str: ...
    @property
    def served_model(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def first_token_seconds(self) -> float | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def upstream_status(self) -> int | None: ...


def record_panel(*, seats: Sequence[PlannedSeat], known_as: KnownAs | Question | None = None, **panel: Any) -> int:
    """Write a panel, by its columns, and its seats down as running, before any id of theirs leaves the server.

    Returns its key. Raises PanelIdTaken, AlreadyAsked when what it is known as is another panel's, and IntegrityError, after
    which a transaction around it can only be undone.
    """
    row = storable(Panel, panel)
    # Only a name that turns out to be another's undoes what was written: none, no savepoint where others share the transaction.
    with transaction.atomic(savepoint=known_as is not None):
        key = insert(Panel, [row], unless_taken="panel_id")
        if key is not None:
            insert(Call, [_seat(seat) for seat in seats], shared=_running(key, row["shape"], row["asked_at"]))
            if known_as:
                name_panel(Panel(pk=key, **row), known_as)
    if key is None:
        raise PanelIdTaken(row["panel_id"])
    return key


@transaction.atomic
def record_seat(seat: PlannedSeat, *, panel_id: str, asked_at: datetime) -> str:
    """Write one more seat of a panel down as running: the merger's, which is asked when the others have answered.

    Returns the note of a panel that has been ended without one, by whoever took its process for gone; then none is written.
    """
    panel = Panel.objects.select_for_update().get(panel_id=panel_id)
    if not panel.note:
        insert(Call, [_seat(seat)], shared=_running(panel.pk, panel.shape, asked_at))
    return panel.note


def record_note(panel_id: str, note: str) -> str:
    """Write down why nobody was asked to merge a panel whose merge was asked for. The first note stands; returns it."""
    if Panel.objects.filter(panel_id=panel_id, note="").update(note=note):
        return note
    return Panel.objects.values_list("note", flat=True).filter(panel_id=panel_id).first() or note


def _running(panel_key: int, shape: str, asked_at: datetime) -> dict[str, Any]:
    """What calls of a panel that are asked together have alike."""
    return {"panel_id": panel_key, "shape": shape, "asked_at": asked_at}


def _seat(seat: PlannedSeat) -> dict[str, Any]:
    return {
        "seat_name": seat.seat_name,
        "nominated": seat.nominated,
        "language_model_id": seat.language_model_id,
        "alias": seat.alias,
        "endpoint_name": seat.endpoint_name,
        "served_id": seat.served_id,
        "held_by": seat.held_by,
    }


class _SomeLate(Exception):  # noqa: N818 (as AlreadyAsked)
    """Of calls that were to end together, one had ended by then."""


def record_calls(ended: Iterable[EndedCall]) -> Mapping[str, Call]:
    """Write down how calls ended, many in one transaction: on SQLite a transaction a seat would serialise them.

    Only a running call is ended: whoever comes second (a late answer after an interruption) changes nothing of how it ended.
    Returns those calls, by call id, as they stand.
    """
    endings = [(call.call, storable(Call, dict(zip(ENDING, _ending_of(call), strict=True)))) for call in ended]
    try:
        return _record_endings(endings, [endings])
    except _SomeLate:
        return _record_endings(endings, [[ending] for ending in endings])


@transaction.atomic
def _record_endings(endings: Sequence[Ending], together: Iterable[Sequence[Ending]]) -> Mapping[str, Call]:
    """Raises _SomeLate, with nothing written, where it would not be known of several which one was late."""
    hold_panels(call_id.rpartition(".")[0] for call_id, _ in endings)
    written: list[str] = []
    late: dict[str, Mapping[str, Any]] = {}
    for some in together:
        ended = end_calls(some)
        if ended == len(some):
            written += [call_id for call_id, _ in some]
        elif len(some) > 1:
            raise _SomeLate
        else:
            late.update(some)
    for part in parts(written):
        count(Calls.named(part))
    return keep_late(late)


def record_call(ended: EndedCall) -> Call | None:
    """Write down how one call ended; returns the call when it had ended already, as it stands."""
    return record_calls([ended]).get(ended.call)


def parts(written: Sequence[Written]) -> Iterator[Sequence[Written]]:
    for start in range(0, len(written), AT_ONCE):
        yield written[start : start + AT_ONCE]


def record_verdict(
    *, call_id: str, given_by: str, judges_all: bool = False, **judgement: Unpack[Judgement]
) -> tuple[Verdict, bool]:
    """Judge one call; returns the verdict that counts and whether it was written.

    `judges_all`: whoever gives it may judge others' calls too, as who is logged in to the dashboard may.

    The same judgement again writes nothing, whoever gives it; a different one replaces the one that counts, which stays
    as history. Raises UnknownCall, NotYours, StillRunning.
    """
    fields = storable(Verdict, {**NOTHING_MORE, **judgement})
    for _ in range(MOST_LOST_RACES):
        call = _judgeable_call(call_id, given_by, judges_all=judges_all)
        try:
            return _replace_verdict(call, fields, given_by)
        except IntegrityError:
            # Another verdict on this call (or its pruning) came in between: look again.
            continue
    return _replace_verdict(call, fields, given_by)


def record_linked_verdict(link: VerdictLink, call: Call) -> Verdict:
    """Give the verdict of a link, once, under the name of whoever asked. Raises LinkUsed for one that came meanwhile."""
    verdict, written = record_verdict(call_id=link.call_id, given_by=call.panel.asked_by, useful=link.useful)
    if not written:
        raise LinkUsed(f"This link has been used: the answer was judged {link.word}.")
    return verdict


def _judgeable_call(call_id: str, given_by: str, *, judges_all: bool) -> Call:
    call = call_named(call_id)
    if call is None:
        raise UnknownCall(call_id)
    # `local` is this machine's own user, where no key is asked for: every call is theirs to judge.
    if not judges_all and given_by not in (call.panel.asked_by, LOCAL.name):
        raise NotYours(f"call {call_id}")
    if call.status == Call.Status.RUNNING:
        raise StillRunning(call_id)
    return call


@transaction.atomic
def _replace_verdict(call: Call, fields: dict[str, Any], given_by: str) -> tuple[Verdict, bool]:
    """Write a verdict in place of the one that counts. Raises IntegrityError when another took that place meanwhile."""
    # Locked, where a database has such locks: what is unique about a claim depends on the verdicts of the other seats.
    Panel.objects.select_for_update().filter(pk=call.panel_id).values_list("pk").first()
    counting = call.verdicts.filter(replaced_at=None).first()
    now = timezone.now()
    if counting is not None and all(getattr(counting, name) == value for name, value in fields.items()):
        return counting, False
    panel = Calls.of_panels([call.panel_id])
    uncount(panel)
    if counting is not None:
        # That row and no other: a verdict that came after it is met by the constraint, then compared in its turn.
        Verdict.objects.filter(pk=counting.pk, replaced_at=None).update(replaced_at=now)
    verdict = call.verdicts.create(**fields, given_by=given_by, given_at=now)
    find_unique(call.panel_id)
    count(panel)
    transaction.on_commit(VERDICTS.labels("yes" if verdict.useful else "no").inc)
    return verdict, True
