"""Every command of the project looks alike: told about with an example, failing with the reason and nothing else."""

import json
from types import SimpleNamespace

import pytest
from django.core.management import ManagementUtility, call_command, get_commands, load_command_class
from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError, connection

from benchsite.tests.docs.commands import names
from collections_app.management.base import INTERRUPTED, NOISE, BenchCommand
from gateway.tests.running_server import RunningServer

OURS = [(name, get_commands()[name]) for name in names()]


class Noted(BenchCommand):
    """A command that does what a test tells it to."""

    help = "A first line.\n\nA paragraph that goes\non:\n\n  and a list"
    example = "python manage.py noted\nTWICE=1 python manage.py noted"
    reports = True
    fails: BaseException | None = None

    def handle(self, *args, **options):
        if self.fails:
            raise self.fails
        self.report({"done": 1}, "Done: 1.", as_json=options["json"])


def test_there_are_all_that_the_product_has():
    assert {"serve", "load_bench", "dump_bench", "onboard", "refresh_catalog", "verdict", "create_key"} <= set(names())
    assert {"prune_log", "export_evidence", "run_job", "rotate_secrets", "check_tallies"} <= set(names())
    assert {"ask", "mcp", "import_benchwarmers"} <= set(names())


@pytest.mark.parametrize(("name", "app"), OURS)
def test_help_has_an_example_in_its_own_lines_and_none_of_djangos_options(name, app, capsys):
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", name, "--help"]).execute()
    told = capsys.readouterr()
    assert (ended.value.code, told.err) == (0, "")
    head, _, examples = told.out.rpartition("Example:\n")
    assert head.startswith(f"usage: manage.py {name}")
    assert examples.count(f"python manage.py {name}")
    assert all(line.startswith("  ") for line in examples.splitlines() if line)
    assert not [option for option in NOISE if option in told.out]
    command = load_command_class(app, name)
    assert isinstance(command, BenchCommand)
    assert ("--json" in head) == command.reports


@pytest.mark.parametrize("name", [name for name, _ in OURS])
def test_a_wrong_argument_is_told_with_the_usage(name, capsys):
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", name, "--no-such-option"]).execute()
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert told.err.startswith(f"usage: manage.py {name}")
    assert f"manage.py {name}: error: " in told.err


def run(command, *arguments: str) -> int:
    """The exit status of a command as the shell sees it."""
    try:
        command.run_from_argv(["manage.py", "noted", *arguments])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_what_came_of_it_is_text_or_json(capsys):
    assert run(Noted()) == 0
    assert capsys.readouterr().out == "Done: 1.\n"
    assert run(Noted(), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"done": 1}


@pytest.mark.parametrize(
    ("fails", "status", "said"),
    [
        (CommandError("nothing was done: no reason"), 1, "CommandError: nothing was done: no reason\n"),
        (OperationalError("no such table: x"), 1, "the database does not answer: no such table: x. `python manage.py migrate`"),
        (KeyboardInterrupt(), INTERRUPTED, "Interrupted.\n"),
    ],
)
def test_a_failure_is_its_reason_on_standard_error(fails, status, said, monkeypatch, capsys):
    monkeypatch.setattr("collections_app.management.base.connection", SimpleNamespace(vendor="sqlite"))
    command = Noted()
    command.fails = fails
    assert run(command) == status
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "Traceback" not in told.err


def test_of_a_server_that_is_away_nobody_is_told_to_make_a_new_one(monkeypatch, capsys):
    monkeypatch.setattr("collections_app.management.base.connection", SimpleNamespace(vendor="postgresql"))
    command = Noted()
    command.fails = OperationalError("connection refused")
    assert run(command) == 1
    assert capsys.readouterr().err == "CommandError: the database does not answer: connection refused\n"
    command.fails = ProgrammingError("there is no table x")
    assert run(command) == 1
    assert capsys.readouterr().err.endswith("x. `python manage.py migrate` makes a new one.\n")


def test_what_is_broken_in_here_keeps_its_traceback():
    command = Noted()
    command.fails = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        run(command)


def test_settings_that_make_no_sense_are_told_before_anything_is_done(settings, capsys):
    settings.BENCHWARMERS_PUBLIC_URL = "no url"
    assert run(Noted()) == 1
    assert "bench.E003" in capsys.readouterr().err
    command = Noted()
    command.checks = False
    assert run(command) == 0
    # Who calls a command from code has checked already.
    call_command(Noted())


def test_help_keeps_lists_and_examples_and_joins_the_lines_of_a_paragraph(capsys):
    assert run(Noted(), "--help") == 0
    told = capsys.readouterr().out
    assert "A first line.\n\nA paragraph that goes on:\n\n  and a list\n" in told
    assert told.endswith("Example:\n  python manage.py noted\n  TWICE=1 python manage.py noted\n")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="a database of SQLite's is made by whoever opens it")
def test_from_a_shell_a_command_without_a_database_says_what_to_do(tmp_path):
    done = RunningServer(tmp_path).manage("verdict", "p20260102-150405-7f3a.member1", "--useful", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "python manage.py migrate" in done.stderr
    assert "Traceback" not in done.stderr
