"""The roster as the request path reads it: one snapshot, kept until a row of it changes, in this process or in another.

Building the same queries for every panel was a fifth of its CPU time; now a panel asks for one number.
"""

from collections.abc import Collection as Sized
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models.signals import post_delete, post_save
from django.utils import timezone

from collections_app.models import (
    Collection,
    CoolDown,
    DecisionModel,
    Endpoint,
    Fact,
    LanguageModel,
    Limits,
    Membership,
    RosterVersion,
    Shape,
)
from collections_app.models.health import covers
from collections_app.models.roster_version import draw_token
from collections_app.selectors import active_models, all_collections, current_limits, know, members_of

ROWS = (Endpoint, LanguageModel, Collection, Membership, Shape, Limits, Fact, CoolDown, DecisionModel)


@dataclass(frozen=True, slots=True)
class Roster:
    """Every row that seating reads, with what it links to. The rows are shared: nobody may change them."""

    collections: Mapping[str, Collection]
    active: tuple[LanguageModel, ...]
    shapes: Mapping[str, Shape]
    limits: Limits
    cool_downs: tuple[CoolDown, ...] = ()
    decision_models: tuple[DecisionModel, ...] = ()

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


class RosterKeeper:
    """Holds the snapshot of one process."""

    def __init__(self) -> None:
        self._token: int | None = None
        self._roster: Roster | None = None

    def current(self) -> Roster:
        """The roster as it is committed now: one query, and five more after a change."""
        # The token first: rows that change in between are read as new under the old token, and read again next time.
        token = RosterVersion.objects.values_list("token", flat=True).first()
        if self._roster is None or token is None or token != self._token:
            self._roster, self._token = _read(), token
        return self._roster


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


def _read() -> Roster:
    collections, active = all_collections(), active_models()
    mergers = [collection.merger for collection in collections if collection.merger]
    know([*active, *mergers, *(model for collection in collections for model in members_of(collection))])
    return Roster(
        collections={collection.name: collection for collection in collections},
        active=tuple(active),
        shapes={shape.name: shape for shape in Shape.objects.all()},
        limits=current_limits(),
        cool_downs=tuple(CoolDown.objects.filter(until__gt=timezone.now())),
        decision_models=tuple(DecisionModel.objects.select_related("endpoint")),
    )
