"""A genuine folder of the predecessor comes over whole: what is configured, who may ask, what was asked and judged."""

import shutil
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.core.management import CommandError, call_command
from django.test import override_settings

from collections_app.models import Collection, DecisionModel, Endpoint, LanguageModel, Limits
from collections_app.selectors import members_of
from collections_app.services.retirement import restore
from evidence.models import Call, Panel, Tally, Verdict
from evidence.selectors.standing import Wanted, records
from evidence.tests.predecessor import CALLS, KEYS, OFFLOADS, SAMPLE, all_rows, counts, run, told
from evidence.tests.rows import asked_on
from keys.errors import KeyUnknown
from keys.services import admit

pytestmark = pytest.mark.django_db
FIRST = "p20261130-030655-848a"


@pytest.fixture
def report() -> dict[str, dict[str, Any]]:
    return run(SAMPLE)


def check_tallies() -> str:
    out = StringIO()
    call_command("check_tallies", stdout=out)
    return out.getvalue()


def test_everything_comes_in(report: dict[str, dict[str, Any]]) -> None:
    assert all(file["left_out"] == file["kept"] == 0 for file in report.values())
    assert counts(report[CALLS]) == (4, 4, 0, 0, 0)
    assert counts(report[OFFLOADS]) == (20, 20, 0, 0, 0)
    # Four panels, and three offloads that belong to none; of those one is an agent's conversation.
    assert (Panel.objects.count(), Call.objects.count(), Verdict.objects.count()) == (7, 16, 5)
    assert "16 calls equal the log" in check_tallies()


def test_what_is_configured(report: dict[str, dict[str, Any]]) -> None:
    place = Endpoint.objects.get(name="mock-2")
    assert (place.protocol, place.base_url, place.api_key_env) == ("openai_chat", "http://127.0.0.1:9/v1", "MOCK_2_API_KEY")
    # One base URL, two endpoints: the key's name tells which one a model is on.
    assert LanguageModel.objects.get(alias="say-second-endpoint").endpoint == place
    found = LanguageModel.objects.values_list("alias", "role", "status", "options")
    assert ("say-second-endpoint", "code", "ad_hoc", {}) in found
    assert ("ok", "general", "active", {"max_tokens": 512}) in found
    assert members_of(Collection.objects.get(name="core"))[1].alias == "say-a-race-in-line-40"
    reviewers = Collection.objects.select_related("shape", "merger").get(name="reviewers")
    assert (str(reviewers.shape), str(reviewers.merger), reviewers.reply, reviewers.tags) == (
        "review",
        "ok",
        "merged",
        ["code", "review"],
    )
    assert Limits.objects.values_list("max_calls", "max_explorers").get() == (4, 1)
    decider = DecisionModel.objects.get()
    assert (decider.url, decider.picks_shapes) == ("http://127.0.0.1:9/v1/decisions", True)


def test_a_retired_model_keeps_why_and_can_be_restored(report: dict[str, dict[str, Any]]) -> None:
    model = LanguageModel.objects.get(alias="say-retired")
    assert (model.status, model.retired_why) == ("retired", "")
    whys = [entry.changes.get("why") for entry in LogEntry.objects.get_for_object(model)]
    assert ["", "retired on 2026-11-30 by ui: no longer needed"] in whys
    restore(model)
    assert model.status == "active"


@override_settings(BENCHWARMERS_REQUIRE_KEYS=True)
def test_a_key_that_worked_there_works_here(report: dict[str, dict[str, Any]]) -> None:
    caller = admit(KEYS["chat-ui"])
    assert (caller.name, caller.collections, caller.rpm) == ("chat-ui", frozenset({"core"}), 30)
    assert admit(KEYS["agent"]).collections is None
    with pytest.raises(KeyUnknown):
        admit(KEYS["agent"][:-1] + "N")


def test_a_panel_of_the_log_and_its_offloads_are_the_same_calls(report: dict[str, dict[str, Any]]) -> None:
    panel = Panel.objects.get(panel_id=FIRST)
    assert (panel.asked_by, panel.collection_name, panel.shape, panel.reply) == ("chat-ui", "bench/core", "general", "all")
    assert panel.collection == Collection.objects.get(name="core")
    assert panel.request == "system: Be brief.\n\nuser: Is there a race in line 40?"
    assert panel.skipped == [{"seat": "member", "alias": "say-retired", "why": "retired"}]
    found = panel.calls.values_list("seat_name", "alias", "status", "answer", "endpoint_name", "ended_as")
    assert list(found) == [
        ("member1", "ok", "ok", "The answer is 42.", "mock", 1),
        ("member2", "say-a-race-in-line-40", "ok", "a race in line 40 ", "mock", 2),
        ("explorer", "empty", "empty", "", "mock", 3),
    ]
    verdict = panel.calls.get(seat_name="member1").verdict
    assert verdict and (verdict.useful, verdict.note, verdict.real, verdict.false) == (
        True,
        "found the race",
        ["line 40 reads before the lock"],
        ["line 12 leaks"],
    )
    assert verdict.unique_finds == 1


def test_a_verdict_that_was_changed_is_history(report: dict[str, dict[str, Any]]) -> None:
    call = Call.objects.get(panel__panel_id=FIRST, seat_name="member2")
    # Without a note there, it was given the one that its seat had; that is no word of whoever judged.
    history = [(verdict.useful, verdict.note, verdict == call.verdict) for verdict in call.verdicts.order_by("pk")]
    assert history == [(False, "", False), (True, "on second thoughts", True)]


def test_a_panel_was_asked_when_its_id_says_and_not_when_it_was_over(report: dict[str, dict[str, Any]]) -> None:
    failed = Call.objects.get(status="error")
    assert failed.asked_at == datetime(2026, 11, 30, 3, 6, 55, tzinfo=UTC)
    assert (failed.seconds, failed.ended_as) == (2.0, 3)


def test_a_renamed_model_keeps_its_record(report: dict[str, dict[str, Any]]) -> None:
    call = Call.objects.get(panel__request="summarise the notes")
    assert (call.alias, call.language_model) == ("renamed-model", LanguageModel.objects.get(alias="renamed-model"))


def test_it_shows_on_the_leaderboard_and_in_rotation(report: dict[str, dict[str, Any]]) -> None:
    ok = next(record for record in records(Wanted(shape="general")) if record.alias == "ok")
    assert (ok.asked, ok.answered, ok.useful, ok.claims_real, ok.claims_false) == (4, 4, 2, 2, 1)
    assert Tally.objects.filter(seat="explorer", alias="empty").exists()
    model = LanguageModel.objects.get(alias="empty")
    assert asked_on("quick", [model.pk])[model.pk] == (datetime(2026, 11, 30, 3, 6, 55, tzinfo=UTC), 1)


def test_every_page_of_it_opens(report: dict[str, dict[str, Any]], admin_client: Any) -> None:
    for panel in Panel.objects.all():
        assert admin_client.get(f"/admin/evidence/panel/{panel.pk}/change/").status_code == 200
        for call in panel.calls.all():
            page = admin_client.get(f"/admin/evidence/panel/{panel.pk}/seat/{call.seat_name}/")
            assert page.status_code == 200, call
    listed = admin_client.get("/admin/evidence/panel/", {"format": "benchwarmers"}).content.decode()
    assert FIRST in listed
    assert admin_client.get("/admin/evidence/tally/", {"shape": "every"}).status_code == 200


def test_a_second_run_writes_nothing(report: dict[str, dict[str, Any]]) -> None:
    before = all_rows()
    again = run(SAMPLE)
    assert all_rows() == before
    assert not any(file["new"] or file["kept"] or file["left_out"] for file in again.values())
    assert counts(again[OFFLOADS]) == (20, 0, 20, 0, 0)


def test_a_dry_run_writes_nothing_and_tells_the_same() -> None:
    before = all_rows()
    dry = run(SAMPLE, "--dry-run")
    assert all_rows() == before
    assert dry == run(SAMPLE)
    assert all_rows() != before


def test_the_report_names_no_prompt_no_answer_and_no_key(report: dict[str, dict[str, Any]]) -> None:
    shown = " ".join(told(report))
    assert "MOCK_API_KEY" in shown
    assert not any(secret in shown for secret in ("line 40", "42", "Be brief", *KEYS.values(), "64317f64"))


def test_a_folder_that_is_none_of_its_is_refused(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "none of the files"), (tmp_path / "none", "no folder"), (Path(__file__), "is no folder")):
        with pytest.raises(CommandError, match=why):
            run(path)
    assert not Panel.objects.exists()


def test_as_text_every_file_has_a_line(tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLE, tmp_path / "copy")
    (folder / "config/gateway.json").unlink()
    out = StringIO()
    call_command("import_benchwarmers", str(folder), stdout=out)
    lines = out.getvalue().splitlines()
    assert "config/gateway.json: not there" in lines
    assert "runs/gateway/calls.jsonl: 4 read, 4 new" in lines
