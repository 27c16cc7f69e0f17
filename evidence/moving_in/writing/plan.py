"""What is to be written of some panels: compared with what stands here, and nothing written yet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Prefetch

from evidence.models import Call, Panel, PrunedPanel, Verdict
from evidence.moving_in.reading.offloads import same_judgement
from evidence.moving_in.reading.values import OldPanel, OldSeat, OldVerdict

# Who gave a verdict is not kept there; no key's name can hold a colon.
GIVEN_BY = "import:benchwarmers"
NOT_WHOLE = "Brought over from an offload: the answer is not in the predecessor's log."


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of one seat to write, the last of which counts; `present` is the one in whose place they come."""

    seat_name: str
    verdicts: Sequence[OldVerdict]
    present: Verdict | None = None


@dataclass(slots=True)
class PanelPlan:
    """One panel's. `present`: its row here; `fills`: it was known by its offloads alone, and its answers are known now.

    `is_foreign`: a panel of that id was asked here. `is_pruned`: it was brought over before, and forgotten since. Nothing is
    written of either.
    """

    old: OldPanel
    present: Panel | None = None
    fills: bool = False
    is_foreign: bool = False
    is_pruned: bool = False
    seats: list[OldSeat] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        return self.fills or bool(self.seats) or bool(self.judged)

    def is_new(self, seat_name: str) -> bool:
        return any(seat.seat_name == seat_name for seat in self.seats)


def plan_panels(panels: Iterable[OldPanel], verdicts: Mapping[str, Mapping[str, Sequence[OldVerdict]]]) -> list[PanelPlan]:
    """One plan a panel, in their order; `verdicts` by panel and seat. Four queries."""
    wanted = list(panels)
    panel_ids = [panel.panel_id for panel in wanted]
    rows = _present(panel_ids)
    pruned = set(PrunedPanel.objects.filter(pk__in=panel_ids).values_list("pk", flat=True))
    return [
        PanelPlan(panel, is_pruned=True)
        if panel.panel_id in pruned
        else _plan(panel, rows.get(panel.panel_id), verdicts.get(panel.panel_id, {}))
        for panel in wanted
    ]


def _present(panel_ids: Sequence[str]) -> dict[str, Panel]:
    verdicts = Verdict.objects.order_by("pk")
    calls = Call.objects.only("panel_id", "seat_name").prefetch_related(Prefetch("verdicts", verdicts))
    rows = Panel.objects.filter(panel_id__in=panel_ids).only("panel_id", "format", "notice").order_by()
    return {row.panel_id: row for row in rows.prefetch_related(Prefetch("calls", calls))}


def _plan(old: OldPanel, present: Panel | None, verdicts: Mapping[str, Sequence[OldVerdict]]) -> PanelPlan:
    if present is None:
        judged = [Judged(seat_name, given) for seat_name, given in verdicts.items() if given]
        return PanelPlan(old, seats=list(old.seats), judged=judged)
    if present.format != Panel.BROUGHT_OVER:
        return PanelPlan(old, present, is_foreign=True)
    calls = {call.seat_name: call for call in present.calls.all()}
    plan = PanelPlan(old, present, fills=old.whole and present.notice == NOT_WHOLE)
    plan.seats = [seat for seat in old.seats if seat.seat_name not in calls]
    for seat_name, given in verdicts.items():
        _plan_verdicts(plan, seat_name, given, list(calls[seat_name].verdicts.all()) if seat_name in calls else [])
    return plan


def _plan_verdicts(plan: PanelPlan, seat_name: str, given: Sequence[OldVerdict], here: Sequence[Verdict]) -> None:
    """The verdicts that came after those that are here; where this bench's people gave another, theirs stands."""
    if not given:
        return
    counting = next((verdict for verdict in here if verdict.replaced_at is None), None)
    if counting is None:
        plan.judged.append(Judged(seat_name, given))
    elif same_judgement(counting, given[-1]):
        return
    elif counting.given_by == GIVEN_BY:
        known = [number for number, verdict in enumerate(given) if same_judgement(counting, verdict)]
        plan.judged.append(Judged(seat_name, given[known[-1] + 1 :] if known else given[-1:], counting))
    elif not any(same_judgement(verdict, given[-1]) for verdict in here):
        plan.kept[seat_name] = "a verdict that was given here"
