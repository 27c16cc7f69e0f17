"""Legacy completions through the front door, with the real SDK."""

import openai
import pytest

PROMPT = "Say anything."


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.base_url}/v1", api_key="local", max_retries=0, timeout=30) as client:
        yield client


def test_every_member_answers_and_is_named(client):
    completion = client.completions.create(model="bench/pair", prompt=PROMPT, max_tokens=16, echo=True, suffix="}")
    bench = completion.model_extra["bench"]
    assert [(seat["alias"], seat["status"]) for seat in bench["seats"]] == [("fast", "ok"), ("steady", "ok")]
    assert all(seat["call"] in completion.choices[0].text for seat in bench["seats"])
    assert (completion.choices[0].finish_reason, completion.model) == ("stop", "bench/pair")
    assert set(bench["ignored"]) == {"max_tokens", "echo", "suffix"}
    assert completion.usage.total_tokens > 0


def test_sections_stream_and_bench_comes_with_the_finish_reason(client):
    chunks = list(
        client.completions.create(model="bench/pair", prompt=[PROMPT], stream=True, stream_options={"include_usage": True})
    )
    *pieces, last, usage = chunks
    text = "".join(piece.choices[0].text for piece in pieces)
    assert [alias for alias in ("fast", "steady") if f"## member · {alias}" in text] == ["fast", "steady"]
    assert {piece.choices[0].finish_reason for piece in pieces} == {None}
    assert (last.choices[0].text, last.choices[0].finish_reason) == ("", "stop")
    assert len(last.model_extra["bench"]["seats"]) == 2
    assert (usage.choices, usage.usage.total_tokens > 0) == ([], True)


def test_a_stream_ends_as_openais_do_and_its_route_needs_no_v1(server):
    streamed = server.request("POST", "/completions", {"model": "pair", "prompt": "Žluťoučký 🐎", "stream": True})
    assert streamed.headers["content-type"] == "text/event-stream"
    assert streamed.body.isascii()
    assert streamed.body.endswith(b"data: [DONE]\n\n")


def test_the_prompt_is_what_every_seat_is_sent(client, upstream):
    completion = client.completions.create(model="bench/echoing", prompt="def fib(n):\n    ")
    assert completion.model_extra["bench"]["seats"][0]["answer"] == "def fib(n):\n    "
    assert upstream.requests[-1].body["messages"] == [{"role": "user", "content": "def fib(n):\n    "}]


@pytest.mark.parametrize("prompt", [["a", "b"], [1, 2, 3], [[1, 2], [3]], []], ids=str)
def test_a_refusal_is_the_same_streamed_and_not_and_asks_nobody(client, server, prompt):
    before = server.rows("select count(*) from evidence_panel")
    bodies = []
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as refusal:
            client.completions.create(model="bench/pair", prompt=prompt, stream=stream)
        bodies.append(refusal.value.body)
    assert bodies[0] == bodies[1]
    assert bodies[0]["param"] == "prompt"
    assert server.rows("select count(*) from evidence_panel") == before


def test_no_prompt_is_refused(server):
    reply = server.request("POST", "/v1/completions", {"model": "bench/pair"})
    assert (reply.status, reply.json["error"]["param"]) == (400, "prompt")


def test_nobody_answering_is_an_error_in_either_form(client):
    with pytest.raises(openai.InternalServerError):
        client.completions.create(model="bench/failing", prompt=PROMPT)
    with pytest.raises(openai.APIError, match="No seat of panel"):
        list(client.completions.create(model="bench/failing", prompt=PROMPT, stream=True))


def test_a_path_below_the_route_is_not_found_in_openais_words(server):
    reply = server.request("GET", "/v1/completions/cmpl-1")
    assert reply.status == 404
    assert set(reply.json["error"]) == {"message", "type", "param", "code"}
