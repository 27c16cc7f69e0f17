"""The log as JSON: every line of the server's an object, with the same words as the text, and no more of a request in it."""

import json
import logging
import os
import subprocess
import sys
import time

import pytest
from django.conf import settings

from benchsite.log.json_lines import FIELDS, JsonFormatter
from benchsite.log.lines import LineFormatter
from gateway.tests.celery_bench import eventually
from gateway.tests.running_server import free_port, running_server


@pytest.fixture(scope="module")
def server(loud_bench, tmp_path_factory):
    loudly = {"DJANGO_SETTINGS_MODULE": "benchsite.tests.failing_settings", "BENCH_LOG_FORMAT": "json"}
    with running_server(tmp_path_factory.mktemp("json"), loud_bench, **loudly) as running:
        yield running


def lines_of(server, logger, after=0, least=1):
    """What a logger has said since, as objects; every other line has to be one too."""
    deadline = time.monotonic() + 20
    while True:
        found = [json.loads(line) for line in server.log[after:].splitlines()]
        mine = [line for line in found if line["logger"] == logger]
        if len(mine) >= least:
            return mine
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def test_a_request_is_one_object(server):
    before = len(server.log)
    chat = {"model": "bench/pair", "messages": [{"role": "user", "content": "quokka"}]}
    server.request("POST", "/v1/chat/completions?key=quokka", chat)
    (line,) = lines_of(server, "bench.access", before)
    assert line.pop("ms") >= 300
    assert line.pop("time").endswith("Z")
    assert line.pop("message").startswith("POST /v1/chat/completions 200 ")
    assert line == {
        "level": "INFO",
        "logger": "bench.access",
        "method": "POST",
        "route": "/v1/chat/completions",
        "status": 200,
        "caller": "local",
    }
    assert "quokka" not in server.log


def test_an_error_is_one_object_with_where_it_arose(server):
    before = len(server.log)
    server.request("GET", "/fail/ValueError")
    line = next(line for line in lines_of(server, "django.request", before) if "error" in line)
    assert line["level"] == "ERROR"
    assert any("failing_site.py" in told for told in line["error"])
    assert line["error"][-1].startswith("ValueError: (its words may quote a request")


def test_what_a_start_says_is_an_object_too(server):
    said = [line["message"] for line in lines_of(server, "benchsite.management.commands.serve", least=3)]
    assert said[0].startswith("Benchsite ")


def record(message, *args, **extra):
    made = logging.getLogger("gateway.views").makeRecord("gateway.views", logging.INFO, "/p.py", 1, message, args, None)
    vars(made).update(extra)
    return made


@pytest.mark.parametrize("said", ["two\nlines", '"quoted"', "a \u2028 separator", "Ümlaut", "sk-proj-1234567890abcdef", "\x00"])
def test_whatever_is_said_is_one_line_with_the_words_of_the_text(said):
    written = JsonFormatter().format(record("%s", said))
    assert len(written.splitlines()) == 1
    assert json.loads(written)["message"] == LineFormatter().format(record("%s", said)).partition("gateway.views: ")[2]


def test_fields_cannot_stand_for_what_a_line_is():
    line = json.loads(JsonFormatter().format(record("Said", **{FIELDS: {"panel": "p1", "message": "Other", "level": "Other"}})))
    assert (line["message"], line["level"], line["panel"]) == ("Said", "INFO", "p1")


def test_a_format_that_is_none_is_refused(tmp_path, loud_bench):
    wrong = pytest.raises(AssertionError, match='BENCH_LOG_FORMAT is "text" or "json", not "xml"')
    with wrong, running_server(tmp_path, loud_bench, BENCH_LOG_FORMAT="xml"):
        pass


def test_a_worker_says_nothing_that_is_no_line_of_json(tmp_path):
    told = {"BENCH_DATA_DIR": str(tmp_path), "BENCH_LOG_FORMAT": "json", "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0"}
    # Not as root, of which Celery warns whoever does.
    command = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "benchsite", "worker"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=settings.BASE_DIR, env={**os.environ, **told}, stdout=log, stderr=log)
    try:
        eventually(lambda: "Error" in (tmp_path / "log").read_text(), 30)
        process.terminate()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait(10)
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line for line in lines if not line.startswith('{"time":')] == []
    assert json.loads(lines[0])["logger"].startswith("celery")


@pytest.mark.parametrize(("written", "quiet"), [("json", "True\n"), ("text", "False\n")])
def test_beat_greets_nobody_who_collects_lines_of_json(written, quiet, tmp_path):
    told = {"BENCH_DATA_DIR": str(tmp_path), "BENCH_LOG_FORMAT": written, "REDIS_URL": ""}
    asked = "from benchsite.celery import app; print(app.Beat(quiet=False).quiet)"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env={**os.environ, **told}, capture_output=True, text=True, check=True
    )
    assert done.stdout == quiet
