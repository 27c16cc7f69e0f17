"""Ollama's chat and generate through the front door, with its own library: a panel answers, in one reply and as a stream."""

import base64
import json
import socket
import time

import ollama
import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

HI = [{"role": "user", "content": "Say anything."}]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2


@pytest.fixture(scope="module")
def client(server):
    return ollama.Client(host=server.base_url, timeout=30)


def lines(raw: bytes) -> list:
    assert raw.endswith(b"\n")
    return [json.loads(line) for line in raw[:-1].split(b"\n")]


def chat(server, model="bench/pair", **fields):
    return server.request("POST", "/api/chat", {"model": model, "messages": HI} | fields)


def generate(server, model="bench/pair", **fields):
    return server.request("POST", "/api/generate", {"model": model, "prompt": "Say anything."} | fields)


def refused(reply, status: int) -> str:
    assert reply.status == status, reply.body[:300]
    assert reply.headers["content-type"] == "application/json"
    assert isinstance(reply.json["error"], str)
    return reply.json["error"]


def test_every_member_answers_and_is_named(server, client):
    reply = client.chat("bench/pair", messages=HI)
    assert "## member · fast" in reply.message.content
    assert "The answer is 42." in reply.message.content
    assert (reply.message.role, reply.model, reply.done, reply.done_reason) == ("assistant", "bench/pair", True, "stop")
    assert reply.eval_count > reply.prompt_eval_count > 0
    bench = chat(server, stream=False).json["bench"]
    assert [(seat["alias"], seat["status"]) for seat in bench["seats"]] == [("fast", "ok"), ("steady", "ok")]


def test_the_duration_is_that_of_the_panel(server):
    started = time.monotonic()
    body = chat(server, "bench/staggered", stream=False).json
    took = time.monotonic() - started
    slowest = max(seat["seconds"] for seat in body["bench"]["seats"])
    assert slowest <= body["total_duration"] / 1e9 <= took


def test_a_prompt_is_answered_too(server, client):
    reply = client.generate("bench/pair", prompt="Say anything.", system="Be brief.")
    assert "## member · fast" in reply.response
    assert generate(server, stream=False).json["bench"]["answered"] == 2


@pytest.mark.parametrize("route", ["chat", "generate"])
def test_sections_stream_as_seats_finish(client, route):
    arrivals = {}
    started = time.monotonic()
    sent = (
        client.chat("bench/staggered", HI, stream=True)
        if route == "chat"
        else client.generate("bench/staggered", "Hi.", stream=True)
    )
    text, last = "", None
    for last in sent:
        piece = last.message.content if route == "chat" else last.response
        text += piece
        for alias in ("fast", "steady", "slow"):
            if f"## member · {alias}" in piece:
                arrivals[alias] = time.monotonic() - started
    assert list(arrivals) == ["fast", "steady", "slow"]
    assert arrivals["slow"] - arrivals["steady"] > 0.25
    assert (last.done, last.done_reason) == (True, "stop")
    assert last.total_duration > 0
    assert text.endswith('"false": []}`\n')


def test_it_streams_unless_told_not_to(server):
    for ask, text in ((chat, lambda line: line["message"]["content"]), (generate, lambda line: line["response"])):
        reply = ask(server)
        assert reply.headers["content-type"] == "application/x-ndjson"
        assert reply.headers["cache-control"] == "no-cache, no-transform"
        assert reply.headers["x-accel-buffering"] == "no"
        assert reply.body.isascii()
        sent = lines(reply.body)
        assert [line["done"] for line in sent] == [False] * (len(sent) - 1) + [True]
        # Open WebUI takes a line without text for the end.
        assert all(text(line) for line in sent[:-1])
        assert ["bench" in line for line in sent] == [line["done"] for line in sent]
        whole = ask(server, stream=False)
        assert whole.headers["content-type"] == "application/json"
        assert len(text(whole.json)) == len("".join(text(line) for line in sent))
        assert whole.json.keys() == sent[-1].keys()


def test_the_200_comes_when_the_panel_is_seated_also_for_a_merged_reply(server):
    body = json.dumps({"model": "bench/late:merged", "messages": HI}).encode()
    head = f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as sent:
        started = time.monotonic()
        sent.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert sent.recv(65_536).startswith(b"HTTP/1.1 200")
        # Its slower seat needs six seconds, and nothing is merged before.
        assert time.monotonic() - started < 5


def test_a_silence_is_kept_alive_with_lines_that_the_library_reads(upstream, tmp_path):
    bench = bench_file(upstream.url, {"late": {"model": "slow-2.5"}}, {"late": ["late"]}) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path, bench, BENCH_KEEPALIVE_SECONDS="1") as server:
        client = ollama.Client(host=server.base_url, timeout=30)
        for pieces in (
            [line.message.content for line in client.chat("bench/late", HI, stream=True)],
            [line.response for line in client.generate("bench/late", "Hi.", stream=True)],
        ):
            assert pieces[1:3] == ["", ""]
            assert "The answer is 42." in next(piece for piece in pieces[1:] if piece)


def test_unicode_that_splits_lines_survives_the_library(server, client):
    text = "one\u2028two\u2029three\u0085four\x0bfive\x0csix\x1cseven 🐎"
    sent = client.chat("bench/echoing", [{"role": "user", "content": text}], stream=True)
    assert text in "".join(line.message.content for line in sent)


def test_nobody_answering_is_an_error_in_the_reply_or_in_the_stream(server, client):
    reply = chat(server, "bench/failing", stream=False)
    assert "No seat of panel" in refused(reply, 502)
    assert reply.headers["x-should-retry"] == "false"
    assert reply.json["bench"]["seats"][0]["status"] == "error"
    last = lines(chat(server, "bench/failing").body)[-1]
    assert "No seat of panel" in last["error"]
    assert last["bench"]["seats"][0]["status"] == "error"
    for stream in (False, True):
        with pytest.raises(ollama.ResponseError, match="No seat of panel") as failed:
            list(client.chat("bench/failing", HI, stream=stream))
        assert failed.value.status_code == (-1 if stream else 502)
    limited = generate(server, "bench/limits-ollama", stream=False)
    assert refused(limited, 429)
    assert limited.headers["retry-after"] == "9"


def test_an_unknown_model_is_refused_with_every_collection(server, client):
    for model, status in (("bench/none", 404), ("llama3.2", 404), ("bench/pair:banana", 404), ("", 400)):
        for ask in (chat, generate):
            for stream in (False, True):
                message = refused(ask(server, model, stream=stream), status)
                assert "bench/pair: For pair [test]" in message
                assert status == 400 or f"model '{model}' not found" in message
    for ask in (
        lambda: client.chat("bench/none", HI),
        lambda: client.generate("bench/none", "Hi."),
        lambda: client.show("bench/none"),
    ):
        with pytest.raises(ollama.ResponseError, match=r"model 'bench/none' not found.*bench/pair: For pair") as failed:
            ask()
        assert failed.value.status_code == 404


def test_latest_is_the_collection_in_its_own_mode(server, client):
    reply = client.chat("bench/pair:latest", messages=HI)
    assert reply.model == "bench/pair:latest"
    assert "## member · fast" in reply.message.content
    assert client.show("bench/pair:latest").details.family == "bench"
    merged = generate(server, "bench/pair:merged", stream=False).json
    assert merged["model"] == "bench/pair:merged"
    assert merged["bench"]["reply"] == "merged"


def test_a_request_that_asks_nothing_loads_or_unloads_and_asks_nobody(server, client):
    before = server.rows("select count(*) from evidence_panel")
    for reason, keep_alive in (("load", None), ("unload", 0), ("unload", "0"), ("load", "5m")):
        assert client.chat("bench/pair", messages=[], keep_alive=keep_alive).done_reason == reason
        (line,) = client.generate("bench/pair", keep_alive=keep_alive, stream=True)
        assert (line.done, line.done_reason, line.response) == (True, reason, "")
    # One JSON, even where a stream was the default.
    reply = chat(server, messages=[])
    assert reply.headers["content-type"] == "application/json"
    assert reply.json["message"] == {"role": "assistant", "content": ""}
    assert server.rows("select count(*) from evidence_panel") == before
    assert refused(chat(server, "bench/none", messages=[]), 404)


def test_only_models_that_see_are_shown_an_image(server, client, upstream):
    message = {"role": "user", "content": "What is it?", "images": [PNG]}
    bench = chat(server, "bench/seeing", messages=[message | {"images": [base64.b64encode(PNG).decode()]}], stream=False).json[
        "bench"
    ]
    assert [seat["alias"] for seat in bench["seats"]] == ["eyes"]
    assert "not known to take images" in bench["skipped"][0]["why"]
    for reply in (
        client.chat("bench/seeing", [message]).message.content,
        client.generate("bench/seeing", "What is it?", images=[PNG]).response,
    ):
        assert "## member · eyes" in reply
        url = "data:image/png;base64," + base64.b64encode(PNG).decode()
        assert upstream.requests[-1].body["messages"][0]["content"] == [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url", "image_url": {"url": url}},
        ]
    assert not server.rows("select 1 from evidence_panel where request like ?", f"%{base64.b64encode(PNG)[40:80].decode()}%")
    with pytest.raises(ollama.ResponseError, match="never answered blind") as failed:
        client.chat("bench/pair", [message])
    assert failed.value.status_code == 400


def tool(city: str) -> str:
    """Say the weather of a city."""
    return city


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_panel_cannot_do_is_refused_with_what_to_send(server, client, stream):
    before = server.rows("select count(*) from evidence_panel")
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
    for ask in (
        lambda: client.chat("bench/pair", HI, tools=[tool], stream=stream),
        lambda: client.chat("bench/pair", [*HI, call], stream=stream),
        lambda: client.chat("bench/pair", [*HI, {"role": "tool", "tool_name": "f", "content": "x"}], stream=stream),
    ):
        with pytest.raises(ollama.ResponseError, match="put what they would return into the prompt") as failed:
            list(ask())
        assert failed.value.status_code == 400
    with pytest.raises(ollama.ResponseError, match="send the conversation so far as messages") as failed:
        list(client.generate("bench/pair", "Hi.", context=[1, 2], stream=stream))
    assert failed.value.status_code == 400
    with pytest.raises(ollama.ResponseError, match="PNG, JPEG, GIF or WEBP") as failed:
        list(client.generate("bench/pair", "Hi.", images=[b"%PDF-1.4"], stream=stream))
    assert failed.value.status_code == 400
    assert server.rows("select count(*) from evidence_panel") == before


def test_ignored_settings_are_named_and_bench_can_be_left_out(server, client):
    client.chat("bench/pair", HI, options={"temperature": 0.3}, format="json", keep_alive="5m", think=True)
    named = chat(server, options={"temperature": 0.3, "num_ctx": 9}, think=True, stream=False).json["bench"]["ignored"]
    assert set(named) == {"options.temperature", "options.num_ctx", "think"}
    assert "bench" not in chat(server, bench={"field": False}, stream=False).json
    assert all("bench" not in line for line in lines(chat(server, bench={"field": False}).body))


def test_a_prompt_over_a_members_window_is_refused_either_way(server):
    for ask, field in ((chat, {"messages": [{"role": "user", "content": "a" * 4000}]}), (generate, {"prompt": "a" * 4000})):
        for stream in (False, True):
            assert "small takes 300" in refused(ask(server, "bench/tight", stream=stream, **field), 413)


def test_the_lists_name_every_collection_in_both_modes(server, client):
    openai = {model["id"] for model in server.request("GET", "/v1/models").json["data"]}
    assert {model.model for model in client.list().models} == openai
    assert {model["name"] for model in server.request("GET", "/api/tags").json["models"]} == openai
    assert client.chat(client.list().models[0].model, messages=[]).done_reason == "load"
    assert client.ps().models == []
    assert server.request("GET", "/api/version").json == {"version": "0.12.0"}


def test_a_collection_is_shown_by_either_name(server, client):
    shown = client.show("bench/tight")
    assert shown.capabilities == ["completion"]
    assert shown.modelinfo["bench.context_length"] == 300
    assert shown.details.format == "bench"
    older = server.request("POST", "/api/show", {"name": "bench/pair:merged", "verbose": True})
    assert older.json["model_info"]["general.basename"] == "bench/pair:merged"
    assert older.json["bench"]["reply"] == "merged"
    assert "bench/pair: For pair" in refused(server.request("POST", "/api/show", {}), 400)
    assert "must be a string" in refused(server.request("POST", "/api/show", {"model": 5}), 400)


@pytest.mark.parametrize("path", ["/", "/api/tags", "/api/version"])
def test_ollamas_signs_of_life_answer_head(server, path):
    reply, whole = server.request("HEAD", path), server.request("GET", path)
    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["content-type"] == whole.headers["content-type"]
    assert whole.body
    if path == "/":
        assert whole.body == b"Ollama is running"


def test_a_path_or_method_that_there_is_not_is_refused_in_ollamas_words(server):
    for method, path in (("POST", "/api/pull"), ("DELETE", "/api/delete"), ("POST", "/api/embed"), ("GET", "/api/nothing")):
        assert path in refused(server.request(method, path, {"model": "x"}), 404)
    for method, path, allowed in (
        ("GET", "/api/chat", "POST"),
        ("POST", "/api/tags", "GET, HEAD"),
        ("GET", "/api/show", "POST"),
    ):
        reply = server.request(method, path, {} if method == "POST" else None)
        assert refused(reply, 405)
        assert reply.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate", "/api/show"])
def test_what_is_no_json_is_refused_in_ollamas_words(server, path):
    for raw in (b"", b"{", b'{"model": "\xff"}', b"[" * 100_000, b"null", b"[]", b'{"model": NaN}'):
        assert refused(server.request("POST", path, raw=raw), 400)
    assert "Content-Type" in refused(server.request("POST", path, {}, {"Content-Type": "text/plain"}), 415)
