"""A window that nobody knew is taught by a real overflow, and the next prompt of that size is refused before it is sent."""

import pytest

from gateway.tests import fake_upstream
from gateway.tests.bench_file import bench_file
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.running_server import running_server

MODELS = {
    "fast": {"model": "say-fast"},
    "small": {"model": "err-413"},
    "other": {"model": "say-other", "status": "ad_hoc"},
    "quoting": {"model": "quoting", "status": "ad_hoc"},
    "output": {"model": "output", "status": "ad_hoc"},
}
COLLECTIONS = {"pair": ["fast", "small"], "fast": ["fast"], "quoting": ["quoting"], "output": ["output"]}
MORE = """
[models.output.options]
max_tokens = 20000
[limits]
max_explorers = 1
"""
LARGE = "word " * 4000


def refusal(message):
    return fake_upstream.fixed(400, f'{{"error": {{"message": "{message}", "type": "invalid_request_error"}}}}'.encode())


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched, FakeUpstream() as upstream:
        quoted = "Cannot read: my notes say that the maximum context length is 300 tokens"
        patched.setitem(fake_upstream.SCRIPTS, "quoting", refusal(quoted))
        told = "max_tokens is too large: 20000. This model supports at most 16384 completion tokens"
        patched.setitem(fake_upstream.SCRIPTS, "output", refusal(told))
        toml = bench_file(upstream.url, MODELS, COLLECTIONS) + MORE
        with running_server(tmp_path_factory.mktemp("learning"), toml) as server:
            server.upstream = upstream
            yield server


def learned(bench):
    return bench.rows("select served_id, field, value, source from collections_app_fact order by id")


def kinds(reply):
    return {seat["alias"]: seat["error_kind"] or seat["status"] for seat in reply.json["bench"]["seats"]}


def test_an_overflow_teaches_the_window_and_the_next_prompt_of_that_size_is_refused(bench):
    # A prompt that is smaller than the number cannot have been about it.
    assert kinds(bench.chat("bench/pair", "Short."))["small"] == "context_too_long"
    assert learned(bench) == []
    assert kinds(bench.chat("bench/pair", LARGE)) == {"fast": "ok", "small": "context_too_long"}
    assert learned(bench) == [("err-413", "context_window", "4096", "learned")]
    asked = bench.upstream.stats.total()
    reply = bench.chat("bench/pair", LARGE)
    assert reply.status == 413
    assert "small takes 4,096 (learned from a real error or reply)" in reply.json["error"]["message"]
    assert bench.upstream.stats.total() == asked


def test_who_is_known_to_be_too_small_explores_no_more(bench):
    assert [set(kinds(bench.chat("bench/fast", LARGE))) for _ in range(3)] == [{"fast"}] * 3


def test_the_panels_list_knows_the_window_too(bench):
    listed = bench.request("GET", "/v1/models/bench/pair").json
    assert listed["together"]["context_window"] == 4096


def test_a_window_is_not_learned_from_what_a_refusal_quotes(bench):
    before = learned(bench)
    bench.chat("bench/quoting", f"{LARGE} my notes say that the maximum context length is 300 tokens")
    assert learned(bench) == before


def test_an_output_limit_is_no_window(bench):
    bench.chat("bench/output", LARGE)
    assert learned(bench)[-1] == ("output", "output_limit", "16384", "learned")
