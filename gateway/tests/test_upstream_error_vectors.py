"""Real error replies of providers, each read as what it means: samples/error_vectors.json, a line each."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.upstream.classify import read_error
from gateway.upstream.classify.bodies import what_is_said
from gateway.upstream.classify.waits import seconds_in, wait_in
from gateway.upstream.contract import LimitTold, UpstreamError

SAMPLES = json.loads((Path(__file__).parent / "samples" / "error_vectors.json").read_text())
NOW = float(SAMPLES["now"])
SHARED = Path(__file__).parents[3] / "shared" / "data" / "error_vectors.json"
# The shared vectors' kinds, where they are not called as a seat reports them.
KINDS = {
    "context": "context_too_long",
    "rate": "rate_limited",
    "paid": "payment_required",
    "gone": "retired",
    "filtered": "refused",
    "bad_request": "refused",
    "html": "bad_reply",
}


def body_of(vector: dict[str, Any]) -> bytes:
    body = vector["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def read(vector: dict[str, Any]) -> UpstreamError:
    return read_error(vector["status"], vector.get("headers", {}), body_of(vector), now=NOW)


@pytest.mark.parametrize("vector", SAMPLES["errors"], ids=lambda vector: vector["name"])
def test_an_error_means_what_it_says(vector: dict[str, Any]) -> None:
    error, expected = read(vector), vector["expect"]
    assert error.kind == expected["kind"]
    assert (error.window, error.output_limit) == (expected.get("window"), expected.get("output_limit"))
    assert (error.span, error.pattern) == (expected.get("span", ""), expected.get("pattern", ""))
    assert error.retry_after == pytest.approx(expected.get("retry_after"))
    fields = ("field", "limit", "remaining", "reset_seconds", "account")
    told = [LimitTold(**dict(zip(fields, limit, strict=True))) for limit in expected.get("limits", ())]
    assert list(error.limits) == told
    assert expected.get("message", "") in error.message


@pytest.mark.parametrize("vector", SAMPLES["errors"], ids=lambda vector: vector["name"])
def test_an_error_inside_a_list_or_a_stream_means_the_same(vector: dict[str, Any]) -> None:
    if isinstance(vector["body"], str):
        pytest.skip("a page")
    listed = {**vector, "body": [vector["body"]]}
    printed = {**vector, "body": f"event: error\r\ndata: {json.dumps(vector['body'])}\r\n\r\n"}
    for other in (listed, printed):
        # vars() leaves the words out, which may be told at another place.
        assert (read(other).kind, read(other).window, read(other).retry_after) == (
            read(vector).kind,
            read(vector).window,
            read(vector).retry_after,
        )


@pytest.mark.parametrize(("duration", "seconds"), SAMPLES["durations"].items())
def test_a_duration_is_read(duration: str, seconds: float | None) -> None:
    assert seconds_in(duration) == pytest.approx(seconds)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared vectors are not on this machine")
def test_the_samples_are_the_shared_vectors() -> None:
    shared = json.loads(SHARED.read_text())
    assert (shared["now"], shared["durations"]) == (SAMPLES["now"], SAMPLES["durations"])
    for theirs, ours in zip(shared["errors"], SAMPLES["errors"], strict=True):
        assert {name: theirs.get(name) for name in ("name", "status", "headers", "body")} == {
            name: ours.get(name) for name in ("name", "status", "headers", "body")
        }
        wanted = {**theirs["expect"], "kind": KINDS.get(theirs["expect"]["kind"], theirs["expect"]["kind"])}
        wanted["span"] = wanted.pop("scope", ours["expect"].get("span"))
        # What was told of the wait, where the limit holds longer.
        ours["expect"]["retry_after"] = ours["expect"].get("told", ours["expect"].get("retry_after"))
        assert {name: ours["expect"].get(name) for name in wanted} == wanted


def test_a_wait_that_is_told_beside_a_days_limit_is_read_and_not_believed() -> None:
    vector = next(vector for vector in SAMPLES["errors"] if "told" in vector["expect"])
    assert wait_in({}, what_is_said(body_of(vector)), NOW) == vector["expect"]["told"] == 38
    assert read(vector).retry_after == 14 * 3600, "until midnight in California"
