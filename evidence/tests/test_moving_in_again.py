"""Moving in once more after people, the daily job or another run changed what came over: nothing comes twice or comes back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import Sum

from collections_app.models import Collection, DecisionModel, Endpoint, LanguageModel, Limits, Shape
from collections_app.selectors import members_of
from evidence.counting.tallies import differing
from evidence.models import Call, Panel, PrunedPanel, Tally, Verdict
from evidence.moving_in.writing import panels as writing
from evidence.moving_in.writing.plan import PanelPlan
from evidence.services import record_verdict
from evidence.tests.predecessor import BENCH, CALLS, OFFLOADS, SAMPLE, a_panel, all_rows, an_offload, counts, run, told, write

pytestmark = pytest.mark.django_db
COLLECTIONS = "config/collections.json"
PANEL = a_panel()
CALL = f"{PANEL['panel']}.member1"


def asked() -> int:
    return int(Tally.objects.aggregate(Sum("asked"))["asked__sum"])


def test_what_was_pruned_neither_comes_back_nor_counts_twice(tmp_path: Path) -> None:
    folder = write(tmp_path, {**BENCH, CALLS: [PANEL], OFFLOADS: [an_offload(CALL, useful=True), an_offload(useful=False)]})
    run(folder)
    assert asked() == 3
    call_command("prune_log", days=1)
    before = all_rows()
    report = run(folder)
    assert (counts(report[CALLS]), counts(report[OFFLOADS])) == ((1, 0, 1, 0, 0), (2, 0, 2, 0, 0))
    assert (all_rows(), asked(), Panel.objects.count(), PrunedPanel.objects.count()) == (before, 3, 0, 2)
    write(folder, {CALLS: [PANEL, a_panel(1)]})
    assert counts(run(folder)[CALLS]) == (2, 1, 1, 0, 0)
    assert (asked(), differing()) == (5, [])


def test_of_panels_asked_here_nothing_is_kept_when_they_are_pruned(tmp_path: Path) -> None:
    run(write(tmp_path, {**BENCH, CALLS: [PANEL]}))
    Panel.objects.update(format="openai_chat")
    call_command("prune_log", days=1)
    assert not PrunedPanel.objects.exists()


def test_what_has_another_name_here_is_known_by_it(tmp_path: Path) -> None:
    folder = write(tmp_path, {**BENCH, COLLECTIONS: {"core": {"members": ["slow", "fast"]}}, CALLS: [PANEL]})
    run(folder)
    for row, name in ((Endpoint.objects.get(), "other"), (Collection.objects.get(), "mine")):
        row.name = name
        row.save()
    renamed = LanguageModel.objects.get(alias="fast")
    renamed.alias = "faster"
    renamed.save()
    write(folder, {CALLS: [PANEL, a_panel(1)]})
    report = run(folder)
    assert [line.partition(": kept as it stands here: it is called ")[2] for line in told(report) if ": kept" in line] == [
        "other here now",
        "faster here now",
        "mine here now",
    ]
    assert (Endpoint.objects.count(), LanguageModel.objects.count(), Collection.objects.count()) == (1, 2, 1)
    assert [model.alias for model in members_of(Collection.objects.get())] == ["slow", "faster"]
    latest = Call.objects.filter(panel__panel_id=a_panel(1)["panel"], seat_name="member1").get()
    assert (latest.alias, latest.language_model) == ("faster", renamed)


def test_what_was_deleted_here_stays_deleted(tmp_path: Path) -> None:
    run(SAMPLE)
    Collection.objects.get(name="core").delete()
    DecisionModel.objects.get().delete()
    LanguageModel.objects.get(alias="err-429-1").delete()
    before = all_rows()
    report = run(SAMPLE)
    assert all_rows() == before
    assert sum("it came over before, and was deleted here" in line for line in told(report)) == 3
    assert report[COLLECTIONS]["kept"] == 1


def test_a_limit_that_was_set_back_here_stays_so(tmp_path: Path) -> None:
    folder = write(tmp_path, {"config/gateway.json": {"max_calls": 4, "max_explorers": 1}})
    assert counts(run(folder)["config/gateway.json"]) == (2, 2, 0, 0, 0)
    limits = Limits.objects.get()
    limits.max_calls = 5
    limits.save()
    assert counts(run(folder)["config/gateway.json"]) == (2, 0, 1, 1, 0)
    assert Limits.objects.get().max_calls == 5


def test_a_row_that_people_made_and_deleted_is_no_hindrance(tmp_path: Path) -> None:
    Shape.objects.create(name="mine", roles=["code"]).delete()
    report = run(write(tmp_path, {"config/model-roles.json": {"shapes": {"mine": ["code"]}}}))
    assert report["config/model-roles.json"]["new"] == 1


@pytest.mark.parametrize(
    ("meanwhile", "notes"),
    [
        (run, ["then"]),
        (lambda folder: record_verdict(call_id=CALL, given_by="local", useful=True, note="here"), ["here"]),
        (lambda folder: call_command("prune_log", days=1), []),
    ],
    ids=["another run", "a verdict", "pruning"],
)
def test_what_was_written_between_plan_and_writing_is_seen(
    meanwhile: Callable[[Path], Any], notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, {**BENCH, CALLS: [PANEL], OFFLOADS: [an_offload(CALL)]})
    run(folder)
    write(folder, {OFFLOADS: [an_offload(CALL), an_offload(CALL, useful=True, note="then")]})
    write_plans = writing.PanelWriter.write

    def overtaken(writer: writing.PanelWriter, plans: list[PanelPlan]) -> None:
        monkeypatch.setattr(writing.PanelWriter, "write", write_plans)
        meanwhile(folder)
        write_plans(writer, plans)

    monkeypatch.setattr(writing.PanelWriter, "write", overtaken)
    report = run(folder)
    assert report[OFFLOADS]["new"] == 0
    assert list(Verdict.objects.filter(replaced_at=None).values_list("note", flat=True)) == notes
    assert (differing(), asked()) == ([], 2)
