"""Daily jobs: once a day across processes, caught up, tried again, ended in good order, and told in the dashboard."""

import http.cookies
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from benchsite.celery import app
from benchsite.jobs import daily
from benchsite.jobs.claims import LEASE, ask_now, claim, due, release, renew, set_up
from benchsite.jobs.daily import JOBS, Job, JobFailedError, Step
from benchsite.jobs.running import run_job
from benchsite.jobs.thread import DailyJobs
from benchsite.jobs.timing import APART, next_due, retry_due
from benchsite.models import JobRun
from collections_app.catalog.refresh import Outcome, Summary
from gateway.tests.running_server import RunningServer, running_server

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **span: float) -> None:
        self.now += timedelta(**span)


def jobs(run: Callable[[Step], str], *names: str) -> Mapping[str, Job]:
    return {name: Job(name, "A test's.", run) for name in names or ("sweep",)}


def a_run(
    clock: Clock, run: Callable[[Step], str] = lambda _: "swept", *, if_due: bool = True, **options: object
) -> JobRun | None:
    return run_job("sweep", if_due=if_due, clock=clock, jobs=jobs(run), **options)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_a_job_runs_once_a_day_however_often_it_is_looked_at() -> None:
    clock, runs = Clock(), []
    for _ in range(30 * 24 * 4):
        if a_run(clock, lambda _: runs.append(clock.now) or "swept"):
            assert JobRun.objects.get().said == "swept"
        clock.pass_by(minutes=15)
    assert len(runs) in (30, 31)
    gaps = [later - earlier for earlier, later in pairwise(runs)]
    assert min(gaps) >= APART
    assert {round(gap / timedelta(hours=1)) for gap in gaps[1:]} == {24}


@pytest.mark.django_db
def test_missed_days_are_caught_up_by_one_run() -> None:
    clock = Clock()
    a_run(clock)
    clock.pass_by(days=5)
    caught_up = a_run(clock)
    assert caught_up is not None and caught_up.due_at > clock.now
    assert a_run(clock) is None


def test_two_installations_ask_at_different_times_and_each_at_its_own() -> None:
    times = {next_due("refresh_catalog", f"secret-{n}", NOON).time() for n in range(20)}
    assert len(times) == 20
    for after in (NOON, NOON + timedelta(hours=5), NOON + timedelta(days=1)):
        when = next_due("refresh_catalog", "secret-1", after)
        assert when.time() == next_due("refresh_catalog", "secret-1", NOON).time()
        assert APART <= when - after <= APART + timedelta(days=1)


def test_failures_are_tried_again_later_and_later_and_no_later_than_the_next_day() -> None:
    waits = [(retry_due("sweep", "secret", NOON, failures) - NOON) / timedelta(minutes=1) for failures in (1, 2, 3, 4, 20, 500)]
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[4] == waits[5] == 360


@pytest.mark.django_db
def test_a_failing_job_is_told_and_tried_again_and_a_good_run_forgets_it() -> None:
    def fails(_: Step) -> str:
        raise JobFailedError("nobody answered at https://host.example/x?key=secret-value-123 \x00\ud800")

    clock = Clock()
    failed = a_run(clock, fails)
    assert failed is not None
    assert (failed.outcome, failed.failures, failed.due_at - clock.now) == ("failed", 1, timedelta(minutes=5))
    assert "nobody answered" in failed.said and "secret-value" not in failed.said
    assert "\x00" not in JobRun.objects.get(name=failed.name).said
    clock.pass_by(minutes=4)
    assert a_run(clock, fails) is None
    clock.pass_by(minutes=1)
    again = a_run(clock, fails)
    assert again is not None and (again.failures, again.due_at - clock.now) == (2, timedelta(minutes=10))
    clock.pass_by(minutes=10)
    good = a_run(clock)
    assert good is not None and (good.outcome, good.failures) == ("done", 0)


@pytest.mark.django_db
def test_a_fault_of_a_job_is_logged_and_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    failed = a_run(Clock(), lambda _: str(1 // 0))
    assert failed is not None and failed.said.startswith("ZeroDivisionError")
    assert "The daily job sweep failed" in caplog.text


@pytest.mark.django_db
def test_a_stop_ends_a_job_between_two_steps_and_it_stays_due() -> None:
    clock, done = Clock(), []

    def work(step: Step) -> str:
        for number in range(3):
            step()
            done.append(number)
        return "all"

    stopped = a_run(clock, work, stopping=lambda: len(done) == 2)
    assert done == [0, 1]
    assert stopped is not None
    assert (stopped.outcome, stopped.claimed_until, stopped.failures) == ("stopped", None, 0)
    assert due(clock.now) == ["sweep"]


@pytest.mark.django_db
def test_a_claim_is_anothers_until_it_ends_by_itself() -> None:
    set_up(["sweep"], NOON)
    assert claim("sweep", NOON, "one", if_due=True)
    assert not claim("sweep", NOON, "two", if_due=False)
    assert due(NOON) == [] and not ask_now("sweep", NOON)
    assert not claim("sweep", NOON + LEASE - timedelta(seconds=1), "two", if_due=True)
    assert renew("sweep", NOON + LEASE / 2, "one") and not renew("sweep", NOON, "two")
    assert not claim("sweep", NOON + LEASE, "two", if_due=True)
    assert claim("sweep", NOON + 2 * LEASE, "two", if_due=True)
    assert not renew("sweep", NOON + 2 * LEASE, "one")


@pytest.mark.django_db
@pytest.mark.parametrize("died", [False, True])
def test_a_clock_that_is_put_back_keeps_no_job_from_running(*, died: bool) -> None:
    clock, runs = Clock(), []
    clock.pass_by(days=400)
    a_run(clock)
    if died:
        assert claim("sweep", clock.now, "dead", if_due=False)
    clock.pass_by(days=-400)
    for _ in range(3 * 24):
        if due(clock.now) and a_run(clock):
            runs.append(clock.now)
        clock.pass_by(hours=1)
    # At once, and then once a day at this installation's hour, which may come a fourth time in three days.
    assert len(runs) in (3, 4) and runs[0] == NOON
    assert all(timedelta(hours=12) <= later - earlier <= timedelta(hours=36) for earlier, later in pairwise(runs))


@pytest.mark.django_db
def test_a_long_job_holds_its_claim_and_ends_when_it_has_lost_it() -> None:
    clock, held = Clock(), []

    def long(step: Step) -> str:
        for _ in range(4):
            clock.pass_by(minutes=10)
            step()
            held.append(claim("sweep", clock.now, "thief", if_due=False))
        clock.pass_by(minutes=16)
        held.append(claim("sweep", clock.now, "thief", if_due=False))
        step()
        return "never"

    assert a_run(clock, long) is not None
    assert held == [False] * 4 + [True]
    assert (JobRun.objects.get().claimed_by, JobRun.objects.get().said) == ("thief", "")


@pytest.mark.django_db
def test_a_process_that_ends_lets_go_of_what_it_held() -> None:
    set_up(["sweep", "other"], NOON)
    assert claim("sweep", NOON, "mine", if_due=True) and claim("other", NOON, "theirs", if_due=True)
    assert release("mine", NOON) == 1
    assert due(NOON) == ["sweep"]


CONTENDER = """
import random, sys, time
import django
django.setup()
from django.utils import timezone
from benchsite.jobs.claims import claim, due
# Each in an order of its own: in one and the same whoever is a step ahead would stay so, and get them all.
names = random.sample(sys.argv[1:], len(sys.argv[1:]))
assert set(due(timezone.now())) == set(names)
print("ready", flush=True)
sys.stdin.readline()
for name in names:
    if claim(name, timezone.now(), "one of two", if_due=True):
        print(name)
    # So that they take turns.
    time.sleep(0.005)
"""


def test_of_two_processes_one_gets_each_claim(tmp_path: Path) -> None:
    server = RunningServer(tmp_path)
    server.data.make()
    names = [f"job-{number}" for number in range(60)]
    with server.database() as database:
        rows = [(name, "2026-01-01 00:00:00+00:00") for name in names]
        database.executemany(
            "insert into benchsite_jobrun (name, due_at, outcome, said, failures, claimed_by) values (?, ?, '', '', 0, '')",
            rows,
        )
    environment = os.environ | server.data.environment
    environment |= {"BENCH_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
    contenders = [
        subprocess.Popen(
            [sys.executable, "-c", CONTENDER, *names],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for contender in contenders:
        assert contender.stdout and contender.stdout.readline() == "ready\n"
    for contender in contenders:
        assert contender.stdin
        contender.stdin.write("go\n")
        contender.stdin.flush()
    got = [set(contender.communicate(timeout=60)[0].split()) for contender in contenders]
    assert got[0] & got[1] == set()
    assert got[0] | got[1] == set(names)
    assert got[0] and got[1], "they never met"


@pytest.mark.django_db(transaction=True)
def test_the_thread_runs_what_is_due_one_after_the_other() -> None:
    at_once, most, ended = [0], [0], threading.Event()

    def work(_: Step) -> str:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        time.sleep(0.05)
        at_once[0] -= 1
        return "done"

    def last(_: Step) -> str:
        ended.set()
        return "done"

    thread = DailyJobs(jobs={**jobs(work, "a", "b", "c"), **jobs(last, "z")}, first_look=lambda: 0.0)
    thread.start()
    assert ended.wait(10)
    thread.close()
    assert not thread.alive
    assert most == [1]
    assert set(JobRun.objects.values_list("name", "outcome")) == {(name, "done") for name in "abcz"}


@pytest.mark.django_db(transaction=True)
def test_a_closed_thread_leaves_no_claim_whether_its_job_ends_or_not() -> None:
    for takes_steps in (True, False):
        began, let_go = threading.Event(), threading.Event()

        def work(
            step: Step, takes_steps: bool = takes_steps, began: threading.Event = began, let_go: threading.Event = let_go
        ) -> str:
            began.set()
            while not let_go.wait(0.01):
                if takes_steps:
                    step()
            return "late"

        JobRun.objects.all().delete()
        thread = DailyJobs(jobs=jobs(work), first_look=lambda: 0.0)
        thread.start()
        assert began.wait(10)
        started = time.monotonic()
        thread.close(0.3)
        assert time.monotonic() - started < 10
        left = JobRun.objects.get()
        assert (left.outcome, left.claimed_until) == ("stopped", None)
        assert due(timezone.now()) == ["sweep"]
        let_go.set()
        deadline = time.monotonic() + 5
        while thread.alive and time.monotonic() < deadline:
            time.sleep(0.01)
        assert JobRun.objects.get().outcome == "stopped"


@pytest.mark.django_db(transaction=True)
def test_the_thread_outlives_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    ended = threading.Event()
    monkeypatch.setattr("benchsite.jobs.thread.LOOKS_EVERY_SECONDS", 0.02)
    looks = iter([RuntimeError("away")])

    def sometimes(now: datetime) -> list[str]:
        for error in looks:
            raise error
        return due(now)

    monkeypatch.setattr("benchsite.jobs.thread.due", sometimes)
    thread = DailyJobs(jobs=jobs(lambda _: ended.set() or "done"), first_look=lambda: 0.0)
    thread.start()
    assert ended.wait(10)
    thread.close()
    assert "could not be looked up" in caplog.text


@pytest.mark.django_db
def test_every_job_of_ours_runs_and_says_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Summary([Outcome("models.dev"), Outcome("openrouter", error="HTTP 500")])
    monkeypatch.setattr(daily, "refresh", lambda progress: progress("x", 0, 1) or read)
    for name in JOBS:
        run = run_job(name, if_due=True)
        assert run is not None
        assert (run.outcome, bool(run.said)) == ("done", True), run.said


@pytest.mark.django_db
def test_a_refresh_that_could_read_nothing_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "refresh", lambda progress: Summary([Outcome("models.dev", error="no network")]))
    run = run_job("refresh_catalog", if_due=True)
    assert run is not None and (run.outcome, "models.dev" in run.said) == ("failed", True)


@pytest.mark.django_db
def test_the_command_runs_a_job_once_and_says_what_came_of_it() -> None:
    said = StringIO()
    call_command("run_job", "prune_health", stdout=said)
    call_command("run_job", "prune_health", "--if-due", stdout=said)
    assert said.getvalue() == "prune_health: 0 rows removed.\nprune_health: not due, or running elsewhere.\n"
    JobRun.objects.update(claimed_until=timezone.now() + LEASE)
    with pytest.raises(CommandError, match="another process"):
        call_command("run_job", "prune_health")
    with pytest.raises(CommandError):
        call_command("run_job", "nonsense")


@pytest.mark.django_db
def test_the_command_fails_when_the_job_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "forget_health", lambda _: 1 // 0)
    with pytest.raises(CommandError, match="failed: ZeroDivisionError"):
        call_command("run_job", "prune_health")


@pytest.mark.django_db
def test_the_page_shows_every_job_and_asks_for_a_run_by_post_alone(client: Client) -> None:
    page = client.get("/admin/benchsite/jobrun/").content.decode()
    for name in JOBS:
        assert name in page and f'formaction="/admin/benchsite/jobrun/{name}/run/"' in page
    assert page.count("not run yet") == len(JOBS)
    JobRun.objects.filter(name="prune_log").update(
        due_at=timezone.now() + timedelta(days=1), outcome="failed", failures=3, said="<script>alert(1)</script>"
    )
    JobRun.objects.filter(name="clear_sessions").update(claimed_until=timezone.now() + LEASE)
    page = client.get("/admin/benchsite/jobrun/").content.decode()
    assert "failed 3 times" in page and "<script>alert(1)" not in page and ">running<" in page
    assert client.get("/admin/benchsite/jobrun/prune_log/run/").status_code == 405
    told = client.post("/admin/benchsite/jobrun/prune_log/run/", follow=True).content.decode()
    assert "prune_log is due now" in told
    assert JobRun.objects.get(name="prune_log").due_at <= timezone.now()
    assert "is running already" in client.post("/admin/benchsite/jobrun/clear_sessions/run/", follow=True).content.decode()
    assert "no such job" in client.post("/admin/benchsite/jobrun/nonsense/run/", follow=True).content.decode()


def test_a_server_runs_what_the_page_asks_for_and_stops_in_good_order(tmp_path: Path) -> None:
    with running_server(tmp_path, "", BENCH_DAILY_JOBS="1") as server:
        page = server.request("GET", "/admin/benchsite/jobrun/")
        # Of the others none may leave this machine.
        with server.database() as database:
            database.execute("update benchsite_jobrun set due_at = ?", [str(datetime.now(UTC) + timedelta(days=1))])
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.body.decode())
        assert token
        cookies = "; ".join(
            f"{name}={morsel.value}" for name, morsel in http.cookies.SimpleCookie(page.headers["set-cookie"]).items()
        )
        form = urlencode({"csrfmiddlewaretoken": token[1]}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookies}
        assert server.request("POST", "/admin/benchsite/jobrun/prune_health/run/", headers=headers, raw=form).status == 302
        ran = "select name, outcome from benchsite_jobrun where started_at is not null"
        deadline = time.monotonic() + 10
        while server.rows(ran) != [("prune_health", "done")] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.rows(ran) == [("prune_health", "done")]
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 10
    assert "Traceback" not in server.log


def test_a_look_that_beat_queues_outlives_clocks_that_disagree():
    """A worker drops what its own clock says has expired, and says nothing."""
    assert app.conf.beat_schedule.keys() == JOBS.keys()
    for look in app.conf.beat_schedule.values():
        assert look["options"]["expires"] >= 30 * look["schedule"]
