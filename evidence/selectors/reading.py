"""One panel to be read: its seats with the beginnings of their texts, which may be megabytes; and each text whole."""

from typing import TypeVar

from django.db.models import Prefetch, QuerySet, Window
from django.db.models.functions import Length, RowNumber, Substr

from evidence.models import Call, Panel, Verdict
from evidence.storable import clean_text

# Texts of a call that may be of any length.
TEXTS = ("answer", "partial", "reasoning")
LONGEST_HEAD = 60_000
LONGEST_ERROR = 4_000
# The one that counts and those before it; a caller may change its mind without end.
MOST_VERDICTS = 11
Row = TypeVar("Row", Panel, Call)


def panel_to_read(pk: int) -> Panel | None:
    """Return a panel with its calls in seat order, in three queries.

    Of `request` and of each of TEXTS it has `<name>_head`, the beginning, and `<name>_length`; of verdicts the latest.
    """
    latest = Window(RowNumber(), partition_by="call", order_by=("-given_at", "-pk"))
    verdicts = Verdict.objects.annotate(nth=latest).filter(nth__lte=MOST_VERDICTS)
    calls = _with_heads(Call.objects.order_by("pk"), TEXTS).defer(*TEXTS, "error")
    calls = calls.annotate(error_head=Substr("error", 1, LONGEST_ERROR))
    panels = _with_heads(Panel.objects.filter(pk=pk), ("request",)).defer("request")
    return panels.prefetch_related(Prefetch("calls", calls), Prefetch("calls__verdicts", verdicts)).first()


def call_to_judge(call_id: str) -> Call | None:
    """Return the call with that id, its panel and its latest verdicts, without their texts."""
    panel_id, _, seat_name = clean_text(call_id).rpartition(".")
    calls = Call.objects.filter(panel__panel_id=panel_id, seat_name=seat_name).select_related("panel")
    shown = ("seat_name", "alias", "status", "panel__panel_id", "panel__asked_by", "panel__collection_name")
    return (
        calls.only(*shown)
        .prefetch_related(Prefetch("verdicts", Verdict.objects.only("call_id", "useful", "given_by", "replaced_at")))
        .first()
    )


def whole_text(call: Call, name: str) -> str:
    """Return one of a call's TEXTS, all of it. Raises Call.DoesNotExist where the log has forgotten it."""
    return str(Call.objects.filter(pk=call.pk).values_list(name, flat=True).get())


def whole_request(panel: Panel) -> str:
    """Return what was asked, all of it. Raises Panel.DoesNotExist where the log has forgotten it."""
    return Panel.objects.values_list("request", flat=True).get(pk=panel.pk)


def pk_of_panel(panel_id: str) -> int | None:
    """Return the row of a panel known by its id."""
    return Panel.objects.filter(panel_id=clean_text(panel_id)).values_list("pk", flat=True).first()


def _with_heads(rows: QuerySet[Row], names: tuple[str, ...]) -> QuerySet[Row]:
    heads = {f"{name}_head": Substr(name, 1, LONGEST_HEAD) for name in names}
    return rows.annotate(**heads, **{f"{name}_length": Length(name) for name in names})
