import json

import pytest
from django.core.management import ManagementUtility

from evidence.models import Verdict
from evidence.tests.rows import end, make_panel

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(capsys, monkeypatch):
    """Run manage.py with arguments; returns exit status, stdout, stderr."""
    # A command closes its connections when it ends, and with them the test's transaction.
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)

    def run_verdict(*arguments):
        status = 0
        try:
            ManagementUtility(["manage.py", "verdict", *arguments]).execute()
        except SystemExit as left:
            status = left.code
        return status, *capsys.readouterr()

    return run_verdict


def test_a_call_is_judged_from_the_shell(run):
    call_id = end(make_panel(asked_by="app"))
    options = ["--note", "n", "--real", "a", "--real", "b", "--false", "c", "--score", "0.5", "--correction", "Lock."]
    assert run(call_id, "--useful", *options) == (0, f"{call_id}: written\n", "")
    verdict = Verdict.objects.get()
    assert (verdict.useful, verdict.note, verdict.real, verdict.false) == (True, "n", ["a", "b"], ["c"])
    assert (verdict.score, verdict.correction, verdict.given_by) == (0.5, "Lock.", "local")


def test_the_same_verdict_again_says_that_nothing_was_written(run):
    call_id = end(make_panel())
    assert json.loads(run(call_id, "--not-useful", "--json")[1]) == {"ok": True, "written": True, "call": call_id}
    assert json.loads(run(call_id, "--not-useful", "--json")[1]) == {"ok": True, "written": False, "call": call_id}
    assert "on record already" in run(call_id, "--not-useful")[1]
    assert not Verdict.objects.get().useful


@pytest.mark.parametrize(
    "arguments,reason",
    [
        (["p20260102-150405-zzzz.member1", "--useful"], "no call 'p20260102-150405-zzzz.member1'"),
        (["x", "--useful", "--note", "n" * 10_001], "note: at most 10000 characters."),
        (["x", "--useful", "--score", "nan"], "score: must be a number from 0 to 1."),
        (["x", "--useful", "--note", "\udcff"], "note: "),
    ],
)
def test_a_refusal_is_told_on_stderr(run, arguments, reason):
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert reason in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments", [["x"], ["x", "--useful", "--not-useful"], ["--useful"], ["x", "--useful", "--score", "a"]]
)
def test_useful_or_not_must_be_said(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "usage: manage.py verdict" in err


def test_help_has_an_example(run):
    status, out, _ = run("--help")
    assert status == 0
    assert '--useful \\\n      --note "found the race"' in out
