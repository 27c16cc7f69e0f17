"""A fake upstream and a real server in front of it, shared by the tests of the front door."""

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.3"},
    "slow": {"model": "slow-0.7"},
    "echo": {"model": "echo", "status": "ad_hoc"},
    "small": {"model": "say-small", "context_window": 300, "status": "ad_hoc"},
    "eyes": {"model": "say-I-see.", "vision": True, "status": "ad_hoc"},
    "gone": {"model": "say-gone", "status": "retired"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
    "limited": {"model": "err-429-20", "status": "ad_hoc"},
    "limited-too": {"model": "err-429-9", "status": "ad_hoc"},
    "unsaid": {"model": "err-429", "status": "ad_hoc"},
    "fenced": {"model": "say-```py", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "steady"],
    "staggered": ["fast", "steady", "slow"],
    "echoing": ["echo"],
    "tight": ["small", "fast"],
    "seeing": ["eyes", "fast"],
    "half": ["fast", "broken", "gone"],
    "failing": ["broken"],
    "limits": ["limited", "limited-too"],
    "unsaid": ["unsaid"],
    "half-said": ["unsaid", "limited"],
    "fences": ["fenced", "fast"],
    "leaving": ["gone"],
}


@pytest.fixture(scope="session")
def upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="session")
def server(upstream, tmp_path_factory):
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("server"), bench) as running:
        yield running
