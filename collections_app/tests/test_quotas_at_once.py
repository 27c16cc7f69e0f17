"""One counter for threads and processes: however many reserve at once, exactly what fits goes out."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from collections_app.models import CoolDown, Usage
from collections_app.models.health import Quota
from collections_app.services.quotas import Claim, reserve
from collections_app.tests.own_database import database_of
from collections_app.tests.rosters import make_endpoint

AT_ONCE = 50
# What each of two processes does: reserves 30 times, and says how many calls may go out.
CHILD = """
import sys
import time
from datetime import UTC, datetime
import django
django.setup()
from collections_app.models.health import Quota
from collections_app.services.quotas import Claim, Reservation, reserve

account = Quota(pattern="*:free", requests_per_day=40, requests_per_minute=45)
own = Quota(pattern=sys.argv[1], requests_per_day=1000)
claim = Claim(endpoint_id=1, quotas=(own, account), tokens=5)
print("ready", flush=True)
sys.stdin.readline()
went = 0
for _ in range(30):
    # At one moment for both, so that no midnight comes in between; and a little apart, so that they take turns.
    went += isinstance(reserve(claim, now=datetime(2026, 11, 29, 12, tzinfo=UTC)), Reservation)
    time.sleep(0.002)
print(went)
"""
PREPARE = """
import django
django.setup()
from collections_app.models import Endpoint
Endpoint.objects.create(pk=1, name="router", base_url="https://router.example/v1")
"""


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_are_counted_exactly() -> None:
    quota = Quota(pattern="fast", requests_per_minute=20, requests_per_day=30)
    claim = Claim(endpoint_id=make_endpoint().pk, quotas=(quota, Quota(pattern="*", tokens_per_minute=10_000)), tokens=7)
    start = Barrier(AT_ONCE)

    def one(_: int) -> str:
        start.wait(20)
        try:
            return type(reserve(claim)).__name__
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert Counter(pool.map(one, range(AT_ONCE))) == {"Reservation": 20, "Refused": 30}
    assert Usage.objects.get(served_id="fast", span="day").requests == 20
    assert Usage.objects.get(served_id="*", span="day").tokens == 20 * 7
    assert not CoolDown.objects.exists()


def python(code: str, folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    own = {"BENCH_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
    environment = database_of(folder).environment | own
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=settings.BASE_DIR, env=environment, **pipes)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    database_of(tmp_path).make()
    assert python(PREPARE, tmp_path).wait(60) == 0
    yield tmp_path
    database_of(tmp_path).drop()


def test_two_processes_share_one_count(folder: Path) -> None:
    children = [python(CHILD, folder, name) for name in ("one:free", "other:free")]
    for child in children:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    went = [int(child.communicate(timeout=60)[0]) for child in children]
    assert sum(went) == 40
    with database_of(folder).open() as database:
        days = "select served_id, requests from collections_app_usage where span = 'day' order by served_id"
        assert database.execute(days).fetchall() == [("*:free", 40), ("one:free", went[0]), ("other:free", went[1])]
        assert database.execute("select served_id from collections_app_cooldown").fetchall() == [("*:free",)]
