"""Gemini read and written: what is understood in either spelling, what is refused and how, what is ignored and named."""

import json
from dataclasses import replace

import pytest

from gateway.chat import ImagePart, TextPart
from gateway.errors import BadRequest, NotFound
from gateway.tests.replies import panel_reply, seat_answer
from gateway.wire import gemini
from gateway.wire.contract import ListedCollection

GENERATE = next(route for route in gemini.ROUTES if route.path.endswith(":generateContent"))
STREAM = next(route for route in gemini.ROUTES if route.path.endswith(":streamGenerateContent"))
SSE = replace(STREAM, variant="sse")
COUNT = next(route for route in gemini.ROUTES if route.path.endswith(":countTokens"))
HI = {"role": "user", "parts": [{"text": "hi"}]}
PNG = "iVBORw0KGgo="


def parse(route=GENERATE, model="bench/core", **fields):
    return gemini.parse_request({"contents": [HI]} | fields, route, model=model)


def parse_part(part):
    return parse(contents=[{"role": "user", "parts": [part]}]).messages[0].parts


def events(chunks) -> list:
    return [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks]


def text_of(chunk) -> str:
    return "".join(part["text"] for part in chunk["candidates"][0]["content"]["parts"])


def test_a_conversation_is_read_in_order():
    chat = parse(
        systemInstruction={"role": "user", "parts": [{"text": "Be brief."}]},
        contents=[
            {"parts": [{"text": "no role"}]},
            {"role": "model", "parts": [{"text": "No."}]},
            {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
        ],
    )
    assert [message.role for message in chat.messages] == ["system", "user", "assistant", "user"]
    assert chat.messages[0].parts == (TextPart("Be brief."),)
    assert chat.messages[3].parts == (TextPart("look"), ImagePart(f"data:image/png;base64,{PNG}"))
    assert (chat.model, chat.stream, chat.ignored) == ("bench/core", False, ())
    assert parse(STREAM).stream


@pytest.mark.parametrize("role", ["model", "system", -1.5, None, ["user"]])
def test_who_says_what_is_for_the_system_is_not_read(role):
    chat = parse(systemInstruction={"role": role, "parts": [{"text": "Be brief."}]})
    assert [(message.role, message.text) for message in chat.messages] == [("system", "Be brief."), ("user", "hi")]


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inline_data": {"mime_type": "image/png", "data": PNG}},
        {"inlineData": {"mime_type": "image/png", "data": PNG}},
        {"inline_data": {"mimeType": "IMAGE/PNG", "data": PNG.rstrip("=")}},
    ],
)
def test_both_spellings_are_read_at_every_level(part):
    assert parse_part(part) == (ImagePart(f"data:image/png;base64,{PNG}"),)


def test_a_spelling_that_says_nothing_hides_no_other():
    chat = parse(systemInstruction={"parts": [{"text": "Be brief."}]}, system_instruction=None)
    assert chat.messages[0].text == "Be brief."


def test_settings_too_are_read_in_both_spellings():
    chat = parse(
        system_instruction={"parts": [{"text": "Be brief."}]},
        generation_config={"top_p": 0.5, "temperature": None},
        safety_settings=[],
    )
    assert chat.messages[0].text == "Be brief."
    assert set(chat.ignored) == {"topP", "safetySettings"}
    with pytest.raises(BadRequest, match="cachedContent"):
        parse(cached_content="cachedContents/1")


def test_base64_for_urls_as_googles_sdk_sends_it_becomes_what_providers_read():
    assert parse_part({"inlineData": {"mimeType": "image/png", "data": "-_-_"}}) == (ImagePart("data:image/png;base64,+/+/"),)


def test_base64_in_lines_is_padded_by_its_own_length():
    assert parse_part({"inlineData": {"mimeType": "image/png", "data": "iVBO\nRw0KGgo=\n"}}) == (
        ImagePart("data:image/png;base64,iVBORw0KGgo="),
    )


@pytest.mark.parametrize("spelling", [("fileData", "fileUri", "mimeType"), ("file_data", "file_uri", "mime_type")])
def test_an_image_is_taken_by_its_url(spelling):
    data, uri, kind = spelling
    url = "https://photos.example/files/chair.jpg?sig=1"
    assert parse_part({data: {uri: url, kind: "image/jpeg"}}) == (ImagePart(url),)
    assert parse_part({data: {uri: url}}) == (ImagePart(url),)


@pytest.mark.parametrize(
    "uri",
    [
        "https://generativelanguage.googleapis.com/v1beta/files/abc-123",
        "https://generativelanguage.googleapis.com/download/v1/files/abc:download?alt=media",
        "HTTPS://GenerativeLanguage.googleapis.com/v1beta/files/abc",
        "files/abc-123",
        "gs://bucket/chair.jpg",
        "https://www.youtube.com/watch?v=1",
        "https://youtu.be/1",
    ],
)
def test_stored_things_are_told_from_a_pictures_url(uri):
    with pytest.raises(BadRequest, match=r"uploaded file, a bucket or a video.*Send an image as inlineData") as refusal:
        parse_part({"fileData": {"fileUri": uri, "mimeType": "image/jpeg"}})
    assert refusal.value.param == "contents[0].parts[0].fileData.fileUri"


@pytest.mark.parametrize(
    ("part", "param"),
    [
        ({"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}}, "inlineData.mimeType"),
        ({"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}}, "inlineData.mimeType"),
        ({"inline_data": {"mime_type": "video/mp4", "data": "AAAA"}}, "inlineData.mimeType"),
        ({"inlineData": {"data": PNG}}, "inlineData.mimeType"),
        ({"inlineData": {"mimeType": "image/png"}}, "inlineData.data"),
        ({"inlineData": {"mimeType": "image/png;x=\n", "data": PNG}}, "inlineData.data"),
        ({"inlineData": {"mimeType": "image/png", "data": 5}}, "inlineData.data"),
        ({"inlineData": "x"}, "inlineData"),
        ({"fileData": {"fileUri": "https://x.example/a.pdf", "mimeType": "application/pdf"}}, "fileData.mimeType"),
        ({"fileData": {"fileUri": "ftp://x.example/a.png", "mimeType": "image/png"}}, "fileData.fileUri"),
        ({"fileData": {}}, "fileData.fileUri"),
        ({"text": 5}, "text"),
        ({"thought": "yes"}, "thought"),
        ({}, "text"),
        ({"videoMetadata": {}}, "text"),
    ],
)
def test_parts_that_cannot_go_to_a_panel_are_refused(part, param):
    with pytest.raises(BadRequest) as refusal:
        parse_part(part)
    assert refusal.value.param == f"contents[0].parts[0].{param}"


def test_a_refused_pdf_is_told_what_to_send():
    with pytest.raises(BadRequest, match=r"application/pdf cannot go to a panel.*inlineData.*fileData.*its text"):
        parse_part({"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}})


CALL = {"name": "f", "args": {}}


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"functionDeclarations": [{"name": "f"}]}]},
        {"tools": [{"googleSearch": {}}]},
        {"contents": [HI, {"role": "model", "parts": [{"functionCall": CALL}]}]},
        {"contents": [HI, {"role": "model", "parts": [{"function_call": CALL}]}]},
        {"contents": [HI, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]},
        {"contents": [HI, {"role": "function", "parts": [{"text": "x"}]}]},
        {"contents": [HI, {"role": "model", "parts": [{"executableCode": {"code": "1"}}]}]},
        {"contents": [HI, {"role": "model", "parts": [{"code_execution_result": {"outcome": "OUTCOME_OK"}}]}]},
        {"contents": [HI, {"role": "model", "parts": [{"toolCall": {}}]}]},
        {"contents": [HI, {"role": "user", "parts": [{"tool_response": {}}]}]},
    ],
)
def test_tools_are_refused_and_the_refusal_says_what_to_send(fields):
    with pytest.raises(BadRequest, match=r"cannot run tools.*put what they would return into the prompt.*is coming"):
        parse(**fields)


def test_no_tools_are_none():
    assert parse(tools=[], toolConfig={"functionCallingConfig": {"mode": "AUTO"}}).ignored == ()


def test_what_a_panel_does_not_pass_on_is_named():
    chat = parse(
        generationConfig={"temperature": 0.2, "maxOutputTokens": 5, "thinkingConfig": {"thinkingBudget": 1}},
        safetySettings=[{"category": "x"}],
        labels={"a": "b"},
        store=True,
        model="models/other",
    )
    assert set(chat.ignored) == {"temperature", "maxOutputTokens", "thinkingConfig", "safetySettings", "labels", "store"}


def test_a_models_own_thoughts_are_left_out_and_named():
    thought = {"text": "Hm.", "thought": True}
    signed = {"text": "Yes.", "thoughtSignature": "c2ln"}
    chat = parse(contents=[HI, {"role": "model", "parts": [thought, signed, {"thought_signature": "c2ln"}]}, HI])
    assert chat.messages[1].parts == (TextPart("Yes."),)
    assert chat.ignored == ("thought", "thoughtSignature")
    only = parse(contents=[HI, {"role": "model", "parts": [thought]}, HI])
    assert [message.role for message in only.messages] == ["user", "user"]


def test_a_turn_that_a_chat_kept_in_chunks_is_one_again():
    chunks = [{"role": "model", "parts": [{"text": text}]} for text in ("", "# bench", "/core\n\n", "## member", "")]
    chat = parse(contents=[HI, *chunks, {"role": "model", "parts": []}, HI, HI])
    assert [(message.role, message.text) for message in chat.messages] == [
        ("user", "hi"),
        ("assistant", "# bench/core\n\n## member"),
        ("user", "hi"),
        ("user", "hi"),
    ]


def test_images_between_chunks_keep_their_place():
    data = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    turns = [{"role": "model", "parts": [part]} for part in ({"text": "a"}, {"text": "b"}, data, {"text": "c"})]
    image = ImagePart(f"data:image/png;base64,{PNG}")
    assert parse(contents=[HI, *turns]).messages[1].parts == (TextPart("ab"), image, TextPart("c"))


def test_one_object_is_a_list_of_one_as_in_googles_examples():
    chat = parse(contents={"parts": {"text": "hello"}}, system_instruction={"parts": {"text": "Be a cat."}})
    assert [(message.role, message.text) for message in chat.messages] == [("system", "Be a cat."), ("user", "hello")]


def test_the_name_may_have_its_prefix_and_its_mode():
    assert parse(model="models/bench/core:merged").model == "bench/core:merged"


def test_the_benchs_own_settings_are_read():
    options = parse(**{"with": ["a"], "bench": {"with": ["b"], "reply": "merged", "merger": "c", "field": False}}).bench
    assert (options.nominated, options.reply, options.merger, options.field) == (("a", "b"), "merged", "c", False)


def test_a_count_is_asked_in_both_ways_and_counts_beside_tools():
    wrapped = gemini.parse_request(
        {"generateContentRequest": {"model": "models/x", "contents": [HI], "systemInstruction": {"parts": [{"text": "s"}]}}},
        COUNT,
        model="bench/core",
    )
    assert [message.role for message in wrapped.messages] == ["system", "user"]
    assert parse(COUNT, tools=[{"functionDeclarations": []}]).messages[0].text == "hi"
    assert gemini.render_count(7) == {"totalTokens": 7}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"contents": []}, "contents"),
        ({"contents": None}, "contents"),
        ({"contents": "hi"}, "contents"),
        ({"contents": 5}, "contents"),
        ({"contents": [None]}, "contents[0]"),
        ({"contents": ["hi"]}, "contents[0]"),
        ({"contents": [{"role": "user"}]}, "contents[0].parts"),
        ({"contents": [{"role": "user", "parts": []}]}, "contents[0].parts"),
        ({"contents": [{"role": "user", "parts": "hi"}]}, "contents[0].parts"),
        ({"contents": [{"role": "user", "parts": ["hi"]}]}, "contents[0].parts[0]"),
        ({"contents": [{"role": "system", "parts": [{"text": "x"}]}]}, "contents[0].role"),
        ({"contents": [{"role": 5, "parts": [{"text": "x"}]}]}, "contents[0].role"),
        ({"contents": [{"role": "user", "parts": [{"text": "x", "thought": True}]}]}, "contents[0].parts"),
        ({"contents": [{"role": "model", "parts": [{"text": "x", "thought": True}]}]}, "contents"),
        ({"systemInstruction": "Be brief."}, "systemInstruction"),
        ({"systemInstruction": {"parts": []}}, "systemInstruction.parts"),
        ({"systemInstruction": {"role": "model", "parts": [{"text": "Hm.", "thought": True}]}}, "systemInstruction.parts"),
        ({"generationConfig": []}, "generationConfig"),
        ({"tools": {}}, "tools"),
        ({"cachedContent": "cachedContents/1"}, "cachedContent"),
        ({"bench": {"reply": "banana"}}, "bench.reply"),
        ({"with": "fast"}, "with"),
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(fields, param):
    with pytest.raises(BadRequest) as refusal:
        parse(**fields)
    assert refusal.value.param == param
    assert param.partition("[")[0].partition(".")[0] in refusal.value.message


@pytest.mark.parametrize("payload", [None, [], "x", 5, True])
def test_a_body_that_is_no_object_is_refused(payload):
    with pytest.raises(BadRequest, match="must be an object"):
        gemini.parse_request(payload, GENERATE, model="bench/core")


def test_a_verb_that_no_panel_serves_is_not_found():
    route = next(route for route in gemini.ROUTES if route.path.endswith(":batchEmbedContents"))
    with pytest.raises(NotFound, match="generateContent, streamGenerateContent, countTokens"):
        gemini.parse_request({}, route, model="bench/core")


def test_a_reply_has_its_seats_in_headers():
    rendered = gemini.render_reply(panel_reply(merger=seat_answer("merger", alias="slow")), GENERATE)
    assert rendered.body == {
        "candidates": [
            {"content": {"parts": [{"text": "# bench/core"}], "role": "model"}, "finishReason": "STOP", "index": 0},
        ],
        "usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 3, "totalTokenCount": 5},
        "modelVersion": "bench/core",
        "responseId": "p1",
    }
    assert rendered.headers["X-Bench-Panel"] == "p1"
    assert json.loads(rendered.headers["X-Bench-Seats"]) == [
        {"call": "p1.member1", "seat": "member", "alias": "fast", "status": "ok"},
        {"call": "p1.merger", "seat": "merger", "alias": "slow", "status": "ok"},
    ]
    assert gemini.render_reply(panel_reply(field=False), GENERATE).headers == {}


def test_the_seats_of_a_header_are_ascii_whole_and_not_too_many():
    many = [seat_answer(f"member{number}", alias="žluťoučký-kůň\r\n") for number in range(1, 200)]
    header = gemini.render_reply(panel_reply(*many), GENERATE).headers["X-Bench-Seats"]
    assert header.isascii()
    assert header.isprintable()
    assert len(header) <= 3000
    told = json.loads(header)
    assert [one["call"] for one in told] == [f"p1.member{number}" for number in range(1, len(told) + 1)]
    assert len(told) > 10


def test_every_chunk_of_a_stream_has_a_text_and_the_last_its_ending():
    encoder = gemini.stream_encoder(parse(SSE), SSE)
    sent = [*encoder.start(), *encoder.text("a\u2028é"), *encoder.keepalive(), *encoder.finish(panel_reply())]
    assert all(event.isascii() and event.startswith(b'data: {"') and event.endswith(b"}\n\n") for event in sent)
    assert all(event.count(b"\n") == 2 for event in sent)
    chunks = events(sent)
    assert [text_of(chunk) for chunk in chunks] == ["", "a\u2028é", "", ""]
    assert all(chunk["candidates"][0]["content"]["role"] == "model" for chunk in chunks)
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks] == [None, None, None, "STOP"]
    assert chunks[-1]["usageMetadata"]["totalTokenCount"] == 5
    assert len({(chunk["responseId"], chunk["modelVersion"]) for chunk in chunks}) == 1
    assert encoder.content_type == "text/event-stream"


def test_without_sse_a_stream_is_one_json_list():
    encoder = gemini.stream_encoder(parse(STREAM), STREAM)
    sent = [*encoder.start(), *encoder.text("a\u2028"), *encoder.keepalive(), *encoder.finish(panel_reply())]
    assert encoder.content_type == "application/json"
    assert [text_of(chunk) for chunk in json.loads(b"".join(sent))] == ["", "a\u2028", "", ""]
    assert all(event.isascii() for event in sent)
    # What has come can be read before the rest has.
    assert json.loads(b"".join(sent[:2]) + b"]")


def test_a_failed_stream_ends_in_an_error_that_readers_recognise():
    encoder = gemini.stream_encoder(parse(SSE), SSE)
    encoder.start()
    (event,) = encoder.error(502, "Nobody answered.", bench={"panel": "p1"})
    assert event.startswith(b'data: {"error": {"code": 502,')
    assert events([event]) == [{"error": {"code": 502, "message": "Nobody answered.", "status": "BAD_GATEWAY"}}]
    listed = gemini.stream_encoder(parse(STREAM), STREAM)
    whole = json.loads(b"".join([*listed.start(), *listed.error(502, "Nobody answered.")]))
    assert whole[-1]["error"]["code"] == 502


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (405, "METHOD_NOT_ALLOWED"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (599, "UNKNOWN"),
    ],
)
def test_errors_have_googles_status_names(status, name):
    body = gemini.render_error(status, "Why.", code="x", param="y", bench={"panel": "p1"}, route=SSE)
    assert body == {"error": {"code": status, "message": "Why.", "status": name}, "bench": {"panel": "p1"}}
    assert next(iter(body)) == "error"
    assert gemini.render_error(status, "Why.", route=STREAM) == [{"error": {"code": status, "message": "Why.", "status": name}}]


def test_a_limit_that_nobody_knows_is_left_out():
    plain = {"tags": (), "members": ("fast",), "shape": "", "reply": "all", "merger": "", "explorers": 2, "created": 1}
    known = ListedCollection(id="bench/core", description="d", context_window=300, output_limit=None, capabilities=(), **plain)
    assert gemini.render_models([known]) == {
        "models": [
            {
                "name": "models/bench/core",
                "version": "001",
                "displayName": "bench/core",
                "description": "d",
                "inputTokenLimit": 300,
                "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
            }
        ]
    }
