"""A seat that is written down, and that its worker pool does not take: it ends and says so, and the others are asked."""

from collections.abc import Iterator

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import RunningServer, running_server

MODELS = {"fast": {"model": "say-fast"}, "other": {"model": "say-other"}, "unlucky": {"model": "say-never"}}
NOT_TAKEN = "the gateway failed before it asked; its log says why"


@pytest.fixture(scope="module")
def choosy(upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bench = bench_file(upstream.url, MODELS, {"core": ["fast", "unlucky"], "pair": ["fast", "other"]})
    bench += '\n[limits]\nmax_explorers = 0\nprimary = "unlucky"\n'
    pool = "gateway.tests.choosy_pool.ChoosyPool"
    with running_server(tmp_path_factory.mktemp("choosy"), bench, BENCH_WORKER_POOL=pool) as server:
        yield server


@pytest.mark.parametrize("stream", [False, True])
def test_it_ends_and_the_others_are_asked(choosy: RunningServer, stream: bool) -> None:
    reply = choosy.chat("bench/core", "A prompt that no log may hold.", stream=stream)
    assert reply.status == 200
    for text in ("fast", NOT_TAKEN):
        assert text in reply.body.decode()
    rows = choosy.rows("SELECT alias, status, error_kind, error FROM evidence_call ORDER BY id DESC LIMIT 2")
    assert set(rows) == {("fast", "ok", "", ""), ("unlucky", "error", "unavailable", NOT_TAKEN)}
    assert "does not like it" in choosy.log
    assert "no log may hold" not in choosy.log
    # Nothing was told of the model, which nobody has asked.
    assert choosy.rows("SELECT status FROM collections_app_languagemodel WHERE alias = 'unlucky'") == [("active",)]


def test_a_merger_that_is_not_taken_leaves_every_answer(choosy: RunningServer) -> None:
    reply = choosy.chat("bench/pair", bench={"reply": "merged"})
    assert "fast" in reply.json["choices"][0]["message"]["content"]
    assert NOT_TAKEN in reply.body.decode()
    assert choosy.rows("SELECT status, error FROM evidence_call WHERE seat_name = 'merger'") == [("error", NOT_TAKEN)]
