"""Each process of a bench of several is scraped for itself: a server counts panels, a worker the seats that it asked."""

import pytest
from django.test import RequestFactory

from benchsite.observing.worker import _answer
from benchsite.tests.scraping import TOKEN, of_the_bench, samples
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import celery_bench, needs_redis
from gateway.tests.running_server import RunningServer, free_port

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def port():
    return free_port()


@pytest.fixture(scope="module")
def bench(loud_upstream, tmp_path_factory, port):
    models = {"fast": {"model": "say-Hello."}, "broken": {"model": "err-500", "status": "ad_hoc"}}
    rows = bench_file(loud_upstream.url, models, {"half": ["fast", "broken"]}) + "\n[limits]\nmax_explorers = 0\n"
    own = {"BENCH_METRICS_PORT": str(port), "BENCH_METRICS_TOKEN": TOKEN}
    with celery_bench(tmp_path_factory.mktemp("scraped"), rows, **own) as running:
        yield running


@pytest.fixture
def worker(bench, port):
    """What serves its numbers."""
    return RunningServer(bench.server.folder, port=port)


@needs_redis
def test_a_seat_is_counted_by_the_worker_and_a_panel_by_the_server(bench, worker):
    assert [bench.server.chat("bench/half").status for _ in range(3)] == [200] * 3
    asked = of_the_bench(worker.request("GET", "/metrics", headers=BEARER).body)
    followed = of_the_bench(bench.server.request("GET", "/metrics", headers=BEARER).body)
    assert (asked["bench_seats_total", "fake", "member", "ok"], asked["bench_seats_total", "fake", "member", "error"]) == (3, 3)
    assert followed["bench_panels_total", "bench/half", "degraded", "all"] == 3
    # Added up over all processes each is there once.
    assert not [key for key in asked if key[0] == "bench_panels_total"]
    assert not [key for key in followed if key[0] == "bench_seats_total"]


@needs_redis
def test_a_server_tells_whether_redis_and_workers_are_there(bench):
    found = of_the_bench(bench.server.request("GET", "/metrics", headers=BEARER).body)
    assert (found["bench_check_ok", "redis"], found["bench_check_ok", "seats"]) == (1, 1)


@needs_redis
def test_a_worker_tells_of_itself_alone(worker):
    found = samples(worker.request("GET", "/metrics", headers=BEARER).body)
    assert found["bench_info", "0.1.0"] == 1
    assert found["process_resident_memory_bytes",] > 10_000_000
    assert not [key for key in found if key[0].startswith(("bench_job", "bench_catalog", "bench_check"))]


@needs_redis
def test_a_worker_asks_for_the_token_too(worker):
    assert worker.request("GET", "/metrics").status == 401
    assert worker.request("GET", "/metrics", headers={"Authorization": "Bearer another"}).status == 401


@needs_redis
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/readyz"), ("POST", "/metrics"), ("GET", "/admin/")])
def test_a_worker_serves_nothing_else(worker, method, path):
    assert worker.request(method, path, headers=BEARER).status == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9101", 200), ("localhost", 200), ("[::1]:9101", 200), ("quokka.example", 403), ("10.0.0.7:9101", 403)],
)
def test_without_a_token_a_worker_answers_to_this_machines_names_alone(host, status):
    """A page in a browser here may have its own name lead to this port."""
    assert _answer(RequestFactory().get("/metrics", headers={"Host": host})).status_code == status


def test_without_a_token_a_worker_tells_this_machine_alone():
    assert _answer(RequestFactory(REMOTE_ADDR="192.0.2.7").get("/metrics", headers={"Host": "127.0.0.1"})).status_code == 403
