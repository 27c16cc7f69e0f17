"""Old panels are forgotten, and what rotation and merging know of models by them stays."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum
from django.test import override_settings
from django.utils import timezone

from collections_app.models import LanguageModel
from evidence import pruning
from evidence.again import KnownAs
from evidence.counting.tallies import COUNTS
from evidence.models import Call, IdempotencyKey, Panel, Tally, Verdict
from evidence.pruning import Pruned, prune_panels
from evidence.selectors import useful_verdicts
from evidence.services import record_verdict
from evidence.tests.rows import asked_on, end, make_model, make_panel

pytestmark = pytest.mark.django_db

DAY = 24 * 60


def ended_panel(*seats: tuple[str, str], days_ago: float, **panel: str) -> Panel:
    made = make_panel(*seats, minutes_ago=days_ago * DAY, **panel)
    for call in made.calls.all():
        end(made, call.seat_name)
    return made


def judge(panel: Panel, seat_name: str, useful: bool, **claims: list[str]) -> None:
    record_verdict(call_id=f"{panel.panel_id}.{seat_name}", given_by="local", useful=useful, **claims)


def known() -> tuple[object, object]:
    models = [model.pk for model in LanguageModel.objects.all()]
    last_asked = {pk: last for pk, (last, _) in asked_on("general", models).items()}
    return last_asked, useful_verdicts("general", models)


def of(alias: str) -> dict[str, int]:
    """What a model's tallies come to."""
    return Tally.objects.filter(alias=alias).aggregate(**{name: Sum(name) for name in COUNTS})


def before(days: float):
    return timezone.now() - timedelta(days=days)


def test_old_panels_go_with_all_they_hold_and_newer_ones_stay() -> None:
    old = ended_panel(days_ago=91, known_as=KnownAs("key", "0" * 64))
    judge(old, "member1", True)
    new = ended_panel(days_ago=89)
    assert prune_panels(before(90)) == Pruned(panels=1, calls=2)
    assert list(Panel.objects.all()) == [new]
    assert (Call.objects.count(), Verdict.objects.count(), IdempotencyKey.objects.count()) == (2, 0, 0)
    assert prune_panels(before(90)) == Pruned()


def test_rotation_and_judgement_know_as_much_as_before() -> None:
    for days, seats in [
        (100, [("member1", "fast"), ("explorer1", "slow")]),
        (50, [("member1", "fast")]),
        (1, [("member1", "fast")]),
    ]:
        judge(ended_panel(*seats, days_ago=days), "member1", useful=days > 10)
    merged = ended_panel(("member1", "fast"), ("member2", "slow"), ("merger", "third"), days_ago=60)
    judge(merged, "merger", True)
    make_model("never")
    before_it = known()
    for days in (90, 10):
        prune_panels(before(days))
        assert known() == before_it
    slow = make_model("slow").pk
    assert asked_on("general", [slow])[slow][1] == 2
    ended_panel(("member1", "slow"), days_ago=0)
    last, _ = asked_on("general", [slow])[slow]
    assert last is not None and last > before(1)


def test_counts_add_up_over_several_prunings() -> None:
    for days in (30, 20):
        panel = make_panel(("member1", "fast"), ("member2", "slow"), minutes_ago=days * DAY)
        end(panel, "member1")
        end(panel, "member2", status="error" if days == 30 else "empty", answer="")
        judge(panel, "member1", days == 30, real=["a", "b"], false=["c"])
        judge(panel, "member1", days == 30, real=["a"])
        prune_panels(before(days - 1))
    fast, slow = of("fast"), of("slow")
    assert (fast["asked"], fast["answered"], fast["useful"], fast["not_useful"]) == (2, 2, 1, 1)
    assert (fast["claims_real"], fast["claims_false"], fast["owed"]) == (2, 0, 0)
    assert (slow["asked"], slow["answered"], slow["empty"], slow["failed"]) == (2, 0, 1, 1)
    tallies = Tally.objects.filter(alias="fast").order_by("day")
    assert [tally.language_model for tally in tallies] == [make_model("fast")] * 2
    assert [round((timezone.now() - tally.last_asked) / timedelta(days=1)) for tally in tallies] == [30, 20]


def test_shapes_and_merging_are_kept_apart() -> None:
    ended_panel(("member1", "fast"), ("merger", "fast"), days_ago=9, shape="code")
    ended_panel(("member1", "fast"), days_ago=9, shape="prose")
    prune_panels(before(1))
    kept = Tally.objects.order_by("shape", "seat").values_list("shape", "seat", "asked")
    assert list(kept) == [("code", "member", 1), ("code", "merger", 1), ("prose", "member", 1)]
    assert asked_on("code", [make_model("fast").pk])[make_model("fast").pk][1] == 1


def test_a_model_that_is_deleted_leaves_its_counts() -> None:
    ended_panel(("member1", "fast"), days_ago=9)
    prune_panels(before(1))
    make_model("fast").delete()
    assert (Tally.objects.get().language_model, Tally.objects.get().asked) == (None, 1)
    ended_panel(("member1", "fast"), days_ago=9)
    prune_panels(before(1))
    assert (Tally.objects.get().language_model, Tally.objects.get().asked) == (make_model("fast"), 2)


def test_a_panel_that_still_runs_stays() -> None:
    running = make_panel(minutes_ago=9 * DAY)
    end(running, "member1")
    assert prune_panels(before(1)) == Pruned()
    end(running, "explorer1")
    assert prune_panels(before(1)).panels == 1


def test_many_go_in_batches_and_a_stop_between_two_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BATCH", 3)
    monkeypatch.setattr(pruning, "BATCH_ELSEWHERE", 3)
    for _ in range(7):
        ended_panel(("member1", "fast"), days_ago=9)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        prune_panels(before(1), after_each=stop)
    assert (Panel.objects.count(), Tally.objects.get(in_log=False).asked, Tally.objects.get(in_log=True).asked) == (4, 3, 4)
    assert prune_panels(before(1)).panels == 4
    assert (Tally.objects.get().asked, Tally.objects.get().in_log) == (7, False)


def test_the_command_keeps_as_many_days_as_it_is_told() -> None:
    ended_panel(days_ago=31)
    said = StringIO()
    call_command("prune_log", days=30, stdout=said)
    assert said.getvalue() == "1 panels and 2 calls removed; their counts are kept.\n"
    assert not Panel.objects.exists()


@pytest.mark.parametrize("days", [0, -1, 10**9])
@override_settings(BENCH_LOG_DAYS=0)
def test_the_command_without_days_removes_nothing(days: int) -> None:
    ended_panel(days_ago=10_000)
    with pytest.raises(CommandError, match="BENCH_LOG_DAYS"):
        call_command("prune_log", days=days)
    with pytest.raises(CommandError):
        call_command("prune_log")
    assert Panel.objects.exists()
