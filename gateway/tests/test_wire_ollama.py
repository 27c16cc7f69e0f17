"""Ollama's chat and generate read and written: what is understood, what is refused and how, what is ignored and named."""

import base64
import json

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.errors import BadRequest
from gateway.reply import PanelReply
from gateway.tests.replies import panel_reply
from gateway.wire import ollama
from gateway.wire.contract import ListedCollection, NoPanel

CHAT, GENERATE = ollama.ROUTES[:2]
HI = {"role": "user", "content": "hi"}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


PNG = encoded(b"\x89PNG\r\n\x1a\n" + b"x" * 30)


def parse(**fields):
    return ollama.parse_request({"model": "bench/core", "messages": [HI]} | fields, CHAT)


def generate(**fields):
    return ollama.parse_request({"model": "bench/core", "prompt": "hi"} | fields, GENERATE)


def reply(**fields) -> PanelReply:
    return panel_reply(model="bench/core:latest", seconds=1.5, **fields)


def listed(**fields) -> ListedCollection:
    plain = {
        "id": "bench/core",
        "description": "Second opinions",
        "tags": ["general"],
        "members": ["fast", "slow"],
        "shape": "",
        "reply": "all",
        "merger": "",
        "explorers": 2,
        "context_window": 8192,
        "output_limit": None,
        "capabilities": ["tools"],
        "created": 1_700_000_000,
    }
    return ListedCollection(**(plain | fields))


def test_a_conversation_is_read_in_order():
    chat = parse(
        messages=[
            {"role": "System", "content": "Be brief."},
            HI,
            {"role": "assistant", "content": "Yes?", "thinking": ""},
            {"role": "USER", "content": "look", "images": [PNG]},
        ]
    )
    assert chat.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (TextPart("hi"),)),
        Message("assistant", (TextPart("Yes?"),)),
        Message("user", (TextPart("look"), ImagePart(f"data:image/png;base64,{PNG}"))),
    )
    assert (chat.format, chat.model, chat.ignored) == ("ollama", "bench/core", ())


def test_a_prompt_is_a_conversation_of_one_turn():
    chat = generate(system="Be brief.", images=[PNG])
    assert chat.messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (TextPart("hi"), ImagePart(f"data:image/png;base64,{PNG}"))),
    )
    assert generate(prompt="", images=[PNG]).messages == (Message("user", chat.messages[1].parts[1:]),)


@pytest.mark.parametrize("read", [parse, generate])
def test_it_streams_unless_told_not_to(read):
    assert [read(**fields).stream for fields in ({}, {"stream": None}, {"stream": True}, {"stream": False})] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("begins", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff\xe0", "jpeg"),
        (b"GIF89a", "gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "webp"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,", "DATA:application/octet-stream;base64,"])
def test_an_images_type_is_read_from_its_bytes(begins, kind, prefix):
    data = encoded(begins + b"\x00" * 20)
    chat = parse(messages=[HI | {"images": [prefix + data]}])
    assert chat.messages[0].parts[1] == ImagePart(f"data:image/{kind};base64,{data}")


def test_base64_in_lines_is_one_image():
    wrapped = base64.encodebytes(b"\x89PNG" + b"x" * 200).decode()
    assert parse(messages=[HI | {"images": [wrapped]}]).messages[0].parts[1].url.endswith(wrapped.replace("\n", ""))


@pytest.mark.parametrize(
    "data",
    [
        "",
        encoded(b"RIFF\x24\x00\x00\x00WAVEfmt "),
        encoded(b"%PDF-1.4"),
        encoded(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        encoded(b"BM" + b"\x00" * 40),
        "https://photos.example/chair.jpg?sig=secret",
        "chair.png",
        PNG[:-1],
        PNG + "!",
        PNG.replace("A", "é", 1) + "é",
        "data:image/png,plain",
    ],
)
def test_what_is_no_image_is_refused_and_the_refusal_says_what_to_send(data):
    with pytest.raises(BadRequest, match=r"PNG, JPEG, GIF or WEBP in base64.*URL use /v1/chat/completions") as refusal:
        parse(messages=[HI, HI | {"images": [PNG, data]}])
    assert refusal.value.param == "messages[1].images[1]"
    with pytest.raises(BadRequest) as refusal:
        generate(images=[data])
    assert refusal.value.param == "images[0]"
    assert "secret" not in refusal.value.message


def test_a_chat_never_prints_its_image():
    chat = parse(messages=[HI | {"images": [PNG]}])
    assert PNG[8:] not in repr(chat)
    assert "[image: data URL" in chat.text


def test_what_a_panel_does_not_pass_on_is_named():
    chat = parse(
        options={"temperature": 0.2, "num_ctx": 8192, "seed": None},
        format={"type": "object"},
        keep_alive="5m",
        think=False,
        system="in the wrong place",
        tools=[],
        messages=[HI, {"role": "assistant", "content": "Yes?", "thinking": "Hm."}],
    )
    assert set(chat.ignored) == {
        "options.temperature",
        "options.num_ctx",
        "format",
        "keep_alive",
        "think",
        "system",
        "messages.thinking",
    }
    assert set(generate(raw=True, template="{{ .Prompt }}", suffix="x", system="s").ignored) == {"raw", "template", "suffix"}


def test_settings_that_say_nothing_are_not_named():
    assert parse(format="", options={}, think=None).ignored == ()
    assert generate(suffix="", template="", format="", context=[]).ignored == ()


def test_the_benchs_own_settings_are_read_from_both_places():
    for read in (parse, generate):
        options = read(**{"with": ["a"], "bench": {"with": ["b"], "reply": "merged", "merger": "c", "field": False}}).bench
        assert (options.nominated, options.reply, options.merger, options.field) == (("a", "b"), "merged", "c", False)


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"messages": [HI, {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}]},
        {"messages": [HI, {"role": "tool", "tool_name": "f", "content": "x"}]},
        {"messages": [HI, {"role": "Tool", "content": "x"}]},
    ],
)
def test_tools_are_refused_and_the_refusal_says_what_to_send(fields):
    with pytest.raises(BadRequest, match=r"cannot run tools.*put what they would return into the prompt.*is coming"):
        parse(**fields)


def test_a_context_of_tokens_is_refused_and_the_refusal_says_what_to_send():
    for read in (parse, generate):
        with pytest.raises(BadRequest, match="send the conversation so far as messages to /api/chat") as refusal:
            read(context=[1, 2, 3])
        assert refusal.value.param == "context"


LOADS = [
    (None, "load"),
    ("5m", "load"),
    (-1, "load"),
    (10, "load"),
    (0.5, "load"),
    ("10m", "load"),
    (False, "load"),
    ("", "load"),
    ([], "load"),
    (0, "unload"),
    (0.0, "unload"),
    ("0", "unload"),
    ("0s", "unload"),
    ("0h0m", "unload"),
]


@pytest.mark.parametrize(("keep_alive", "reason"), LOADS)
def test_a_request_that_asks_nothing_loads_or_unloads(keep_alive, reason):
    for read, fields in (
        (parse, {"messages": []}),
        (parse, {"messages": None}),
        (generate, {"prompt": ""}),
        (generate, {"prompt": None, "system": "Be brief."}),
    ):
        loaded = read(keep_alive=keep_alive, **fields)
        assert isinstance(loaded, NoPanel)
        assert loaded.model == "bench/core"
        body = loaded.rendered.body
        assert (body["model"], body["done"], body["done_reason"]) == ("bench/core", True, reason)
        assert body.get("response") == ("" if read is generate else None)
        assert body.get("message") == ({"role": "assistant", "content": ""} if read is parse else None)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": 5}, "model"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [None]}, "messages[0]"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": 5, "content": "hi"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "images": PNG}]}, "messages[0].images"),
        ({"messages": [{"role": "user", "images": [5]}]}, "messages[0].images[0]"),
        ({"messages": [{"role": "user", "tool_calls": {}}]}, "messages[0].tool_calls"),
        ({"stream": "yes"}, "stream"),
        ({"stream": 0}, "stream"),
        ({"messages": [], "stream": "no"}, "stream"),
        ({"tools": {}}, "tools"),
        ({"context": "x"}, "context"),
        ({"options": []}, "options"),
        ({"bench": {"reply": "banana"}}, "bench.reply"),
        ({"with": "fast"}, "with"),
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(fields, param):
    with pytest.raises(BadRequest) as refusal:
        parse(**fields)
    assert refusal.value.param == param


@pytest.mark.parametrize(
    ("fields", "param"),
    [({"prompt": 5}, "prompt"), ({"prompt": ["hi"]}, "prompt"), ({"system": []}, "system"), ({"images": PNG}, "images")],
)
def test_a_wrong_type_beside_a_prompt_is_refused_too(fields, param):
    with pytest.raises(BadRequest) as refusal:
        generate(**fields)
    assert refusal.value.param == param


@pytest.mark.parametrize("payload", [None, [], "x", 5, True])
@pytest.mark.parametrize("route", [CHAT, GENERATE])
def test_a_body_that_is_no_object_is_refused(payload, route):
    with pytest.raises(BadRequest, match="must be an object"):
        ollama.parse_request(payload, route)


def test_the_reply_has_each_routes_own_text_and_the_same_ending():
    chat, generated = (ollama.render_reply(reply(), route).body for route in (CHAT, GENERATE))
    assert chat["message"] == {"role": "assistant", "content": "# bench/core"}
    assert "response" not in chat
    assert generated["response"] == "# bench/core"
    assert not {"message", "context"} & generated.keys()
    for body in (chat, generated):
        assert (body["model"], body["done"], body["done_reason"]) == ("bench/core:latest", True, "stop")
        assert (body["prompt_eval_count"], body["eval_count"]) == (2, 3)
        assert body["total_duration"] == body["eval_duration"] == 1_500_000_000
        assert body["bench"]["seats"][0]["answer"] == "Yes."
    assert "bench" not in ollama.render_reply(reply(field=False), CHAT).body


def test_a_stream_is_lines_and_the_last_says_done_and_carries_bench():
    encoder = ollama.stream_encoder(parse(), CHAT)
    sent = [*encoder.start(), *encoder.text("a"), *encoder.text("b"), *encoder.finish(reply())]
    lines = [json.loads(line) for line in sent]
    assert [(line["message"]["content"], line["done"]) for line in lines] == [("a", False), ("b", False), ("", True)]
    assert lines[-1]["done_reason"] == "stop"
    assert lines[-1]["bench"]["panel"] == "p1"
    assert all("bench" not in line and line["model"] == "bench/core" for line in lines[:-1])
    (last,) = ollama.stream_encoder(generate(), GENERATE).finish(reply(field=False))
    assert json.loads(last)["response"] == ""
    assert "bench" not in json.loads(last)


@pytest.mark.parametrize(("read", "route"), [(parse, CHAT), (generate, GENERATE)])
def test_every_event_is_one_line_in_ascii(read, route):
    encoder = ollama.stream_encoder(read(), route)
    events = [
        *encoder.text("é\u2028\u2029\u0085\x0b\x0c\x1c汉\r\n"),
        *encoder.keepalive(),
        *encoder.finish(reply()),
        *encoder.error(502, "Nobody\nanswered\u2028."),
    ]
    for event in events:
        assert event.isascii()
        assert event.endswith(b"}\n")
        # As httpx splits: at more than line feeds.
        assert event.decode().splitlines() == [event.decode().rstrip("\n")]


def test_a_silence_is_kept_alive_by_a_line_without_text_and_nothing_else():
    for encoder, empty in (
        (ollama.stream_encoder(parse(), CHAT), {"message": {"role": "assistant", "content": ""}}),
        (ollama.stream_encoder(generate(), GENERATE), {"response": ""}),
    ):
        assert encoder.start() == ()
        (line,) = encoder.keepalive()
        body = json.loads(line)
        assert body.items() >= (empty | {"done": False, "model": "bench/core"}).items()
        assert "done_reason" not in body


def test_an_error_is_a_string_in_a_reply_and_in_a_stream():
    assert ollama.render_error(404, "Why.", code="model_not_found", param="model", bench=None) == {"error": "Why."}
    (line,) = ollama.stream_encoder(parse(), CHAT).error(502, "Nobody answered.", bench={"panel": "p1"})
    assert json.loads(line) == {"error": "Nobody answered.", "bench": {"panel": "p1"}}


def test_a_list_of_models_has_what_clients_read():
    merged = listed(id="bench/core:merged", reply="merged")
    models = ollama.render_models([listed(), merged])["models"]
    assert [model["name"] for model in models] == [model["model"] for model in models] == ["bench/core", "bench/core:merged"]
    assert models[0]["modified_at"] == "2023-11-14T22:13:20Z"
    assert len({model["digest"] for model in models}) == 2
    assert all(len(model["digest"]) == 64 and model["size"] == 0 for model in models)
    assert models[0]["details"].keys() == {
        "format",
        "family",
        "families",
        "parameter_size",
        "quantization_level",
    }
    assert models[0]["bench"]["description"] == "Second opinions"


def test_a_model_shows_its_window_and_what_every_member_can():
    shown = ollama.render_model(listed())
    architecture = shown["model_info"]["general.architecture"]
    assert shown["model_info"][f"{architecture}.context_length"] == 8192
    assert shown["capabilities"] == ["completion"]
    assert shown["bench"]["members"] == ["fast", "slow"]
    seeing = ollama.render_model(listed(capabilities=["vision", "tools"], context_window=None))
    assert seeing["capabilities"] == ["completion", "vision"]
    assert not any(name.endswith("context_length") for name in seeing["model_info"])
