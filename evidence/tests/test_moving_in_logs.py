"""The predecessor's logs come over line by line: a bad one is told and left out, and no line is brought over twice."""

import os
import re
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import HealthCheck, given, settings, strategies

from evidence.counting.tallies import differing
from evidence.models import Call, Panel, Tally, Verdict
from evidence.moving_in import logs
from evidence.moving_in.writing.staging import Staging
from evidence.services import record_verdict
from evidence.tests.predecessor import (
    BENCH,
    CALLS,
    OFFLOADS,
    a_panel,
    a_seat,
    all_rows,
    an_offload,
    counts,
    encoded,
    run,
    told,
    write,
)
from evidence.tests.rows import make_panel

pytestmark = pytest.mark.django_db
PANEL = a_panel()
ID = PANEL["panel"]
CALL = f"{ID}.member1"


def folder_with(path: Path, calls: Any = (), offloads: Any = ()) -> Path:
    logs_of = {CALLS: list(calls), OFFLOADS: list(offloads)}
    return write(path, {**BENCH, **{name: content for name, content in logs_of.items() if content}})


def verdict_of(call_id: str) -> Verdict:
    return Verdict.objects.get(call__panel__panel_id=call_id.partition(".")[0], replaced_at=None)


def test_an_offload_and_a_panel_of_the_same_call_are_one(tmp_path: Path) -> None:
    report = run(folder_with(tmp_path, [PANEL], [an_offload(CALL), an_offload(CALL, useful=True, note="yes", real=["a"])]))
    assert (counts(report[CALLS]), counts(report[OFFLOADS])) == ((1, 1, 0, 0, 0), (2, 2, 0, 0, 0))
    assert (Panel.objects.count(), Call.objects.count()) == (1, 2)
    assert (verdict_of(CALL).note, verdict_of(CALL).real, verdict_of(CALL).given_by) == ("yes", ["a"], "import:benchwarmers")
    assert Panel.objects.get().asked_at == datetime(2026, 1, 2, 15, 4, tzinfo=UTC)
    assert not differing()


BAD_LINES = {
    "broken JSON": b'{"panel": "p1", \n',
    "no JSON object": b'["not", "an", "object"]\n',
    "not UTF-8": b'{"panel": "\xff\xfe"}\n',
    "broken JSON: NUL": b"\x00\x00\x00\x00\n",
    "broken JSON: a number that is none": b'{"panel": NaN}\n',
    "broken JSON: deep": b'{"panel": ' + b"[" * 100_000 + b"\n",
    "broken JSON: digits": b'{"panel": ' + b"9" * 5_000 + b"}\n",
    "no panel": b"{}\n",
    "panel is no text": b'{"panel": 7, "seats": []}\n',
    "panel is no panel's id": b'{"panel": "../../etc/passwd", "seats": []}\n',
    "seats is no list": b'{"panel": "p20260102-150405-aaaa", "seats": {"a": 1}}\n',
    "at is no date and time": b'{"panel": "odd", "at": "tomorrow", "seats": []}\n',
    "prompt is no text": encoded([a_panel(1, prompt=["list"])]),
    "no seat of it can be read": encoded([a_panel(2, seats=[])]),
}


@pytest.mark.parametrize("why", BAD_LINES)
def test_a_bad_line_is_told_and_the_rest_comes_in(why: str, tmp_path: Path) -> None:
    report = run(folder_with(tmp_path, [PANEL, BAD_LINES[why], a_panel(3)]))
    assert counts(report[CALLS]) == (3, 2, 0, 0, 1)
    assert report[CALLS]["told"][-1] == f"{CALLS}:2: left out: {why.partition(':')[0]}"
    assert Panel.objects.count() == 2


BAD_OFFLOADS = {
    "no model": {"model": None},
    "model is no text": {"model": 5},
    "date is no date": {"date": "31/12/2025"},
    "useful is neither true, false nor null": {"useful": "yes"},
    "real is no list of texts": {"useful": True, "real": "a claim"},
    "false is no list of texts": {"useful": True, "false": [1]},
    "call is no call's id": {"call": "p20260102-150405-aaaa.member1; DROP"},
    "task is no text": {"task": {"a": 1}},
}


@pytest.mark.parametrize("why", BAD_OFFLOADS)
def test_a_bad_offload_is_told_and_the_rest_comes_in(why: str, tmp_path: Path) -> None:
    report = run(folder_with(tmp_path, offloads=[an_offload(), an_offload(**BAD_OFFLOADS[why]), an_offload(task="other")]))
    assert counts(report[OFFLOADS]) == (3, 2, 0, 0, 1)
    assert report[OFFLOADS]["told"] == [f"{OFFLOADS}:2: left out: {why}"]
    assert Call.objects.count() == 2


def test_marks_of_editors_and_blank_lines_are_no_fault(tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbf" + encoded([PANEL]).replace(b"\n", b"\r\n") + b"\r\n  \n" + encoded([a_panel(4)]).rstrip(b"\n")
    report = run(folder_with(tmp_path, [lines]))
    assert counts(report[CALLS]) == (2, 2, 0, 0, 0)


def test_a_last_line_that_is_cut_off_comes_when_it_is_whole(tmp_path: Path) -> None:
    whole = encoded([a_panel(5)])
    folder = folder_with(tmp_path, [PANEL, whole[: len(whole) // 2]])
    report = run(folder)
    assert report[CALLS]["told"] == [f"{CALLS}:2: left out: broken JSON: the last line is cut off"]
    write(folder, {CALLS: [PANEL, whole]})
    assert counts(run(folder)[CALLS]) == (2, 1, 1, 0, 0)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LONGEST_OFFLOAD", 10_000)
    offloads = [an_offload(), an_offload(task="x" * 3_000_000), an_offload(task="other"), b"y" * 20_000]
    report = run(folder_with(tmp_path, offloads=offloads))
    assert counts(report[OFFLOADS]) == (4, 2, 0, 0, 2)
    assert report[OFFLOADS]["told"][0] == f"{OFFLOADS}:2: left out: longer than 0.01 MB"


def test_seats_that_cannot_be_read_cost_no_other_seat(tmp_path: Path) -> None:
    seats = [
        a_seat(ID, "member1", "fast"),
        a_seat("p20260102-150400-ffff", "member2", "slow"),
        a_seat(ID, "member3", "slow", status="pending"),
        a_seat(ID, "member1", "slow"),
        a_seat(ID, "a seat", "slow"),
        "no seat",
        a_seat(ID, "member4", "slow", seconds="long", error=None, unknown={"field": 1}),
    ]
    report = run(folder_with(tmp_path, [a_panel(seats=seats)]))
    assert [line.partition(": ")[2] for line in report[CALLS]["told"]] == [
        "its seat 2 was left out: call is no call's id of this panel",
        "its seat 3 was left out: status is none of ok, empty, error",
        "its seat 4 was left out: its call is there twice",
        "its seat 5 was left out: call is no call's id of this panel",
        "its seat 6 was left out: no object",
    ]
    assert list(Call.objects.values_list("seat_name", "alias", "seconds")) == [
        ("member1", "fast", 1.5),
        ("member4", "slow", None),
    ]


@pytest.mark.parametrize(
    ("at", "asked_at"),
    [
        ("2026-01-02T15:05:00", datetime(2026, 1, 2, 15, 4, tzinfo=UTC)),
        ("2026-01-02T15:05:00+02:00", datetime(2026, 1, 2, 13, 4, tzinfo=UTC)),
        # The clock of another machine: the time in the id is not its own.
        ("2026-03-09T10:00:00+00:00", datetime(2026, 3, 9, 10, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", datetime(2026, 1, 2, 15, 4, tzinfo=UTC)),
        (None, datetime(2026, 1, 2, 15, 4, tzinfo=UTC)),
    ],
)
def test_dates_without_a_zone_or_sense(at: str | None, asked_at: datetime, tmp_path: Path) -> None:
    run(folder_with(tmp_path, [a_panel(at=at)]))
    assert Panel.objects.get().asked_at == asked_at


def test_the_same_panel_twice_comes_in_once(tmp_path: Path) -> None:
    report = run(folder_with(tmp_path, [PANEL, a_panel(prompt="Another?"), a_panel(8)]))
    assert counts(report[CALLS]) == (3, 2, 0, 0, 1)
    assert "its panel is in an earlier line" in report[CALLS]["told"][0]
    assert Panel.objects.get(panel_id=ID).request == "user: Is there a race?"


def test_the_same_offload_twice_is_two_pieces_of_work(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, offloads=[an_offload(), an_offload(), an_offload(useful=True)])
    run(folder)
    assert Call.objects.count() == 3
    write(folder, {OFFLOADS: [an_offload(), an_offload(), an_offload(useful=True), an_offload()]})
    assert counts(run(folder)[OFFLOADS]) == (4, 1, 3, 0, 0)
    assert Call.objects.count() == 4


def test_lines_that_came_since_are_brought_over_alone(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, [PANEL], [an_offload(CALL)])
    run(folder)
    first = Panel.objects.get()
    later = [an_offload(CALL), an_offload(CALL, useful=False), an_offload(CALL, useful=True, note="after all"), an_offload()]
    write(folder, {CALLS: [PANEL, a_panel(9)], OFFLOADS: later})
    report = run(folder)
    assert (counts(report[CALLS]), counts(report[OFFLOADS])) == ((2, 1, 1, 0, 0), (4, 3, 1, 0, 0))
    assert Panel.objects.get(panel_id=ID).pk == first.pk
    assert list(Verdict.objects.order_by("pk").values_list("useful", "note")) == [(False, ""), (True, "after all")]
    write(folder, {OFFLOADS: [*later, an_offload(CALL, useful=False, note="no")]})
    assert counts(run(folder)[OFFLOADS]) == (5, 1, 4, 0, 0)
    assert (verdict_of(CALL).note, Verdict.objects.count()) == ("no", 3)
    assert not differing()
    before = all_rows()
    run(folder)
    assert all_rows() == before


def test_a_judgement_that_came_back_is_no_reason_to_bring_over_those_between_again(tmp_path: Path) -> None:
    lines = [an_offload(CALL), *(an_offload(CALL, useful=useful) for useful in (True, False, True))]
    folder = folder_with(tmp_path, [PANEL], lines)
    run(folder)
    write(folder, {OFFLOADS: [*lines, an_offload(CALL, useful=False, note="last")]})
    run(folder)
    assert list(Verdict.objects.order_by("pk").values_list("useful", flat=True)) == [True, False, True, False]


def test_finds_are_unique_by_what_was_judged_since(tmp_path: Path) -> None:
    seats = [a_seat(ID, "member1", "fast"), a_seat(ID, "member2", "slow")]
    first, second = (f"{ID}.{seat['call'].partition('.')[2]}" for seat in seats)
    lines = [an_offload(first, useful=True, real=["a race", "a leak"])]
    folder = folder_with(tmp_path, [a_panel(seats=seats)], lines)
    run(folder)
    assert Verdict.objects.get().unique_finds == 0
    write(folder, {OFFLOADS: [*lines, an_offload(second, useful=True, real=["A  leak"], model="slow")]})
    run(folder)
    assert list(Verdict.objects.order_by("pk").values_list("unique_finds", flat=True)) == [1, 0]
    assert not differing()


def test_a_panel_that_was_running_is_filled_in_when_it_is_over(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, offloads=[an_offload(CALL), an_offload(CALL, useful=True)])
    run(folder)
    running = Panel.objects.get()
    assert (running.panel_id, running.collection_name, running.shape) == (ID, "bench/core", "review")
    assert (Call.objects.get().status, Call.objects.get().seconds, Call.objects.get().answer) == ("ok", 1.5, "")
    write(folder, {CALLS: [a_panel(shape="code")]})
    report = run(folder)
    assert (counts(report[CALLS]), counts(report[OFFLOADS])) == ((1, 1, 0, 0, 0), (2, 0, 2, 0, 0))
    filled = Panel.objects.get()
    assert (filled.pk, filled.request, filled.notice) == (running.pk, "user: Is there a race?", "")
    assert list(filled.calls.values_list("seat_name", "answer", "shape")) == [
        ("member1", "No stale read.", "code"),
        ("explorer", "", "code"),
    ]
    assert verdict_of(CALL).useful
    assert not differing()
    before = all_rows()
    run(folder)
    assert all_rows() == before


def test_a_verdict_that_was_given_here_stands(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, [PANEL], [an_offload(CALL, useful=True)])
    run(folder)
    record_verdict(call_id=CALL, given_by="local", useful=False, note="looked again")
    assert counts(run(folder)[OFFLOADS]) == (1, 0, 1, 0, 0)
    write(folder, {OFFLOADS: [an_offload(CALL, useful=True), an_offload(CALL, useful=True, note="there too")]})
    report = run(folder)
    assert report[OFFLOADS]["kept"]
    assert "a verdict that was given here" in report[OFFLOADS]["told"][-1]
    assert verdict_of(CALL).note == "looked again"


def test_a_panel_that_was_asked_here_stands(tmp_path: Path) -> None:
    mine = make_panel(panel_id=ID)
    before = all_rows()
    report = run(folder_with(tmp_path, [PANEL], [an_offload(CALL, useful=True)]), "--dry-run")
    assert (counts(report[CALLS]), counts(report[OFFLOADS])) == ((1, 0, 0, 1, 0), (1, 0, 0, 1, 0))
    assert all_rows() == before
    run(tmp_path)
    assert list(mine.calls.values_list("status", flat=True)) == ["running", "running"]


def test_what_no_database_holds_is_made_storable_once(tmp_path: Path) -> None:
    odd = "nul \x00 and half \ud83d"
    folder = folder_with(tmp_path, [a_panel(prompt=odd)], [an_offload(CALL, useful=True, note=odd, real=[odd], model="m\x00")])
    run(folder)
    assert "\x00" not in Panel.objects.get().request
    before = all_rows()
    run(folder)
    assert all_rows() == before


def test_a_model_that_is_not_here_keeps_its_evidence_under_its_alias(tmp_path: Path, admin_client: Any) -> None:
    run(folder_with(tmp_path, [a_panel(seats=[a_seat(ID, "member1", "Gone-Model:Free")])]))
    call = Call.objects.get()
    assert (call.alias, call.language_model, call.endpoint_name) == ("gone-model:free", None, "")
    assert Tally.objects.get().alias == "gone-model:free"
    page = admin_client.get(f"/admin/evidence/panel/{call.panel_id}/seat/member1/").content.decode()
    assert f"<code>{ID}.member1</code>\n    </p>" in re.sub(r"\n\s*\n", "\n", page)


def test_links_out_of_the_folder_and_what_is_no_file_are_told(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(encoded([PANEL]))
    folder = write(tmp_path / "bench", BENCH)
    (folder / "runs/gateway").mkdir(parents=True)
    (folder / "metrics").mkdir()
    (folder / CALLS).symlink_to(outside)
    os.mkfifo(folder / OFFLOADS)
    (folder / "config/retired.json").symlink_to("retired.json")
    report = run(folder)
    assert not Panel.objects.exists()
    assert f"{CALLS}: left out: a link that leads out of the folder: put the file itself there" in told(report)
    assert f"{OFFLOADS}: left out: no file" in told(report)
    assert any(line.startswith("config/retired.json: left out:") for line in told(report))
    (folder / CALLS).unlink()
    (folder / "kept.jsonl").write_bytes(encoded([PANEL]))
    (folder / CALLS).symlink_to("../../kept.jsonl")
    assert counts(run(folder)[CALLS]) == (1, 1, 0, 0, 0)


def test_a_folder_that_cannot_be_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=r"nothing was brought over: .* cannot be read: File name too long"):
        run(tmp_path / ("a" * 5_000))
    folder = folder_with(tmp_path, [PANEL])
    lstat = Path.lstat

    def forbidden(path: Path) -> Any:
        if path.parent.name == "metrics":
            raise PermissionError(13, "Permission denied")
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", forbidden)
    assert counts(run(folder)[CALLS]) == (1, 1, 0, 0, 0)


def test_a_full_disk_is_told_without_a_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Staging, "add", full)
    with pytest.raises(CommandError, match="not all was brought over: database or disk is full"):
        run(folder_with(tmp_path, [PANEL], [an_offload()]))


def test_a_million_bad_lines_are_counted_and_some_told(tmp_path: Path) -> None:
    report = run(folder_with(tmp_path, [b"bad\n" * 2_500, PANEL]))
    assert counts(report[CALLS]) == (2_501, 1, 0, 0, 2_500)
    assert (len(report[CALLS]["told"]), report[CALLS]["untold"]) == (1_000, {"left out: broken JSON": 1_500})


def test_a_run_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "PANELS_AT_ONCE", 2)
    folder = folder_with(tmp_path, [a_panel(number) for number in range(5)], [an_offload(CALL, useful=True)])
    written = logs.PanelWriter.write
    batches: list[int] = []

    def write_until_it_breaks(self: Any, plans: Any) -> None:
        batches.append(len(plans))
        if len(batches) == 2:
            raise KeyboardInterrupt
        written(self, plans)

    with monkeypatch.context() as broken:
        broken.setattr(logs.PanelWriter, "write", write_until_it_breaks)
        with pytest.raises(KeyboardInterrupt):
            run(folder)
    assert (Panel.objects.count(), differing()) == (2, [])
    assert counts(run(folder)[CALLS]) == (5, 3, 2, 0, 0)
    assert (Panel.objects.count(), differing()) == (5, [])


ALIASES = strategies.sampled_from(["fast", "slow", "Unknown Model", "\u2603"])
GOOD_PANELS = strategies.builds(
    lambda number, alias: a_panel(number, seats=[a_seat(a_panel(number)["panel"], "member1", alias)]),
    strategies.integers(0, 9),
    ALIASES,
)
GOOD_OFFLOADS = strategies.one_of(
    strategies.builds(
        lambda number, useful: an_offload(f"{a_panel(number)['panel']}.member1", useful),
        strategies.integers(0, 9),
        strategies.sampled_from([None, True, False]),
    ),
    strategies.builds(lambda task: an_offload(task=task), strategies.text(max_size=5)),
)
JSON = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers() | strategies.floats() | strategies.text(max_size=9),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
BAD = strategies.one_of(
    strategies.binary(max_size=20).map(lambda raw: b"\xff" + raw.replace(b"\n", b"") + b"\n"),
    JSON.map(lambda value: encoded([{"model": 1, "panel": 1, "seats": value, "task": value}])),
    strategies.sampled_from([b"[]\n", b"{}\n", b"null\n", b"{\n", b"\x00\n"]),
)


def of_good(lines: Iterable[Any]) -> list[Any]:
    return [line for line in lines if not isinstance(line, bytes)]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.lists(GOOD_PANELS | BAD, max_size=12), strategies.lists(GOOD_OFFLOADS | BAD, max_size=12))
def test_of_any_lines_the_good_ones_come_in(calls: list[Any], offloads: list[Any]) -> None:
    for rows in (Panel, Tally):
        rows.objects.all().delete()
    with TemporaryDirectory() as made:
        folder = folder_with(Path(made), calls, offloads)
        report = run(folder)
        named = {line["call"] for line in of_good(offloads) if "call" in line}
        named |= {seat["call"] for panel in of_good(calls) for seat in panel["seats"]}
        unnamed = sum("call" not in line for line in of_good(offloads))
        assert Call.objects.count() == len(named) + unnamed
        judged = {line["call"] for line in of_good(offloads) if line["useful"] is not None}
        assert Verdict.objects.filter(replaced_at=None).count() == len(judged)
        bad = [sum(isinstance(line, bytes) for line in lines) for lines in (calls, offloads)]
        twice = len(of_good(calls)) - len({panel["panel"] for panel in of_good(calls)})
        assert (report[CALLS]["left_out"], report[OFFLOADS]["left_out"]) == (bad[0] + twice, bad[1])
        assert not differing()
        before = all_rows()
        run(folder)
        assert all_rows() == before
