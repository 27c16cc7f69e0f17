"""Traces: a span for each panel and one below it for each seat, in the caller's own trace, with no content, harming nothing."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.checks import run_checks
from opentelemetry.sdk.trace.export import ConsoleSpanExporter

from benchsite.observing import traces
from benchsite.tests.fake_collector import FakeCollector
from gateway.telemetry import spans
from gateway.telemetry.exporting import Batches
from gateway.tests.bench_file import bench_file
from gateway.tests.celery_bench import celery_bench, needs_redis
from gateway.tests.running_server import free_port, running_server

MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "steady": {"model": "slow-0.3"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
    "echo": {"model": "echo", "status": "ad_hoc"},
    "gone": {"model": "say-gone", "status": "retired"},
}
COLLECTIONS = {"pair": ["fast", "steady"], "half": ["echo", "broken", "gone"], "failing": ["broken"]}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PROMPT = "Is quokka4711 stale?"


def bench_at(upstream):
    return bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"


def to(collector_url, **more):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector_url, "OTEL_BSP_SCHEDULE_DELAY": "100"} | more


@pytest.fixture(scope="module")
def collector():
    with FakeCollector() as fake:
        yield fake


@pytest.fixture(scope="module")
def traced(loud_upstream, collector, tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("traced"), bench_at(loud_upstream), **to(collector.url)) as running:
        yield running


def ask(server, collection, trace=TRACE, sampled="01", **fields):
    """Ask within a trace of the caller's; returns the panel's id."""
    body = {"model": f"bench/{collection}", "messages": [{"role": "user", "content": PROMPT}]} | fields
    reply = server.request("POST", "/v1/chat/completions", body, {"traceparent": f"00-{trace}-00f067aa0ba902b7-{sampled}"})
    return reply.json["bench"]["panel"]


def tree(spans_of_trace):
    """The panel's span, and its seats' by call."""
    (panel,) = [span for span in spans_of_trace if span.kind == 2]
    seats = {span.attributes["bench.call"].rpartition(".")[2]: span for span in spans_of_trace if span is not panel}
    assert all(seat.parent == panel.id and seat.kind == 3 for seat in seats.values())
    return panel, seats


def test_a_panel_is_a_span_with_a_child_for_each_seat(traced, collector, loud_upstream):
    began = time.time()
    panel_id = ask(traced, "pair")
    took = time.time() - began
    panel, seats = tree(collector.of_trace(TRACE, 3))
    assert (panel.name, panel.parent) == ("invoke_workflow bench/pair", "00f067aa0ba902b7")
    assert panel.attributes == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "bench/pair",
        "bench.panel": panel_id,
        "bench.shape": "general",
        "bench.reply": "all",
        "bench.members": 2,
        "bench.explorers": 0,
        "bench.skipped": 0,
        "bench.outcome": "whole",
    }
    assert sorted(seats) == ["member1", "member2"]
    told = seats["member2"].attributes
    assert 0.3 <= told.pop("gen_ai.response.time_to_first_chunk") < took
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "slow-0.3",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 5,
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": loud_upstream.port,
        "bench.call": f"{panel_id}.member2",
        "bench.alias": "steady",
        "bench.endpoint": "fake",
        "bench.seat": "member",
        "bench.status": "ok",
    }
    assert seats["member2"].name == "chat slow-0.3"
    assert not panel.is_error and not seats["member2"].is_error
    for seat in seats.values():
        assert began <= panel.began <= seat.began <= seat.ended <= panel.ended + 0.05
    assert 0.3 <= seats["member2"].ended - seats["member2"].began <= took
    assert panel.resource["service.name"] == "benchsite"
    assert panel.resource["service.version"] == settings.BENCH_VERSION


def test_a_merger_is_a_child_too_and_a_stream_is_traced_alike(traced, collector):
    trace = "a" * 32
    ask(traced, "pair:merged", trace)
    _, seats = tree(collector.of_trace(trace, 4))
    assert sorted(seats) == ["member1", "member2", "merger"]
    streamed = "b" * 32
    body = {"model": "bench/pair", "messages": [{"role": "user", "content": PROMPT}], "stream": True}
    traced.request("POST", "/v1/chat/completions", body, {"traceparent": f"00-{streamed}-00f067aa0ba902b7-01"})
    assert sorted(tree(collector.of_trace(streamed, 3))[1]) == ["member1", "member2"]


def test_what_fails_is_an_error_by_its_kind_alone(traced, collector):
    trace = "c" * 32
    ask(traced, "half", trace)
    panel, seats = tree(collector.of_trace(trace, 3))
    assert (panel.attributes["bench.outcome"], panel.attributes["bench.skipped"], panel.is_error) == ("degraded", 1, False)
    broken = seats["member2"]
    assert broken.is_error and broken.attributes["error.type"] == "unavailable"
    assert broken.attributes["http.response.status_code"] == 500
    nobody = "d" * 32
    ask(traced, "failing", nobody)
    panel, _ = tree(collector.of_trace(nobody, 2))
    assert panel.is_error and panel.attributes["error.type"] == "unanswered"


def test_nothing_of_what_was_said_is_in_a_span(traced, collector):
    trace = "e" * 32
    ask(traced, "half", trace)
    spans_of_trace = collector.of_trace(trace, 3)
    told = b"".join(collector.bodies)
    for said in (PROMPT, "quokka", "stale?", "answer is", "local"):
        assert said.encode() not in told, said
    assert {span.said for span in spans_of_trace} == {""}


def test_a_trace_that_its_caller_does_not_keep_is_not_kept(traced, collector):
    before = len(collector.spans)
    ask(traced, "pair", "f" * 32, sampled="00")
    # A later one has come, so that the first would have.
    ask(traced, "pair", "9" * 32)
    collector.of_trace("9" * 32, 3)
    assert not [span for span in collector.spans[before:] if span.trace == "f" * 32]


@pytest.mark.parametrize("traceparent", ["", "quokka", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "ff" * 40])
def test_without_a_trace_of_the_callers_it_begins_its_own(traced, collector, traceparent):
    body = {"model": "bench/pair", "messages": [{"role": "user", "content": PROMPT}]}
    headers = {"traceparent": traceparent} if traceparent else {}
    panel_id = traced.request("POST", "/v1/chat/completions", body, headers).json["bench"]["panel"]
    deadline = time.monotonic() + 20
    while not (found := [span for span in collector.spans if span.attributes.get("bench.panel") == panel_id]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert found[0].parent == ""


def test_no_provider_hears_of_a_trace(traced, loud_upstream):
    ask(traced, "pair", "1" * 32)
    assert not [one for one in loud_upstream.requests if {"traceparent", "tracestate", "baggage"} & one.headers.keys()]


def test_the_sdks_own_variables_hold(loud_upstream, tmp_path):
    with FakeCollector() as own:
        environment = to(
            own.url,
            OTEL_SERVICE_NAME="bench-of-this-test",
            OTEL_EXPORTER_OTLP_HEADERS="x-tenant=seven",
            OTEL_BSP_SCHEDULE_DELAY="60000",
        )
        with running_server(tmp_path, bench_at(loud_upstream), **environment) as server:
            ask(server, "pair")
            assert not own.spans
            assert server.stop() == 0
        # What waited is sent at the stop.
        panel, _ = tree(own.of_trace(TRACE, 3))
        assert panel.resource["service.name"] == "bench-of-this-test"
        assert own.headers[0]["x-tenant"] == "seven"
        assert own.paths[0] == "/v1/traces"


@pytest.mark.parametrize("way", ["closed", "hanging"])
def test_a_collector_that_is_away_slows_nothing(loud_upstream, tmp_path, way):
    with FakeCollector() as own:
        own.hangs.set()
        few = {"OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4"}
        url = own.url if way == "hanging" else f"http://127.0.0.1:{free_port()}"
        with running_server(tmp_path, bench_at(loud_upstream), **to(url, **few)) as server:
            for number in range(12):
                panel = ask(server, "pair", f"{number + 1:032x}")
                row = server.request("GET", f"/bench/panels/{panel}").json
                assert [seat["status"] for seat in row["seats"]] == ["ok", "ok"]
            assert server.stop() == 0
            # It has answered nobody in all that time.
            assert own.bodies == []
            assert "Traceback" not in server.log
            assert urlsplit(url).netloc not in server.log.replace(server.base_url, "")


def test_the_end_of_a_process_waits_for_a_collector_for_seconds():
    waited = []
    batches = Batches(ConsoleSpanExporter())
    processor, batches._batch_processor = batches._batch_processor, SimpleNamespace(shutdown=waited.append)
    batches.shutdown()
    processor.shutdown()
    assert waited == [2_000]


def test_variables_that_contradict_each_other_are_said_and_panels_go_on(loud_upstream, tmp_path):
    environment = to("http://127.0.0.1:9", OTEL_BSP_MAX_QUEUE_SIZE="8")
    with running_server(tmp_path, bench_at(loud_upstream), **environment) as server:
        assert server.chat("bench/pair").status == 200
        assert "There are no traces: OpenTelemetry's variables contradict each other" in server.log


@needs_redis
def test_a_seat_that_a_worker_asks_is_its_panels_child(loud_upstream, collector, tmp_path):
    trace = "7" * 32
    with celery_bench(tmp_path, bench_at(loud_upstream), **to(collector.url)) as bench:
        ask(bench.server, "pair", trace)
        _, seats = tree(collector.of_trace(trace, 3))
    assert sorted(seats) == ["member1", "member2"]


def test_without_a_collector_there_is_nothing():
    assert spans.tracer() is None
    assert spans.panel_span(spans.NO_TRACE, 0.0, None) is None
    assert spans.traceparent_of(None) == ""


def test_what_sends_spans_is_loaded_only_where_they_are_wanted(tmp_path):
    """The SDK and its exporter take memory and a part of a second."""
    code = "import benchsite.asgi, sys; print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    environment = kept | {"BENCH_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, env=environment, cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, False),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_SERVICE_NAME": "bench"}, False),
    ],
)
def test_traces_are_wanted_where_it_is_said_where_they_go(environment, wanted):
    assert traces.wanted(environment) is wanted


def test_what_keeps_them_from_arriving_is_said(monkeypatch):
    def warnings():
        return [one.msg for one in run_checks() if one.id == "bench.W005"]

    assert warnings() == []
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
    assert warnings() == []
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert len(warnings()) == 1 and "grpc is not spoken here" in warnings()[0]
    monkeypatch.setattr(traces, "can_be_sent", lambda: False)
    assert "requirements-telemetry.txt is not installed" in warnings()[0]
