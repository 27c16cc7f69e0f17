"""Gemini through the front door, with Google's own SDK: a panel answers, in one reply and as a stream, under v1 and v1beta."""

import base64
import json
import time

import pytest
from google import genai
from google.genai import errors, types

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(0xC0, 0x100)) * 4
HI = {"contents": [{"role": "user", "parts": [{"text": "Say anything."}]}]}
SSE = "streamGenerateContent?alt=sse"


@pytest.fixture(scope="module", params=["v1", "v1beta"])
def client(server, request):
    """With a base URL alone the SDK asks under v1; with the API's version, under that."""
    options = types.HttpOptions(base_url=server.base_url, timeout=30_000)
    if request.param != "v1":
        options.api_version = request.param
    client = genai.Client(api_key="local", http_options=options)
    yield client
    client.close()


def post(server, path, body=None, **kw):
    return server.request("POST", path, HI if body is None else body, **kw)


def text_of(chunk) -> str:
    return "".join(part["text"] for part in chunk["candidates"][0]["content"]["parts"])


def events(raw: bytes) -> list:
    parts = raw.decode("ascii").split("\n\n")
    assert parts.pop() == ""
    assert all(part.startswith("data: {") and "\n" not in part for part in parts)
    return [json.loads(part[6:]) for part in parts]


def test_every_member_answers_and_the_headers_name_them(client):
    reply = client.models.generate_content(model="bench/pair", contents="Say anything.")
    headers = reply.sdk_http_response.headers
    seats = json.loads(headers["x-bench-seats"])
    assert [(seat["seat"], seat["alias"], seat["status"]) for seat in seats] == [
        ("member", "fast", "ok"),
        ("member", "steady", "ok"),
    ]
    for seat in seats:
        assert seat["call"].startswith(f"{headers['x-bench-panel']}.member")
        assert seat["call"] in reply.text
    assert "No stale read." in reply.text
    assert reply.candidates[0].finish_reason == types.FinishReason.STOP
    assert reply.usage_metadata.total_token_count > reply.usage_metadata.prompt_token_count > 0
    assert (reply.model_version, reply.response_id) == ("bench/pair", headers["x-bench-panel"])


def test_sections_stream_as_seats_finish(client):
    started = time.monotonic()
    arrivals = {}
    for chunk in client.models.generate_content_stream(model="bench/staggered", contents="Say anything."):
        for alias in ("fast", "steady", "slow"):
            if f"## member · {alias}" in chunk.text:
                arrivals[alias] = time.monotonic() - started
    assert list(arrivals) == ["fast", "steady", "slow"]
    assert arrivals["slow"] - arrivals["steady"] > 0.25
    assert chunk.candidates[0].finish_reason == types.FinishReason.STOP
    assert chunk.usage_metadata.total_token_count > 0


def test_a_chat_sends_its_own_turns_back_whether_it_streamed_or_not(client, upstream):
    chat = client.chats.create(model="bench/echoing")
    streamed = "".join(chunk.text for chunk in chat.send_message_stream("First question."))
    whole = chat.send_message("Second question.").text
    chat.send_message("Third question.")
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "echo")
    assert [(message["role"], message["content"]) for message in sent.body["messages"]] == [
        ("user", "First question."),
        ("assistant", streamed),
        ("user", "Second question."),
        ("assistant", whole),
        ("user", "Third question."),
    ]


def test_system_text_reaches_every_seat_and_settings_are_left_to_it(client, server, upstream):
    config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.3, max_output_tokens=5)
    reply = client.models.generate_content(model="bench/echoing", contents="Why? 🐎", config=config)
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "echo")
    assert sent.body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why? 🐎"}]
    assert "temperature" not in sent.body
    panel = server.request("GET", f"/bench/panels/{reply.response_id}").json
    assert set(panel["ignored"]) == {"temperature", "maxOutputTokens"}


def test_only_models_that_see_are_shown_an_image_and_it_arrives_as_it_was(client, upstream):
    inline = types.Part.from_bytes(data=PNG, mime_type="image/png")
    linked = types.Part.from_uri(file_uri="https://photos.example/chair.jpg?sig=1", mime_type="image/jpeg")
    reply = client.models.generate_content(model="bench/seeing", contents=["What is it?", inline, linked])
    assert [seat["alias"] for seat in json.loads(reply.sdk_http_response.headers["x-bench-seats"])] == ["eyes"]
    sent = next(request for request in reversed(upstream.requests) if request.body["model"] == "say-I-see.")
    images = [part["image_url"]["url"] for part in sent.body["messages"][0]["content"] if part["type"] == "image_url"]
    assert images == [
        "data:image/png;base64," + base64.standard_b64encode(PNG).decode(),
        "https://photos.example/chair.jpg?sig=1",
    ]


def test_tokens_are_counted_without_asking_a_model(client, server, upstream):
    before = upstream.stats
    assert client.models.count_tokens(model="bench/pair", contents="a" * 400).total_tokens == 110
    wrapped = {
        "generateContentRequest": {"model": "models/bench/pair", "system_instruction": {"parts": {"text": "b" * 400}}} | HI
    }
    assert post(server, "/v1beta/models/bench/pair:countTokens", wrapped).json["totalTokens"] == 114
    assert post(server, "/v1beta/models/bench/none:countTokens").status == 404
    assert upstream.stats == before


def test_every_collection_is_listed_in_both_modes_and_shown(client):
    listed = {model.name: model for model in client.models.list()}
    assert {"models/bench/pair", "models/bench/pair:merged", "models/bench/tight"} <= listed.keys()
    tight = listed["models/bench/tight"]
    assert (tight.display_name, tight.description, tight.input_token_limit) == ("bench/tight", "For tight", 300)
    assert "generateContent" in tight.supported_actions
    for name in ("bench/pair:merged", "models/bench/pair:merged"):
        assert client.models.get(model=name).name == "models/bench/pair:merged"
    with pytest.raises(errors.ClientError) as refusal:
        client.models.get(model="bench/none")
    assert (refusal.value.code, refusal.value.status) == (404, "NOT_FOUND")


def test_lists_under_v1_are_googles_for_google_and_openais_for_the_rest(server):
    for header in ({"x-goog-api-key": "local"}, {"x-goog-api-client": "google-genai-sdk/3.6.1"}):
        assert "models" in server.request("GET", "/v1/models", headers=header).json
        assert server.request("GET", "/v1/models/bench/pair", headers=header).json["name"] == "models/bench/pair"
    assert server.request("GET", "/v1/models").json["object"] == "list"
    assert server.request("GET", "/v1beta/models/bench%2Fpair%3Amerged").json["name"] == "models/bench/pair:merged"


@pytest.mark.parametrize("version", ["v1", "v1beta"])
@pytest.mark.parametrize("name", ["bench/pair", "bench%2Fpair", "pair", "bench/pair:latest", "models/bench/pair"])
def test_the_verb_is_after_the_last_colon_in_every_spelling(server, version, name):
    for colon in (":", "%3A"):
        reply = post(server, f"/{version}/models/{name}{colon}generateContent")
        assert reply.status == 200
        assert text_of(reply.json).startswith("# bench/pair")


def test_a_merged_collection_has_a_colon_of_its_own(client):
    reply = client.models.generate_content(model="bench/pair:merged", contents="Say anything.")
    seats = json.loads(reply.sdk_http_response.headers["x-bench-seats"])
    assert [seat["seat"] for seat in seats] == ["member", "member", "merger"]
    assert "Merged by" in reply.text
    streamed = list(client.models.generate_content_stream(model="bench/pair:merged", contents="Say anything."))
    assert "Merged by" in "".join(chunk.text for chunk in streamed)


def test_a_stream_is_events_when_asked_and_else_one_json_list(server):
    sse = post(server, f"/v1beta/models/bench/pair:{SSE}")
    assert sse.headers["content-type"] == "text/event-stream"
    assert sse.headers["cache-control"] == "no-cache, no-transform"
    assert not any(name.startswith("x-bench") for name in sse.headers)
    told = "".join(map(text_of, events(sse.body)))
    for query in ("", "?alt=json", "?key=x", "?alt="):
        listed = post(server, f"/v1beta/models/bench/pair:streamGenerateContent{query}")
        assert listed.headers["content-type"] == "application/json"
        assert len("".join(map(text_of, listed.json))) == len(told)
        assert listed.json[-1]["candidates"][0]["finishReason"] == "STOP"
    assert all("bench" not in chunk for chunk in events(sse.body))


def test_the_benchs_own_settings_work_and_can_keep_the_headers_away(server):
    merged = post(server, "/v1/models/bench/pair:generateContent", HI | {"bench": {"reply": "merged"}})
    assert "Merged by" in text_of(merged.json)
    silent = post(server, "/v1/models/bench/pair:generateContent", HI | {"bench": {"field": False}})
    assert not any(name.startswith("x-bench") for name in silent.headers)
    near = post(server, "/v1/models/bench/pair:generateContent", HI | {"with": ["stedy"]})
    assert near.status == 400
    assert "steady" in near.json["error"]["message"]


REFUSALS = [
    (HI | {"tools": [{"googleSearch": {}}]}, "bench/pair", 400, "INVALID_ARGUMENT", "cannot run tools"),
    (HI | {"cachedContent": "cachedContents/1"}, "bench/pair", 400, "INVALID_ARGUMENT", "cachedContent"),
    ({"contents": []}, "bench/pair", 400, "INVALID_ARGUMENT", "contents"),
    ([], "bench/pair", 400, "INVALID_ARGUMENT", "must be an object"),
    (HI, "bench/none", 404, "NOT_FOUND", "bench/pair: For pair [test]"),
    (HI, "gemini-2.5-flash", 404, "NOT_FOUND", "bench/tight"),
    ({"contents": [{"parts": [{"text": "a" * 4000}]}]}, "bench/tight", 413, "REQUEST_ENTITY_TOO_LARGE", "small takes 300"),
]


@pytest.mark.parametrize(("body", "model", "status", "name", "words"), REFUSALS)
def test_a_refusal_looks_the_same_streamed_and_not(server, body, model, status, name, words):
    plain, streamed, listed = (
        post(server, f"/v1beta/models/{model}:{verb}", body) for verb in ("generateContent", SSE, "streamGenerateContent")
    )
    error = plain.json["error"]
    assert (plain.status, error["code"], error["status"]) == (status, status, name)
    assert words in error["message"]
    assert (streamed.status, streamed.json) == (status, plain.json)
    # As Google's own API does where a stream is a list.
    assert (listed.status, listed.json) == (status, [plain.json])
    assert {reply.headers["content-type"] for reply in (plain, streamed, listed)} == {"application/json"}


def test_a_refusal_is_the_sdks_own_error(client):
    for ask in (client.models.generate_content, lambda **kw: list(client.models.generate_content_stream(**kw))):
        with pytest.raises(errors.ClientError) as refusal:
            ask(model="bench/none", contents="hi")
        assert (refusal.value.code, refusal.value.status) == (404, "NOT_FOUND")
        assert "bench/pair: For pair [test]" in refusal.value.message
        pdf = types.Part.from_bytes(data=b"%PDF-1.4", mime_type="application/pdf")
        with pytest.raises(errors.ClientError, match="application/pdf cannot go to a panel"):
            ask(model="bench/pair", contents=["Read this.", pdf])


def test_nobody_answering_is_a_502_and_in_a_stream_an_error_at_its_end(server, client):
    reply = post(server, "/v1/models/bench/failing:generateContent")
    assert (reply.status, reply.headers["x-should-retry"]) == (502, "false")
    assert reply.json["bench"]["seats"][0]["status"] == "error"
    with pytest.raises(errors.ServerError, match="No seat of panel"):
        client.models.generate_content(model="bench/failing", contents="hi")
    with pytest.raises(errors.ServerError, match="No seat of panel") as failed:
        list(client.models.generate_content_stream(model="bench/failing", contents="hi"))
    assert failed.value.code == 502
    listed = post(server, "/v1/models/bench/failing:streamGenerateContent").json
    assert "## member · broken" in "".join(map(text_of, listed[:-1]))
    assert listed[-1]["error"]["code"] == 502


def test_everyone_rate_limited_is_a_429_with_the_smallest_wait(server):
    limits = post(server, "/v1/models/bench/limits-gemini:generateContent")
    assert (limits.status, limits.headers["retry-after"], limits.json["error"]["status"]) == (429, "9", "RESOURCE_EXHAUSTED")


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_what_never_reaches_a_panel_is_refused_in_googles_words(server, version):
    path = f"/{version}/models/bench/pair"
    embedding = post(server, f"{path}:batchEmbedContents")
    assert (embedding.status, embedding.json["error"]["status"]) == (404, "NOT_FOUND")
    assert "generateContent, streamGenerateContent, countTokens" in embedding.json["error"]["message"]
    wrong_method = server.request("GET", f"{path}:generateContent")
    assert (wrong_method.status, wrong_method.headers["allow"]) == (405, "POST")
    assert wrong_method.json["error"]["code"] == 405
    for raw, headers, status in (
        (b"{", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Host": "evil.example"}, 403),
        (b"x" * 20_000_001, {}, 413),
    ):
        for verb, opened in ((":generateContent", dict), (":streamGenerateContent", list)):
            reply = server.request("POST", path + verb, raw=raw, headers=headers)
            assert reply.status == status
            if status == 403:
                assert reply.json["error"]["status"] == "PERMISSION_DENIED"
                continue
            assert isinstance(reply.json, opened)
            error = reply.json if opened is dict else reply.json[0]
            assert error["error"]["code"] == status


def test_an_unknown_path_is_googles_too(server):
    for path in ("/v1beta/files", "/v1beta/models/bench/pair:banana/x", "/v1beta/", "/v1beta/cachedContents"):
        reply = server.request("POST", path, HI)
        assert reply.status in (404, 405)
        assert reply.json["error"]["code"] == reply.status


def test_no_wrong_type_in_any_field_is_more_than_a_refusal(server):
    wrong = [5, 0.5, True, "x", [], {}, [None], [{}], {"a": 1}, [[]]]
    for value in wrong:
        for field in ("contents", "systemInstruction", "generationConfig", "tools", "bench", "with", "cachedContent"):
            reply = post(server, "/v1beta/models/bench/none:generateContent", HI | {field: value})
            assert reply.status in (400, 404), (field, value, reply.body[:200])
        for part in ({"text": value}, {"inlineData": value}, {"fileData": value}, {"thought": value, "text": "x"}, value):
            body = {"contents": [{"role": "user", "parts": [part]}]}
            reply = post(server, "/v1beta/models/bench/none:generateContent", body)
            assert reply.status in (400, 404), (part, reply.body[:200])
    assert "Traceback" not in server.log
