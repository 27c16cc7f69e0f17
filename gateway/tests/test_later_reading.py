"""The same request sent again joins its panel or repeats its reply, and a panel can be followed from where one left off."""

import json
import threading
import time

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server
from gateway.wire import FORMATS

CHAT = "/v1/chat/completions"


def ask(server, prompt: str, key: str = "", *, model: str = "bench/staggered", headers: dict | None = None, **fields):
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]} | fields
    return server.request("POST", CHAT, body, ({"Idempotency-Key": key} if key else {}) | (headers or {}))


def sse(raw: bytes) -> list[tuple[str, dict]]:
    events = []
    for block in raw.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if fields:
            events.append((fields["event"], json.loads(fields["data"]) | {"id": fields.get("id")}))
    return events


def test_the_same_key_and_request_repeat_the_reply_without_asking_again(server, upstream):
    first = ask(server, "once", "key-1").json
    asked = sum(upstream.stats.values())
    again = ask(server, "once", "key-1").json
    assert again["bench"] == first["bench"]
    assert again["choices"] == first["choices"]
    assert sum(upstream.stats.values()) == asked


def test_the_reply_comes_in_the_form_that_is_asked_for(server):
    first = ask(server, "form", "key-2").json
    streamed = ask(server, "form", "key-2", stream=True)
    events = [json.loads(line[6:]) for line in streamed.body.decode().split("\n") if line.startswith("data: {")]
    assert (
        "".join(event["choices"][0]["delta"].get("content") or "" for event in events)
        == first["choices"][0]["message"]["content"]
    )
    assert events[-1]["bench"] == first["bench"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_repeat_names_the_model_and_leaves_the_field_out_as_the_first_did(server, stream):
    fields = {"model": "pair:latest", "bench": {"field": False}, "stream": stream}
    replies = [ask(server, "strict", f"key-strict-{stream}", **fields) for _ in range(2)]
    for reply in replies:
        assert b'"bench":' not in reply.body
        assert reply.body.replace(b" ", b"").count(b'"model":"pair:latest"') > 0


def test_a_running_panel_is_joined(server):
    replies: list = []
    askers = [threading.Thread(target=lambda: replies.append(ask(server, "join", "key-3"))) for _ in range(3)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert len({reply.json["bench"]["panel"] for reply in replies}) == 1


def test_another_request_under_the_same_key_is_refused_and_no_sdk_repeats_it(server):
    assert ask(server, "one", "key-4", model="bench/pair").status == 200
    for fields in ({"prompt": "two"}, {"prompt": "one", "bench": {"reply": "merged"}}):
        refused = ask(server, key="key-4", model="bench/pair", **fields)
        assert refused.status == 422
        assert "new key" in refused.json["error"]["message"]
    assert ask(server, "x", "k" * 256).status == 400


def test_a_refused_request_does_not_use_its_key_up(server):
    assert ask(server, "x", "key-5", model="bench/none").status == 404
    assert ask(server, "x", "key-5", model="bench/pair").status == 200


def test_an_sdks_retry_joins_while_the_panel_runs_and_opens_another_after(server):
    first: list = []
    asker = threading.Thread(target=lambda: first.append(ask(server, "retry")))
    asker.start()
    time.sleep(0.25)
    retried = ask(server, "retry", headers={"x-stainless-retry-count": "1"})
    asker.join()
    assert retried.json["bench"]["panel"] == first[0].json["bench"]["panel"]
    later = ask(server, "retry", headers={"x-stainless-retry-count": "1"})
    assert later.json["bench"]["panel"] != first[0].json["bench"]["panel"]


def test_a_first_try_never_joins_by_its_words_alone(server):
    assert ask(server, "same").json["bench"]["panel"] != ask(server, "same").json["bench"]["panel"]


def test_a_reply_is_repeated_after_a_restart(upstream, tmp_path):
    bench = bench_file(upstream.url, {"a": {"model": "say-a"}, "b": {"model": "say-b"}}, {"two": ["a", "b"]})
    with running_server(tmp_path, bench + "\n[limits]\nmax_explorers = 0\n") as server:
        first = [ask(server, "x", f"key-{mode}", model=f"bench/two:{mode}").json for mode in ("all", "merged")]
        server.stop()
        server.start()
        again = [ask(server, "x", f"key-{mode}", model=f"bench/two:{mode}").json for mode in ("all", "merged")]
    assert [reply["choices"] for reply in again] == [reply["choices"] for reply in first]
    assert [reply["bench"] for reply in again] == [reply["bench"] for reply in first]


def test_a_panels_seats_come_as_events_while_it_runs(server):
    """The id is known to a stream's reader from its heading; the events come from another connection."""
    panel: list = []
    asker = threading.Thread(target=lambda: panel.append(ask(server, "events")))
    asker.start()
    time.sleep(0.15)
    panel_id = server.rows("select panel_id from evidence_panel order by id desc limit 1")[0][0]
    assert server.request("GET", f"/bench/panels/{panel_id}").json["status"] == "running"
    started = time.monotonic()
    events = sse(server.request("GET", f"/bench/panels/{panel_id}/events").body)
    assert time.monotonic() - started > 0.3
    asker.join()
    assert [(name, event.get("sequence")) for name, event in events] == [("seat", 1), ("seat", 2), ("seat", 3), ("end", None)]
    assert [event["seat"]["alias"] for _, event in events[:3]] == ["fast", "steady", "slow"]
    assert [event["id"] for _, event in events[:3]] == ["1", "2", "3"]
    assert events[-1][1]["status"] == "done"
    assert [event["seat"] for _, event in events[:3]] == panel[0].json["bench"]["seats"]


def test_events_go_on_from_where_a_reader_left_off(server):
    panel_id = ask(server, "resume").json["bench"]["panel"]
    after = sse(server.request("GET", f"/bench/panels/{panel_id}/events?after=2").body)
    assert [(name, event.get("sequence")) for name, event in after] == [("seat", 3), ("end", None)]
    by_header = sse(server.request("GET", f"/bench/panels/{panel_id}/events", headers={"Last-Event-ID": "3"}).body)
    assert [name for name, _ in by_header] == ["end"]
    # As a browser comes back: to the address that it began with, which says less.
    came_back = server.request("GET", f"/bench/panels/{panel_id}/events?after=1", headers={"Last-Event-ID": "2"})
    assert [event.get("sequence") for _, event in sse(came_back.body)] == [3, None]


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "", "9" * 10])
def test_a_number_that_no_event_has_is_refused_wherever_it_is_sent(server, number):
    panel_id = ask(server, "numbers", model="bench/pair").json["bench"]["panel"]
    for query, header in ((number, "0"), ("0", number)):
        reply = server.request("GET", f"/bench/panels/{panel_id}/events?after={query}", headers={"Last-Event-ID": header})
        assert reply.status == 400
        assert reply.json["error"]["param"] == ("after" if query == number else "Last-Event-ID")


@pytest.mark.parametrize(
    ("path", "status"),
    [("p20260101-000000-0000/events", 404), ("{panel}/events?after=x", 400), ("{panel}/events?after=-1", 400)],
)
def test_what_cannot_be_followed_is_refused_in_json(server, path, status):
    panel_id = ask(server, "x", model="bench/pair").json["bench"]["panel"]
    reply = server.request("GET", "/bench/panels/" + path.format(panel=panel_id))
    assert (reply.status, reply.headers["content-type"]) == (status, "application/json")
    assert reply.json["error"]["message"]


@pytest.mark.parametrize("route", [route for one in FORMATS.values() for route in one.ROUTES], ids=lambda route: route.path)
def test_a_bench_is_never_a_seat_of_another_and_may_ask_anything_else(server, route):
    path = "/" + route.path.replace("<path:model>", "bench/pair")
    body = {"model": "bench/pair", "messages": [{"role": "user", "content": "x"}]} if route.method == "POST" else None
    reply = server.request(route.method, path, body, {"X-Bench-Depth": "1"})
    assert (reply.status == 508) == (route.task == "generate"), reply.body


def test_another_bench_may_read_panels_and_judge(server):
    panel_id = ask(server, "x", model="bench/pair").json["bench"]["panel"]
    verdict = {"call": f"{panel_id}.member1", "useful": True}
    for method, path, body in (
        ("GET", f"/bench/panels/{panel_id}", None),
        ("GET", f"/bench/panels/{panel_id}/events", None),
        ("POST", "/bench/verdict", verdict),
    ):
        assert server.request(method, path, body, {"X-Bench-Depth": "1"}).status == 200
