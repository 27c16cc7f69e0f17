import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evidence.services import record_verdict
from evidence.tables import lines
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db
FORMULA = '=HYPERLINK("http://127.0.0.1:9/"&A1,"open")'


def exported(**options) -> str:
    said = StringIO()
    call_command("export_evidence", stdout=said, **options)
    return said.getvalue()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


@pytest.fixture
def judged():
    """`fast` was useful and `slow` failed; the merge is not judged. The note would be a formula."""
    panel = make_panel(("member1", "fast"), ("explorer1", "slow"), ("merger", "fast"))
    call = end(panel, "member1", seconds=2.5)
    end(panel, "explorer1", status="error", error_kind="timeout", answer="")
    end(panel, "merger")
    record_verdict(call_id=call, given_by="local", useful=True, note=FORMULA, real=["a race", "-2 is even"], false=[])
    return panel


def test_models_are_written_by_shape_with_counts_and_intervals(judged):
    fast, slow, merger = rows_of(exported(format="csv"))
    assert (fast["alias"], fast["shape"], fast["asked"], fast["judged"], fast["useful"]) == ("fast", "general", "1", "1", "1")
    assert (fast["share_low_95"], fast["share_high_95"], fast["claims_real"]) == ("0.2065", "1.0", "2")
    assert (fast["median_seconds"], fast["timed"], fast["merging"]) == ("2.5", "1", "False")
    assert (slow["failed"], slow["share_low_95"], slow["share_high_95"]) == ("1", "", "")
    assert (merger["alias"], merger["merging"], merger["verdicts_owed"]) == ("fast", "True", "1")


def test_json_lines_say_the_same(judged):
    fast, _, _ = (json.loads(line) for line in exported(format="jsonl").splitlines())
    assert (fast["alias"], fast["useful"], fast["merging"], fast["last_asked"][-1]) == ("fast", 1, False, "Z")


def test_calls_are_written_with_the_verdict_that_counts(judged):
    record_verdict(call_id=f"{judged.panel_id}.member1", given_by="local", useful=False, real=["ä"])
    fast, slow, _ = (json.loads(line) for line in exported(format="jsonl", table="calls").splitlines())
    assert (fast["call"], fast["status"], fast["useful"]) == (f"{judged.panel_id}.member1", "ok", False)
    assert (fast["claims_real"], fast["unique_finds"], fast["asked_by"]) == (["ä"], 0, "local")
    assert (slow["seat"], slow["error_kind"], slow["useful"], slow["claims_real"]) == ("explorer1", "timeout", None, None)
    text = exported(format="csv", table="calls")
    assert "No stale read." not in text
    assert "Is there a race here?" not in text


def test_no_cell_of_a_table_is_a_formula(judged):
    fast = rows_of(exported(format="csv", table="calls"))[0]
    assert fast["note"] == f"'{FORMULA}"
    assert json.loads(fast["claims_real"]) == ["a race", "-2 is even"]
    assert json.loads(exported(format="jsonl", table="calls").splitlines()[0])["note"] == FORMULA


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"])
def test_each_sign_that_begins_a_formula_is_met(text):
    read = csv.reader(StringIO("".join(lines(["a"], [[text]])), newline=""))
    assert list(read) == [["a"], [f"'{text}"]]


def test_numbers_are_left_as_they_are():
    assert list(lines(["a", "b", "c"], [[-1, -0.5, None]]))[1] == "-1,-0.5,\r\n"


def test_the_latest_days_alone():
    end(make_panel(("member1", "fast"), minutes_ago=9 * 24 * 60))
    end(make_panel(("member1", "slow")))
    assert [row["alias"] for row in rows_of(exported(format="csv", days=7))] == ["slow"]
    assert [row["alias"] for row in rows_of(exported(format="csv", table="calls", days=7))] == ["slow"]
    with pytest.raises(CommandError, match="--days -1"):
        exported(format="csv", days=-1)


def test_it_is_written_to_a_file_or_says_why_not(judged, tmp_path: Path):
    said = StringIO()
    call_command("export_evidence", format="csv", output=tmp_path / "models.csv", stderr=said)
    assert said.getvalue().startswith("3 rows written to ")
    assert len(rows_of((tmp_path / "models.csv").read_text(encoding="utf-8"))) == 3
    with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
        call_command("export_evidence", format="csv", output=tmp_path / "no" / "models.csv")
