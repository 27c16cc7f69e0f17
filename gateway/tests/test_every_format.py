"""What holds for every format: a refusal looks the same streamed and not, in the format's shape, and bodies are capped."""

import json

import pytest

from gateway.tests.formats import COMPLETIONS, FORMS, GEMINI, MESSAGES, OLLAMA_CHAT, RESPONSES, WITH_IMAGES, Form, error_text

each = pytest.mark.parametrize("form", FORMS, ids=str)


def post(server, form: Form, model: str, text: str = "Say anything.", *, stream: bool = False, **extra):
    path, body = form.request(model, text, stream=stream)
    return server.request("POST", path, body | extra)


def refused(server, form: Form, model: str, text: str = "Say anything.", **extra) -> tuple[int, str]:
    """The status and words of a refusal, having seen that it is the same streamed and not."""
    plain, streamed = (post(server, form, model, text, stream=stream, **extra) for stream in (False, True))
    assert plain.status == streamed.status
    assert error_text(form, plain.json) == error_text(form, unwrapped(streamed.json))
    assert plain.headers["content-type"] == streamed.headers["content-type"] == "application/json"
    return plain.status, error_text(form, plain.json)


def unwrapped(body):
    return body[0] if isinstance(body, list) else body


@each
def test_a_panel_answers_plain_and_streamed(server, form):
    for stream in (False, True):
        reply = post(server, form, "bench/pair", stream=stream)
        assert reply.status == 200, reply.body
        text = json.dumps(reply.body.decode())
        assert "member1" in text
        assert "No stale read." in text


@each
def test_an_unknown_collection_is_a_404_that_lists_them(server, form):
    status, words = refused(server, form, "bench/none")
    assert status == 404
    assert "bench/pair: For pair [test]" in words


@each
def test_a_prompt_over_a_window_is_a_413_that_names_it(server, form):
    status, words = refused(server, form, "bench/tight", "a" * 4000)
    assert status == 413
    assert "small takes 300" in words


@each
def test_nobody_to_seat_is_a_503(server, form):
    status, words = refused(server, form, "bench/leaving")
    assert status == 503
    assert "gone: retired" in words


@each
def test_nobody_answering_is_a_502_that_sdks_do_not_repeat(server, form):
    reply = post(server, form, "bench/failing")
    assert reply.status == 502
    assert reply.headers["x-should-retry"] == "false"
    assert "No seat of panel" in error_text(form, reply.json)


TOOLS = {
    "chat": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "responses": {"tools": [{"type": "function", "name": "f", "parameters": {}}]},
    "messages": {"tools": [{"name": "f", "input_schema": {"type": "object"}}]},
    "ollama-chat": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "f"}]}]},
}


@pytest.mark.parametrize("form", [form for form in FORMS if form.name in TOOLS], ids=str)
def test_tools_are_refused_and_an_empty_list_is_none(server, form):
    status, words = refused(server, form, "bench/pair", **TOOLS[form.name])
    assert status == 400
    assert "A route mode for agents is coming." in words
    assert post(server, form, "bench/pair", tools=[]).status == 200


STORED = [
    (RESPONSES, {"previous_response_id": "resp_1"}),
    (RESPONSES, {"conversation": "conv_1"}),
    (RESPONSES, {"background": True}),
    (RESPONSES, {"prompt": {"id": "pmpt_1"}}),
    (COMPLETIONS, {"prompt": ["a", "b"]}),
    (COMPLETIONS, {"prompt": [1, 2, 3]}),
    (COMPLETIONS, {"prompt": [[1], [2]]}),
    (OLLAMA_CHAT, {"messages": [{"role": "tool", "content": "x"}]}),
    (GEMINI, {"cachedContent": "cachedContents/1"}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}]}),
]


@pytest.mark.parametrize(("form", "extra"), STORED, ids=lambda value: str(value)[:40])
def test_what_is_stored_elsewhere_or_a_tools_is_refused(server, form, extra):
    assert refused(server, form, "bench/pair", **extra)[0] == 400


@each
def test_json_that_cannot_be_read_is_refused_in_the_formats_shape(server, form):
    path, _ = form.request("bench/pair")
    for raw in (b"{", b"\xff", b"[" * 100_000, b"null", b'{"model": NaN}'):
        reply = server.request("POST", path, raw=raw)
        assert reply.status == 400
        assert error_text(form, unwrapped(reply.json))


@each
def test_wrong_content_types_and_methods_are_refused_in_the_formats_shape(server, form):
    path, _ = form.request("bench/pair")
    assert error_text(form, server.request("POST", path, raw=b"{}", headers={"Content-Type": "text/plain"}).json)
    wrong = server.request("PUT", path, raw=b"{}")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert error_text(form, wrong.json)


@each
def test_19_mb_are_read_and_21_are_refused(server, form):
    path, body = form.request("bench/tight", "x" * 19_000_000)
    assert "small takes 300" in error_text(form, server.request("POST", path, body).json)
    path, body = form.request("bench/pair", "x" * 21_000_000)
    reply = server.request("POST", path, body)
    assert reply.status == 413
    assert "20,000,000 bytes is the most" in error_text(form, reply.json)


@pytest.mark.parametrize("form", WITH_IMAGES, ids=str)
def test_an_image_that_is_none_is_refused_or_passed_on_as_sent_but_never_a_500(server, form):
    path, body = form.request("bench/seeing", images=["data:image/png;base64,bm90IGFuIGltYWdl"])
    assert server.request("POST", path, body).status in (200, 400)


@each
def test_ignored_settings_are_named(server, form):
    extra = {"generationConfig": {"temperature": 0.2}} if form is GEMINI else {"temperature": 0.2}
    if form.name.startswith("ollama"):
        extra = {"options": {"temperature": 0.2}}
    reply = post(server, form, "bench/pair", **extra)
    assert reply.status == 200
    if form is not GEMINI:
        assert any("temperature" in name for name in reply.json["bench"]["ignored"])
