"""OpenAI Responses through the front door, with the real SDK: replies, streams, second turns, and what is stored nowhere."""

import json
import socket

import openai
import pytest

PROMPT = "Say anything."


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.base_url}/v1", api_key="local", max_retries=0, timeout=30) as client:
        yield client


def test_every_member_answers_and_is_named(client):
    response = client.responses.create(model="bench/pair", input=PROMPT, instructions="Be brief.")
    bench = response.model_extra["bench"]
    assert [(seat["alias"], seat["status"]) for seat in bench["seats"]] == [("fast", "ok"), ("steady", "ok")]
    assert all(seat["call"] in response.output_text for seat in bench["seats"])
    assert (response.status, response.error, response.model) == ("completed", None, "bench/pair")
    assert response.model_dump()["store"] is False
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens > 0


def test_a_stream_is_numbered_and_ends_in_the_whole_response(client):
    events = list(client.responses.create(model="bench/pair", input=PROMPT, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events[:4]] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert [event.type for event in events[-4:]] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    final = events[-1].response
    assert len(deltas) == 4
    assert "".join(deltas) == events[-4].text == final.output_text
    assert (events[0].response.id, events[0].response.created_at) == (final.id, final.created_at)
    assert len(final.model_extra["bench"]["seats"]) == 2


def test_the_stream_helper_reads_a_stream_to_its_end(client):
    with client.responses.stream(model="bench/pair", input=PROMPT) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert final.output_text == "".join(deltas)
    assert final.model_extra["bench"]["answered"] == 2


def test_a_stream_is_ascii_with_a_name_to_every_event(server):
    streamed = server.request("POST", "/responses", {"model": "pair", "input": "Žluťoučký 🐎\u2028", "stream": True})
    assert streamed.headers["content-type"] == "text/event-stream"
    assert streamed.body.isascii()
    for raw in streamed.body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = raw.split("\n")
        assert name == f"event: {json.loads(data.removeprefix('data: '))['type']}"


def test_a_merged_stream_tells_its_start_before_the_merger_has_written(server):
    body = json.dumps({"model": "bench/staggered:merged", "input": PROMPT, "stream": True}).encode()
    head = f"POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as caller:
        caller.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        read = b""
        while b"response.content_part.added" not in read:
            read += caller.recv(65536)
    assert b"response.output_text.delta" not in read


def test_a_second_turn_sends_the_first_ones_output_back(client, upstream):
    first = client.responses.create(model="bench/echoing", input=PROMPT)
    turns = [{"role": "user", "content": PROMPT}, *first.output, {"role": "user", "content": "And then?"}]
    second = client.responses.create(model="bench/echoing", input=turns)
    assert second.model_extra["bench"]["seats"][0]["answer"] == "And then?"
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "echo").body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == first.output_text


def test_reasoning_sent_back_is_left_out_and_named(client):
    thought = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "x",
    }
    response = client.responses.create(
        model="bench/pair", input=[thought, {"role": "user", "content": PROMPT}], store=True, temperature=0.3
    )
    assert set(response.model_extra["bench"]["ignored"]) == {"store", "temperature", "input.reasoning"}


def test_only_models_that_see_are_shown_an_image(client, upstream):
    url = "data:image/png;base64," + "iVBORw0KGgo" * 40
    parts = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": url, "detail": "auto"}]
    response = client.responses.create(model="bench/seeing", input=[{"role": "user", "content": parts}])
    assert [seat["alias"] for seat in response.model_extra["bench"]["seats"]] == ["eyes"]
    assert upstream.requests[-1].body["messages"][0]["content"][1]["image_url"]["url"] == url


FUNCTION = {"type": "function", "name": "f", "parameters": {}, "strict": False}
REFUSED = [
    {"tools": [FUNCTION]},
    {"tools": [{"type": "web_search"}]},
    {"previous_response_id": "resp_1"},
    {"conversation": "conv_1"},
    {"prompt": {"id": "pmpt_1"}},
    {"background": True},
    {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]},
    {"input": [{"type": "item_reference", "id": "msg_1"}]},
    {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}]},
    {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]},
]


@pytest.mark.parametrize("fields", REFUSED, ids=lambda fields: next(iter(fields)))
def test_a_refusal_is_the_same_streamed_and_not_and_asks_nobody(client, server, fields):
    before = server.rows("select count(*) from evidence_panel")
    refusals = []
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as refusal:
            client.responses.create(**{"model": "bench/pair", "input": "x", "stream": stream} | fields)
        refusals.append((refusal.value.status_code, refusal.value.body))
    assert refusals[0] == refusals[1]
    assert refusals[0][1]["param"].partition("[")[0] == next(iter(fields))
    assert server.rows("select count(*) from evidence_panel") == before


def test_an_unknown_collection_is_refused_with_all_of_them(client):
    for stream in (False, True):
        with pytest.raises(openai.NotFoundError, match="bench/pair: For pair"):
            client.responses.create(model="bench/none", input="x", stream=stream)


def test_what_would_be_stored_is_not_found(client):
    for ask in (client.responses.retrieve, client.responses.delete, client.responses.cancel, client.responses.input_items.list):
        with pytest.raises(openai.NotFoundError) as missing:
            ask("resp_1")
        assert missing.value.body["message"].startswith("There is no route /v1/responses/resp_1")


def test_input_tokens_are_the_size_estimate_and_ask_nobody(client, server):
    before = server.rows("select count(*) from evidence_panel")
    counted = client.responses.input_tokens.count(model="bench/pair", input="a" * 4000, tools=[FUNCTION])
    assert (counted.object, counted.input_tokens) == ("response.input_tokens", 1100)
    with_system = client.responses.input_tokens.count(model="bench/pair", input="a" * 4000, instructions="b" * 400)
    assert with_system.input_tokens == 1210
    with pytest.raises(openai.NotFoundError):
        client.responses.input_tokens.count(model="bench/none", input="x")
    assert server.rows("select count(*) from evidence_panel") == before


def test_nobody_answering_is_a_502(client):
    with pytest.raises(openai.InternalServerError) as failure:
        client.responses.create(model="bench/failing", input=PROMPT)
    assert failure.value.status_code == 502
    assert failure.value.response.headers["x-should-retry"] == "false"
    assert failure.value.response.json()["bench"]["seats"][0]["status"] == "error"


def test_nobody_answering_a_stream_is_raised_by_the_sdk_and_told_in_both_events(server, client):
    with pytest.raises(openai.APIError, match="No seat of panel"):
        list(client.responses.create(model="bench/failing", input=PROMPT, stream=True))
    raw = server.request("POST", "/v1/responses", {"model": "bench/failing", "input": PROMPT, "stream": True}).body
    error, failed = [json.loads(line[6:]) for line in raw.decode().split("\n") if line.startswith("data: ")][-2:]
    assert error["message"] == error["error"]["message"] == failed["response"]["error"]["message"]
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert failed["sequence_number"] == error["sequence_number"] + 1
    assert "## member · broken" in failed["response"]["output"][0]["content"][0]["text"]
    assert failed["response"]["bench"]["seats"][0]["status"] == "error"
