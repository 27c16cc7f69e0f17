"""Panels, calls and verdicts as rows, many in one transaction, counted once for all of them.

Announces none of them: nobody waits for what was asked on another bench, and open pages would be told of each.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from django.db import IntegrityError, transaction

from collections_app.models import Collection
from evidence.counting.claims import find_unique, unique_of
from evidence.counting.tallies import Calls, count, uncount
from evidence.models import Call, Panel, Verdict
from evidence.moving_in.reading.values import OldPanel, OldSeat, OldVerdict
from evidence.moving_in.writing.known import Directory
from evidence.moving_in.writing.plan import GIVEN_BY, NOT_WHOLE, Judged, PanelPlan
from evidence.storable import storable

# As the predecessor estimated: four characters a token, and a tenth more.
CHARACTERS_A_TOKEN, MORE = 4, 1.1


class PanelWriter:
    """Writes plans down, with the models and collections of this bench in the places of their names."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._collections = dict(Collection.objects.values_list("name", "pk"))

    @transaction.atomic
    def write(self, plans: Sequence[PanelPlan]) -> None:
        """Write some panels, at most 500 of them; the same again is to be planned again first.

        Raises IntegrityError, with nothing written, where another writer changed what was planned with.
        """
        writing = [plan for plan in plans if plan.writes]
        self._write_new([plan for plan in writing if plan.present is None])
        changed = [plan for plan in writing if plan.present is not None]
        keys = [plan.present.pk for plan in changed if plan.present]
        # Locked, where a database has such locks, as whoever judges locks them: what is taken off is what is added again.
        if len(Panel.objects.select_for_update().filter(pk__in=keys).order_by("pk").values_list("pk")) < len(keys):
            raise IntegrityError("a panel was pruned meanwhile")
        present = Calls.of_panels(keys)
        uncount(present)
        for plan in changed:
            self._change(plan)
        count(present)

    def _write_new(self, plans: Sequence[PanelPlan]) -> None:
        panels = Panel.objects.bulk_create([Panel(**self._panel(plan.old)) for plan in plans])
        calls: list[Call] = []
        verdicts: list[Verdict] = []
        for plan, panel in zip(plans, panels, strict=True):
            seated = {call.seat_name: call for call in self._calls(panel, plan.old, plan.seats)}
            calls += seated.values()
            verdicts += _verdicts_of(plan.judged, seated)
        Call.objects.bulk_create(calls)
        Verdict.objects.bulk_create(verdicts)
        count(Calls.of_panels([panel.pk for panel in panels]))

    def _change(self, plan: PanelPlan) -> None:
        """Write what came to a panel that is here. Rare: one that was brought over while it was running, or judged since."""
        panel = plan.present
        assert panel is not None
        if plan.fills:
            values = self._panel(plan.old)
            Panel.objects.filter(pk=panel.pk).update(**values)
            for call in self._calls(panel, plan.old, plan.old.seats):
                written = {name: getattr(call, name) for name in _FILLED}
                Call.objects.filter(panel=panel, seat_name=call.seat_name).update(**written)
        Call.objects.bulk_create(self._calls(panel, plan.old, plan.seats))
        seated = {call.seat_name: call for call in Call.objects.filter(panel=panel).only("seat_name")}
        for judged in plan.judged:
            if judged.present is not None:
                Verdict.objects.filter(pk=judged.present.pk).update(replaced_at=judged.verdicts[0].given_at)
        Verdict.objects.bulk_create(_verdicts_of(plan.judged, seated))
        find_unique(panel.pk)

    def _panel(self, old: OldPanel) -> dict[str, Any]:
        values = {
            "panel_id": old.panel_id,
            "asked_at": old.asked_at,
            "asked_by": old.asked_by,
            "format": Panel.BROUGHT_OVER,
            "collection_name": old.collection,
            "shape": old.shape,
            "shape_by": old.shape_by,
            "reply": "merged" if any(seat.seat_name == Call.MERGER for seat in old.seats) else "all",
            "notice": "" if old.whole else NOT_WHOLE,
            "request": old.request,
            "prompt_tokens": math.ceil(len(old.request) / CHARACTERS_A_TOKEN * MORE),
            "skipped": [dict(seat) for seat in old.skipped],
        }
        return {**storable(Panel, values), "collection_id": self._collections.get(old.collection.removeprefix("bench/"))}

    def _calls(self, panel: Panel, old: OldPanel, seats: Iterable[OldSeat]) -> list[Call]:
        ended_as = {seat.seat_name: number for number, seat in enumerate(sorted(old.seats, key=_ended), 1)}
        return [self._call(panel, old, seat, ended_as.get(seat.seat_name)) for seat in seats]

    def _call(self, panel: Panel, old: OldPanel, seat: OldSeat, ended_as: int | None) -> Call:
        known = self._directory.of(seat.alias)
        values = {
            "alias": known.alias,
            "endpoint_name": known.endpoint_name,
            "served_id": known.served_id,
            "shape": old.shape,
            "answer": seat.answer,
            "error": seat.error,
            "ended_as": ended_as,
        }
        return Call(
            panel=panel,
            seat_name=seat.seat_name,
            language_model_id=known.language_model_id,
            asked_at=old.asked_at,
            status=seat.status,
            seconds=seat.seconds,
            **storable(Call, values),
        )


_FILLED = (
    "language_model_id",
    "alias",
    "endpoint_name",
    "served_id",
    "shape",
    "asked_at",
    "status",
    "answer",
    "error",
    "seconds",
    "ended_as",
)


def _verdicts_of(judged: Iterable[Judged], seated: dict[str, Call]) -> list[Verdict]:
    """Every judgement of one panel as rows, with the finds that one seat alone has."""
    rows: list[Verdict] = []
    counting: list[Verdict] = []
    for one in judged:
        made = [_verdict(seated[one.seat_name], verdict) for verdict in one.verdicts]
        for verdict, after in pairwise(made):
            verdict.replaced_at = after.given_at
        rows += made
        counting += made[-1:] if one.seat_name != Call.MERGER else []
    for verdict, finds in zip(counting, unique_of([verdict.real for verdict in counting]), strict=True):
        verdict.unique_finds = finds
    return rows


def _verdict(call: Call, old: OldVerdict) -> Verdict:
    said = {"useful": old.useful, "note": old.note, "real": list(old.real), "false": list(old.false)}
    return Verdict(call=call, given_by=GIVEN_BY, given_at=old.given_at, **storable(Verdict, said))


def _ended(seat: OldSeat) -> tuple[bool, float]:
    """The order in which seats ended, a merger after the others."""
    return seat.seat_name == Call.MERGER, seat.seconds or 0.0
