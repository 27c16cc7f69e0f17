"""What is looked at when somebody looks: seats and panels under way, daily jobs, catalogs, whether a panel would be taken.

Of a bench of several processes each tells its own; jobs and catalogs are the whole bench's, alike from every process. A
database that does not answer leaves its numbers out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from django.conf import settings
from django.db import DatabaseError, connection
from prometheus_client import REGISTRY, CollectorRegistry, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from benchsite.models import JobRun
from benchsite.observing.look import Look
from benchsite.observing.readiness import PATIENCE, look_at_all
from collections_app.models import CatalogSource
from gateway.panel.running import running_panels
from gateway.telemetry.metrics import known
from gateway.workers import worker_pool

Families = Iterable[GaugeMetricFamily | InfoMetricFamily]


class Now(Collector):
    """How things stand as they are read."""

    def __init__(self, *looks: Callable[[], Families]) -> None:
        self._looks = looks

    def collect(self) -> Iterator[GaugeMetricFamily | InfoMetricFamily]:
        for look in self._looks:
            yield from look()


@cache
def registry_of_server() -> CollectorRegistry:
    """What is counted, the library's own numbers of the process, and how server and bench stand."""
    return _registry(_release, _under_way, _checks, _of_the_bench)


@cache
def registry_of_worker() -> CollectorRegistry:
    """The same without what a worker does not have: panels, a queue, and numbers that every server tells."""
    return _registry(_release)


def _registry(*looks: Callable[[], Families]) -> CollectorRegistry:
    # A second line for each counter, of when it began.
    disable_created_metrics()
    registry = CollectorRegistry()
    registry.register(REGISTRY)
    registry.register(Now(*looks))
    return registry


def _release() -> Families:
    yield InfoMetricFamily("bench", "The release.", {"version": settings.BENCH_VERSION})


def _under_way() -> Families:
    pool = worker_pool()
    yield _gauge("bench_panels_running", "Panels of this process that have not ended.", len(running_panels()))
    yield _gauge("bench_seats_running", "Seats of this process's panels that have not ended.", pool.running)
    yield _gauge("bench_seats_queued", "Those of them that nobody asks yet.", pool.queued)


def _checks() -> Families:
    checks = GaugeMetricFamily("bench_check_ok", "Whether what /readyz looks at is as it should be.", labels=["check"])
    for name, why in look_at_all().items():
        checks.add_metric([name], not why)
    yield checks


def _of_the_bench() -> Sequence[GaugeMetricFamily]:
    """Rows as numbers, waited for no longer than a readiness check waits."""
    try:
        return _rows().begin().result(PATIENCE)
    except (TimeoutError, DatabaseError):
        return ()


@cache
def _rows() -> Look[Sequence[GaugeMetricFamily]]:
    return Look(_read)


def _read() -> Sequence[GaugeMetricFamily]:
    try:
        return (*_jobs(JobRun.objects.all()), *_catalogs(CatalogSource.objects.all()))
    finally:
        connection.close()


def _jobs(runs: Iterable[JobRun]) -> Iterator[GaugeMetricFamily]:
    ended = GaugeMetricFamily("bench_job_ended_timestamp_seconds", "When a daily job last ended.", labels=["name", "outcome"])
    failures = GaugeMetricFamily("bench_job_failures", "How often in a row a daily job has failed.", labels=["name"])
    for run in runs:
        failures.add_metric([run.name], run.failures)
        if run.ended_at:
            ended.add_metric([run.name, run.outcome], run.ended_at.timestamp())
    yield from (ended, failures)


def _catalogs(sources: Iterable[CatalogSource]) -> Iterator[GaugeMetricFamily]:
    read = GaugeMetricFamily("bench_catalog_read_timestamp_seconds", "When a catalog last answered well.", labels=["source"])
    for source in sources:
        if source.good_at:
            read.add_metric([known("source", source.name)], source.good_at.timestamp())
    yield read


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value)
