"""The roster as the request path reads it: one snapshot, kept until a row of it changes, in this process or in another.

Building the same queries for every panel was a fifth of its CPU time; now a panel asks for one number.
"""

from collections.abc import Collection as Sized
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection
from django.db.models.signals import post_delete, post_save
from django.utils import timezone

from collections_app.models import (
    Alert,
    Collection,
    CoolDown,
    DecisionModel,
    Doubt,
    Endpoint,
    Fact,
    LanguageModel,
    Limits,
    Membership,
    RosterVersion,
    Shape,
)
from collections_app.models.health import WHOLE_ACCOUNT, Quota, covers, quotas_of
from collections_app.models.roster_version import draw_token
from collections_app.selectors import active_models, all_collections, current_limits, know, members_of

ROWS = (Endpoint, LanguageModel, Collection, Membership, Shape, Limits, Fact, CoolDown, Doubt, Alert, DecisionModel)


@dataclass(frozen=True, slots=True)
class Roster:
    """Every row that seating reads, with what it links to. The rows are shared: nobody may change them."""

    collections: Mapping[str, Collection]
    active: tuple[LanguageModel, ...]
    shapes: Mapping[str, Shape]
    limits: Limits
    cool_downs: tuple[CoolDown, ...] = ()
    decision_models: tuple[DecisionModel, ...] = ()
    # Limits that models of an endpoint share: facts about a pattern.
    account: tuple[Fact, ...] = ()
    # Endpoints and ids of which something is open that a good answer ends.
    watched: frozenset[tuple[int, str]] = frozenset()

    def may_explore(self, roles: Sized[str]) -> list[LanguageModel]:
        """The active models of those roles; no router, which may answer with a seated model."""
        return [model for model in self.active if model.role in roles]

    def cool_down_of(self, model: LanguageModel | DecisionModel) -> CoolDown | None:
        """The longest wait under way for this model, its own or its account's."""
        now = timezone.now()
        waits = (
            wait
            for wait in self.cool_downs
            if wait.endpoint_id == model.endpoint_id and wait.until > now and covers(wait.served_id, model.served_id)
        )
        return max(waits, key=lambda wait: wait.until, default=None)

    def quotas_of(self, model: LanguageModel) -> tuple[Quota, ...]:
        """Every limit that a call of this model counts for; empty when none is known."""
        return quotas_of(model, self.account)

    def is_watched(self, endpoint_id: int, served_id: str) -> bool:
        """Whether a good answer of this id ends something: a doubt, a row of refusals, an alert about the key."""
        return any(endpoint_id == endpoint and covers(pattern, served_id) for endpoint, pattern in self.watched)


class RosterKeeper:
    """Holds the snapshot of one process."""

    def __init__(self) -> None:
        # Both at once: of two threads that read at the same time, one's token must not stand beside the other's roster.
        self._held: tuple[int | None, Roster] | None = None

    def current(self) -> Roster:
        """The roster as it is committed now, or as this transaction has it: one query, and some ten more after a change."""
        # The token first: rows that change in between are read as new under the old token, and read again next time.
        token = _token()
        held = self._held
        if held is None or token is None or token != held[0]:
            held = self._held = token, _read()
        return held[1]

    @property
    def held(self) -> Roster | None:
        """The roster as it was last read here: no query, and it may be old by what has changed since."""
        return self._held[1] if self._held else None


@cache
def roster_keeper() -> RosterKeeper:
    """The process's keeper."""
    return RosterKeeper()


def watch_rows() -> None:
    """Have every change of a row make another roster of it. Whoever writes rows in bulk calls renew_roster."""
    for row in ROWS:
        post_save.connect(renew_roster, sender=row, dispatch_uid=f"roster {row.__name__} saved")
        post_delete.connect(renew_roster, sender=row, dispatch_uid=f"roster {row.__name__} deleted")


def renew_roster(**_: Any) -> None:
    """Have every process read the roster again, once what was written is committed."""
    RosterVersion.objects.update_or_create({"token": draw_token()}, pk=1)


# Asked before every panel; the ORM took ten times as long to say it as the database to answer.
_TOKEN = f"SELECT token FROM {RosterVersion._meta.db_table} LIMIT 1"  # noqa: S608 (a name of ours)


def _token() -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(_TOKEN)
        row = cursor.fetchone()
    return row[0] if row else None


def _read() -> Roster:
    collections, active = all_collections(), active_models()
    mergers = [collection.merger for collection in collections if collection.merger]
    know([*active, *mergers, *(model for collection in collections for model in members_of(collection))])
    waits = list(CoolDown.objects.all())
    now = timezone.now()
    return Roster(
        collections={collection.name: collection for collection in collections},
        active=tuple(active),
        shapes={shape.name: shape for shape in Shape.objects.all()},
        limits=current_limits(),
        cool_downs=tuple(wait for wait in waits if wait.until > now),
        decision_models=tuple(DecisionModel.objects.select_related("endpoint")),
        account=tuple(Fact.objects.filter(served_id__startswith=WHOLE_ACCOUNT)),
        watched=frozenset({*((wait.endpoint_id, wait.served_id) for wait in waits), *_doubted(), *_rejected()}),
    )


def _doubted() -> Iterable[tuple[int, str]]:
    return Doubt.objects.values_list("endpoint_id", "served_id")


def _rejected() -> Iterator[tuple[int, str]]:
    rejected = Alert.objects.filter(kind=Alert.Kind.KEY_REJECTED, resolved_at=None).exclude(endpoint=None)
    return ((endpoint, WHOLE_ACCOUNT) for endpoint in rejected.values_list("endpoint_id", flat=True) if endpoint)
