"""A worker that cannot join the others says why, and does not join them in order to leave."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings


def said_by(asked: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """What a process says that has the site's Celery app, as `site`, and does what is asked with it."""
    told = {"BENCH_DATA_DIR": str(folder), "DATABASE_URL": "", "REDIS_URL": ""}
    command = [sys.executable, "-c", f"from benchsite import celery as site\n{asked}"]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env={**os.environ, **told}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("end", ["site.leave()", "site.drain()"])
def test_one_that_has_not_joined_does_not_join_to_leave(end: str, tmp_path: Path) -> None:
    done = said_by(f"{end}\nprint(site.seat_worker.cache_info().currsize, repr(site.this_process().name))", tmp_path)
    assert (done.stdout, done.stderr) == ("0 ''\n", "")


def test_what_else_is_not_there_is_not_taken_for_the_metrics_port(tmp_path: Path) -> None:
    done = said_by("site.seat_worker = lambda: open('/nowhere/none')\nsite.join()", tmp_path)
    assert done.returncode == 1
    assert "This worker cannot join the others (FileNotFoundError)" in done.stderr
    assert "BENCH_METRICS_PORT" not in done.stderr
