"""/metrics: exact numbers after real panels, few labels, nothing of what was said, and who may read it."""

import re
import threading
import time
from contextlib import contextmanager

import pytest
from django.conf import settings
from django.test import Client, override_settings
from prometheus_client.parser import text_string_to_metric_families

from benchsite.observing.access import metrics_tries
from benchsite.tests.scraping import TOKEN, of_the_bench, samples, scrape
from gateway.telemetry.metrics import MOST_NAMES, OTHER, known
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.3"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
    "mute": {"model": "empty", "status": "ad_hoc"},
    "gone": {"model": "say-gone", "status": "retired"},
    "late": {"model": "slow-3", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "steady"],
    "half": ["fast", "broken", "gone"],
    "left": ["fast", "gone"],
    "mute": ["mute"],
    "failing": ["broken"],
    "late": ["late"],
}
ADMIN_TOKEN = "an-admin-token-of-this-test"
PROMPT = "Does quokka4711 read stale rows?"


@pytest.fixture(scope="module")
def server(loud_upstream, tmp_path_factory):
    bench = bench_file(loud_upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("counted"), bench) as running:
        yield running


@pytest.fixture(scope="module")
def counted(server):
    """What /metrics says after these requests, and no others."""
    before = scrape(server)
    assert before.status == 200
    assert not [key for key in of_the_bench(before.body) if key[0] in ("bench_panels_total", "bench_seats_total")]
    for collection in ("pair", "pair", "half", "left", "mute", "failing"):
        server.chat(f"bench/{collection}", PROMPT)
    merged = server.chat("bench/pair:merged", PROMPT).json["bench"]
    streamed = server.chat("bench/pair", PROMPT, stream=True)
    assert streamed.status == 200
    server.chat("nobody", PROMPT)
    server.request("POST", "/v1/chat/completions", {"model": "bench/pair", "messages": PROMPT})
    server.request("GET", "/v1/models", headers={"Host": "quokka.example"})
    for useful in (True, True, False):
        server.request("POST", "/bench/verdict", {"call": merged["seats"][0]["call"], "useful": useful})
    return scrape(server)


def test_panels_are_counted_by_how_they_went(counted):
    panels = {key[1:]: value for key, value in of_the_bench(counted.body).items() if key[0] == "bench_panels_total"}
    assert panels == {
        ("bench/pair", "whole", "all"): 3,
        ("bench/pair", "whole", "merged"): 1,
        ("bench/half", "degraded", "all"): 1,
        ("bench/left", "degraded", "all"): 1,
        ("bench/mute", "unanswered", "all"): 1,
        ("bench/failing", "unanswered", "all"): 1,
    }


def test_seats_are_counted_by_endpoint_and_status(counted):
    found = of_the_bench(counted.body)
    assert {key[1:]: value for key, value in found.items() if key[0] == "bench_seats_total"} == {
        ("fake", "member", "ok"): 10,
        ("fake", "member", "error"): 2,
        ("fake", "member", "empty"): 1,
        ("fake", "merger", "ok"): 1,
    }
    assert found["bench_seat_errors_total", "fake", "unavailable"] == 2


def test_seconds_and_first_tokens_are_histograms(counted):
    found = of_the_bench(counted.body)
    assert found["bench_seat_seconds_count", "fake"] == 14
    # Four of steady's, which take 0.3 s each, and whoever merged.
    assert found["bench_seat_seconds_sum", "fake"] >= 4 * 0.3
    assert found["bench_seat_seconds_bucket", "fake", "0.25"] <= 14 - 4
    assert found["bench_seat_seconds_bucket", "fake", "+Inf"] == 14
    # Not of those that failed or said nothing.
    assert found["bench_first_token_seconds_count", "fake"] == 11
    assert found["bench_panel_seconds_count", "all"] == 7
    assert found["bench_panel_seconds_count", "merged"] == 1


def test_refusals_are_counted_by_why(counted):
    found = of_the_bench(counted.body)
    assert {key[1]: value for key, value in found.items() if key[0] == "bench_refusals_total"} == {
        "nobody_answered": 2,
        "not_found": 1,
        "bad_request": 1,
        "host_refused": 1,
    }


def test_a_verdict_that_changes_nothing_is_not_counted_again(counted):
    found = of_the_bench(counted.body)
    assert {key[1]: value for key, value in found.items() if key[0] == "bench_verdicts_total"} == {"yes": 1, "no": 1}


def test_jobs_checks_and_the_process_are_there(counted):
    found = samples(counted.body)
    assert found["bench_info", "0.1.0"] == 1
    assert {key[1]: value for key, value in found.items() if key[0] == "bench_check_ok"} == {
        "database": 1,
        "migrations": 1,
        "seats": 1,
    }
    assert found["bench_job_failures", "refresh_catalog"] == 0
    assert found["process_resident_memory_bytes",] > 10_000_000


def test_a_job_that_has_run_says_when(server):
    done = server.manage("run_job", "clear_sessions")
    assert done.returncode == 0, done.stderr
    found = of_the_bench(scrape(server).body)
    assert time.time() - 60 < found["bench_job_ended_timestamp_seconds", "clear_sessions", "done"] <= time.time()


def test_nothing_of_what_was_said_is_in_it(counted):
    told = counted.body
    for said in (b"quokka", b"stale", b"local", b"say-No", b"fast", b"steady"):
        assert said not in told, said


def test_the_documentation_tells_of_every_number_and_of_its_labels(counted):
    page = (settings.BASE_DIR / "docs/deployment.md").read_text()
    rows = re.findall(r"^\| (`bench_.*?) \| (.*?) \|", page, re.MULTILINE)
    told = {name: set(filter(None, labels.split(", "))) for names, labels in rows for name in re.findall(r"`(\w+)`", names)}
    there = {}
    for family in text_string_to_metric_families(counted.body.decode()):
        if family.name.startswith("bench_"):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            there[name] = {label for sample in family.samples for label in sample.labels} - {"le"}
    assert told.keys() == there.keys()
    for name, labels in there.items():
        # One row tells of two, of which one has a label less; what nothing was counted of has none.
        assert labels <= told[name], name


def test_it_is_small(counted):
    assert len(of_the_bench(counted.body)) < 150


def test_it_counts_what_is_under_way(server):
    with busy(server):
        found = of_the_bench(scrape(server).body)
        assert found["bench_panels_running",] == 1
        assert found["bench_seats_running",] == found["bench_seats_asking",] == 1
        assert found["bench_seats_queued",] == 0


def test_prometheus_gets_the_form_that_it_asks_for(server):
    asked = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"
    reply = scrape(server, Accept=asked)
    assert reply.headers["content-type"].startswith("application/openmetrics-text")
    assert reply.body.endswith(b"# EOF\n")
    assert scrape(server).headers["content-type"].startswith("text/plain")


@contextmanager
def busy(server):
    """A panel that is being answered until the block ends."""
    asking = threading.Thread(target=server.chat, args=("bench/late",))
    asking.start()
    eventually(lambda: of_the_bench(scrape(server).body)["bench_seats_asking",] == 1)
    yield
    asking.join()


def eventually(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it did not come to hold"
        time.sleep(0.02)


# --- Who may read it ------------------------------------------------------------------------------


@pytest.fixture
def door(db):
    """Asks /metrics from an address; returns the status."""
    metrics_tries.cache_clear()

    def ask(address="127.0.0.1", token="", **headers):
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        reply = Client(REMOTE_ADDR=address).get("/metrics", headers=sent | headers)
        assert (b"bench_info" in reply.content) == (reply.status_code == 200)
        return reply.status_code

    yield ask
    metrics_tries.cache_clear()


def test_without_a_token_this_machine_alone_is_told(door):
    assert door() == 200
    assert door("192.0.2.7") == 403
    # A tunnel's callers look like this machine's own.
    assert door(**{"X-Forwarded-For": "192.0.2.7"}) == 403
    assert door("192.0.2.7", token=TOKEN) == 403


@pytest.mark.parametrize("keys", [True, False])
def test_the_admin_token_opens_it_and_a_cookie_does_not(door, admin_client, keys):
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=ADMIN_TOKEN, BENCHWARMERS_REQUIRE_KEYS=keys):
        assert door() == 401
        assert door("192.0.2.7", token=ADMIN_TOKEN) == 200
        assert admin_client.get("/metrics").status_code == 401


def test_a_token_of_its_own_opens_it_and_nothing_else(door):
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=ADMIN_TOKEN, BENCH_METRICS_TOKEN=TOKEN):
        assert door("192.0.2.7", token=TOKEN) == door("192.0.2.7", token=ADMIN_TOKEN) == 200
        assert door("192.0.2.7", token=TOKEN[:-1]) == 401
        client = Client(REMOTE_ADDR="192.0.2.7", headers={"Authorization": f"Bearer {TOKEN}"})
        assert client.get("/admin/").status_code == 302
        assert client.post("/admin/login/", {"token": TOKEN}).status_code != 302


def test_a_token_of_its_own_is_asked_for_on_this_machine_too(door):
    with override_settings(BENCH_METRICS_TOKEN=TOKEN):
        assert door() == 401
        assert door(token=TOKEN) == 200


def test_a_gateway_key_opens_nothing(door):
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=ADMIN_TOKEN):
        assert door(token="bwk_" + "a" * 40) == 401


def test_tokens_cannot_be_guessed_in_a_row(door):
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=ADMIN_TOKEN):
        assert [door("192.0.2.7", token=f"a-wrong-token-of-number-{number}") for number in range(7)] == [401] * 5 + [429] * 2
        # Not even the right one, from there; elsewhere it is judged.
        assert door("192.0.2.7", token=ADMIN_TOKEN) == 429
        assert door("192.0.2.8", token=ADMIN_TOKEN) == 200


# --- Labels ---------------------------------------------------------------------------------------


def test_names_beyond_so_many_are_counted_together():
    label = "of this test"
    assert [known(label, f"name{number}") for number in range(MOST_NAMES)] == [f"name{number}" for number in range(MOST_NAMES)]
    assert known(label, "one more") == OTHER
    assert known(label, "name7") == "name7"
