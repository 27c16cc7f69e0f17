"""By what the same request is known when it comes again: the caller's own key, or, without one, the question itself.

A name belongs to one panel, by a constraint of the database's: of two processes that open the same one at the same moment,
the second is told whose it is.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from evidence.models import Call, IdempotencyKey, Panel

# No caller's key begins with a space: a header's value never does.
_QUESTION = " "


@dataclass(frozen=True, slots=True)
class KnownAs:
    """A caller's idempotency key for a request, and the request's digest. Panels from before `since` have lost it."""

    key: str
    digest: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A request without a key, by its digest: the name of its panel for as long as that runs.

    Whoever asks the same for the first time gets a panel of their own; `is_retry`, an SDK's second try, does not.
    """

    digest: str
    is_retry: bool = False


class AlreadyAsked(Exception):  # noqa: N818 (says what is so, as refusals do)
    """The panel that a request would open is there already."""

    def __init__(self, panel_id: str) -> None:
        super().__init__(panel_id)
        self.panel_id = panel_id


# Statements of our own, prepared once: every panel of a bench with several processes is named, on the hot path.
_NAMES, _CALLS = IdempotencyKey._meta.db_table, Call._meta.db_table
_INSERT = (
    f"INSERT INTO {_NAMES} (asked_by, key, digest, panel_id, made_at) "  # noqa: S608 (names of ours)
    "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (asked_by, key) DO "
)
_IF_FREE = f"{_INSERT}NOTHING"
# Of two first tries either may have the name, so that what runs by another transaction need not be seen.
_UNLESS_RUNNING = (
    f"{_INSERT}UPDATE SET digest = excluded.digest, panel_id = excluded.panel_id, made_at = excluded.made_at "  # noqa: S608
    f"WHERE {_NAMES}.digest = %s AND NOT EXISTS "
    f"(SELECT 1 FROM {_CALLS} AS c WHERE c.panel_id = {_NAMES}.panel_id AND c.status = %s)"
)
_OPENED_BY = f"SELECT digest FROM {_NAMES} WHERE asked_by = %s AND key = %s"  # noqa: S608
# In the digest's place, for questions: who opened the panel. One that a retry opened is owed to the first try, which may
# have been held up on its way to another process.
_BY_FIRST, _BY_RETRY = "first try", "retry"


def name_panel(panel: Panel, name: KnownAs | Question) -> None:
    """Give a new panel its name, within the transaction that writes it down. Raises AlreadyAsked.

    One statement where nobody has the name. A first try whose question is being asked already goes without.
    """
    if isinstance(name, KnownAs):
        _take(panel, name, name.key, name.digest)
    elif name.is_retry:
        _take(panel, name, _QUESTION + name.digest, _BY_RETRY)
    elif not _named_first(panel, _QUESTION + name.digest):
        _take(panel, name, _QUESTION + name.digest, _BY_FIRST)


def _take(panel: Panel, name: KnownAs | Question, key: str, digest: str) -> None:
    if _wrote(_IF_FREE, *_row(panel, key, digest)):
        return
    held = _held(panel.asked_by, key)
    if held is not None and not _holds(held, name):
        if _moved(held, panel, digest):
            return
        held = _held(panel.asked_by, key)
    goes_without = isinstance(name, Question) and not name.is_retry and (held is None or held.digest != _BY_RETRY)
    if held is not None and not goes_without:
        raise AlreadyAsked(held.panel.panel_id)


def take_first_try(asked_by: str, digest: str) -> bool:
    """Let a first try join the panel that its own retry opened before it; False for one that comes after another."""
    opened = IdempotencyKey.objects.filter(asked_by=asked_by, key=_QUESTION + digest, digest=_BY_RETRY)
    return opened.update(digest=_BY_FIRST) == 1


def running_panel_asked(asked_by: str, digest: str) -> str | None:
    """Return the id of the running panel of a caller's question, where it was asked of a process of several."""
    known = IdempotencyKey.objects.filter(asked_by=asked_by, key=_QUESTION + digest)
    return known.filter(panel__in=_running()).values_list("panel__panel_id", flat=True).first()


def forget_questions(before: datetime) -> None:
    """Let go of the names of questions asked before then, which no panel that runs has any more."""
    old = IdempotencyKey.objects.filter(key__startswith=_QUESTION, made_at__lt=before)
    old.exclude(panel__in=_running()).delete()


def _named_first(panel: Panel, key: str) -> bool:
    """Name a first try's panel, or see that it goes without while another's runs; False where a retry has the name."""
    if _wrote(_UNLESS_RUNNING, *_row(panel, key, _BY_FIRST), _BY_FIRST, Call.Status.RUNNING):
        return True
    with connection.cursor() as cursor:
        cursor.execute(_OPENED_BY, (panel.asked_by, key))
        return bool(cursor.fetchone() == (_BY_FIRST,))


def _row(panel: Panel, key: str, digest: str) -> tuple[Any, ...]:
    return panel.asked_by, key, digest, panel.pk, connection.ops.adapt_datetimefield_value(panel.asked_at)


def _wrote(statement: str, *values: Any) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return bool(cursor.rowcount == 1)


def _holds(held: IdempotencyKey, name: KnownAs | Question) -> bool:
    """Whether a name is still that of the panel that has it."""
    if isinstance(name, KnownAs):
        return name.since is None or held.made_at >= name.since
    return _running().filter(pk=held.panel_id).exists()


def _held(asked_by: str, key: str) -> IdempotencyKey | None:
    return IdempotencyKey.objects.select_related("panel").filter(asked_by=asked_by, key=key).first()


def _moved(held: IdempotencyKey, panel: Panel, digest: str) -> bool:
    """Give the name to another panel; False when somebody else did in between."""
    rows = IdempotencyKey.objects.filter(pk=held.pk, panel_id=held.panel_id)
    return rows.update(panel=panel, digest=digest, made_at=panel.asked_at) == 1


def _running() -> QuerySet[Panel]:
    """Panels of which a call runs, or which wait for their merger."""
    calls = Call.objects.filter(panel=OuterRef("pk"))
    to_merge = Q(reply="merged", note="") & ~Exists(calls.filter(seat_name=Call.MERGER))
    return Panel.objects.filter(Exists(calls.filter(status=Call.Status.RUNNING)) | to_merge)
