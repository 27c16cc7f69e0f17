"""A fake upstream and a real server in front of it, shared by the tests of the front door."""

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.3"},
    "slow": {"model": "slow-0.7"},
    "late": {"model": "slow-6", "status": "ad_hoc"},
    "echo": {"model": "echo", "status": "ad_hoc"},
    "small": {"model": "say-small", "context_window": 300, "status": "ad_hoc"},
    "eyes": {"model": "say-I-see.", "vision": True, "status": "ad_hoc"},
    "gone": {"model": "say-gone", "status": "retired"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
    "unsaid": {"model": "err-429", "status": "ad_hoc"},
    "half-unsaid": {"model": "err-429--half", "status": "ad_hoc"},
    "half-said": {"model": "err-429-20-half", "status": "ad_hoc"},
    "fenced": {"model": "say-```py", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "steady"],
    "staggered": ["fast", "steady", "slow"],
    "late": ["fast", "late"],
    "echoing": ["echo"],
    "tight": ["small", "fast"],
    "seeing": ["eyes", "fast"],
    "half": ["fast", "broken", "gone"],
    "failing": ["broken"],
    "unsaid": ["unsaid"],
    "half-said": ["half-unsaid", "half-said"],
    "fences": ["fenced", "fast"],
    "leaving": ["gone"],
}
# Of every format's own: who was refused once cools down.
for test in ("chat", "messages", "ollama", "gemini"):
    MODELS |= {f"{wait}-{test}": {"model": f"err-429-{wait}-{test}", "status": "ad_hoc"} for wait in (20, 9)}
    COLLECTIONS[f"limits-{test}"] = [f"20-{test}", f"9-{test}"]


@pytest.fixture(scope="session")
def upstream():
    with FakeUpstream() as fake:
        yield fake


@pytest.fixture(scope="session")
def server(upstream, tmp_path_factory):
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("server"), bench) as running:
        yield running
