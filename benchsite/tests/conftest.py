"""A real server that fails on purpose where it is told to, and its log."""

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.conftest import COLLECTIONS, MODELS
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server


@pytest.fixture(scope="session")
def loud_upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="session")
def loud_bench(loud_upstream):
    models = MODELS | {"quoting": {"model": "echo-error", "status": "ad_hoc"}}
    return bench_file(loud_upstream.url, models, COLLECTIONS | {"quotes": ["quoting"]}) + "\n[limits]\nmax_explorers = 0\n"


@pytest.fixture(scope="session")
def loud_server(loud_bench, tmp_path_factory):
    loudly = {"DJANGO_SETTINGS_MODULE": "benchsite.tests.failing_settings", "PYTHONASYNCIODEBUG": "1"}
    with running_server(tmp_path_factory.mktemp("loud"), loud_bench, **loudly) as running:
        yield running
