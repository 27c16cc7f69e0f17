"""Gemini as an upstream, through a real socket: what is sent where, and what its replies, streams and errors mean."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.upstream import complete
from gateway.upstream.contract import Completion, Delta, Target, UpstreamError
from gateway.upstream.gemini import build_request, parse_reply, parse_stream
from gateway.upstream.sse import lines

KEY = "AIzaSyA-0123456789abcdefghijklmnopqrstu"
QUESTION = (Message("system", (TextPart("Be brief."),)), Message("user", (TextPart("What is the answer?"),)))
USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 5, "thoughtsTokenCount": 20, "totalTokenCount": 32}
OVERLOADED = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
EXHAUSTED = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota. Please retry in 38.2s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"}],
    }
}


def chunk(*parts: dict[str, Any], finish: str = "", **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-x", **fields}


ANSWER = [
    chunk({"text": "Six times ", "thought": True}),
    chunk({"text": "seven.", "thought": True}, usageMetadata={"promptTokenCount": 7, "thoughtsTokenCount": 9}),
    chunk({"text": "The answer "}),
    chunk({"text": "is 42.", "thoughtSignature": "c2ln"}, finish="STOP", usageMetadata=USAGE),
]


def sse(*chunks: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in chunks)


class Server(ThreadingHTTPServer):
    """Says `body` to everything, and keeps what it was asked."""

    daemon_threads = True
    status = 200
    body = b""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], Any]] = []

    def say(self, body: Any, status: int = 200) -> None:
        self.body, self.status = body if isinstance(body, bytes) else json.dumps(body).encode(), status


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def google() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.shutdown()


def ask(google: Server, *, model: str = "gemini-x", base: str = "/v1beta", **settings: Any) -> Completion:
    limits = {"connect_timeout": 2, "first_token_timeout": 10, "seat_timeout": 20}
    base_url = f"http://127.0.0.1:{google.server_address[1]}{base}"
    return complete(Target(protocol="gemini", base_url=base_url, model=model, **limits, **settings), QUESTION)


def streamed(*chunks: Any) -> list[Delta]:
    return list(parse_stream(lines([sse(*chunks)])))


def test_a_streamed_answer_comes_back_whole_with_its_thoughts_apart(google: Server) -> None:
    google.say(sse(*ANSWER))
    completion = ask(google)
    assert completion == Completion(
        text="The answer is 42.",
        reasoning="Six times seven.",
        finish_reason="STOP",
        model="gemini-x",
        input_tokens=7,
        output_tokens=25,
        first_token_seconds=completion.first_token_seconds,
        upstream_status=200,
    )
    assert completion.first_token_seconds is not None


def test_what_relays_add_to_a_stream_is_passed_over(google: Server) -> None:
    said = b": waking up\n\ndata:\n\n" + sse(*ANSWER[:2]) + b"event: ping\ndata: {}\n\n" + sse(*ANSWER[2:3])
    google.say(said + b"data: [DONE]\n\n" + sse(ANSWER[3]))
    assert ask(google).text == "The answer is 42."


def test_the_request_is_what_google_documents(google: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    google.say(sse(*ANSWER))
    ask(google, api_key_env="FAKE_KEY", options={"temperature": 0.2})
    path, headers, body = google.asked[-1]
    assert path == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert headers["x-goog-api-key"] == KEY
    assert "authorization" not in headers
    assert body == {
        "generationConfig": {"temperature": 0.2},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "What is the answer?"}]}],
    }


@pytest.mark.parametrize(
    ("base", "model", "path"),
    [
        ("/v1beta/", "gemini-x", "/v1beta/models/gemini-x"),
        ("/v1beta/models", "models/gemini-x", "/v1beta/models/gemini-x"),
        ("/v1beta", "a b:c/../../admin?key=1#x", "/v1beta/models/a%20b%3Ac%2F..%2F..%2Fadmin%3Fkey%3D1%23x"),
        ("/v1beta", "..", "/v1beta/models/.."),
        ("/v1beta", "žluť{model}", "/v1beta/models/%C5%BElu%C5%A5%7Bmodel%7D"),
    ],
)
def test_an_id_is_one_step_of_the_path_whatever_it_holds(google: Server, base: str, model: str, path: str) -> None:
    google.say(sse(*ANSWER))
    ask(google, base=base, model=model)
    assert google.asked[-1][0] == f"{path}:streamGenerateContent?alt=sse"


def test_a_conversation_with_images_is_told_in_googles_parts() -> None:
    said = build_request(
        "m",
        [
            Message("user", (TextPart("look"), ImagePart("data:image/png;base64,iVBORw0KGgo="))),
            Message("assistant", (TextPart("Seen."),)),
            Message("user", (ImagePart("https://photos.example/a.webp?sig=1"), ImagePart("http://photos.example/b"))),
        ],
        {},
    )
    assert said == {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}],
            },
            {"role": "model", "parts": [{"text": "Seen."}]},
            {
                "role": "user",
                "parts": [
                    {"fileData": {"fileUri": "https://photos.example/a.webp?sig=1", "mimeType": "image/webp"}},
                    {"fileData": {"fileUri": "http://photos.example/b"}},
                ],
            },
        ]
    }


def test_options_go_where_google_reads_them_and_none_asks_something_else() -> None:
    options = {
        "max_tokens": 5,
        "stop": ["x"],
        "thinkingConfig": {"thinkingBudget": 0},
        "generationConfig": {"topP": 0.5, "topK": None},
        "safetySettings": [],
        "contents": [],
        "systemInstruction": {},
        "cachedContent": "c",
        "seed": None,
    }
    said = build_request("m", QUESTION, options)
    assert said["generationConfig"] == {
        "maxOutputTokens": 5,
        "stopSequences": ["x"],
        "thinkingConfig": {"thinkingBudget": 0},
        "topP": 0.5,
    }
    assert said.keys() == {"generationConfig", "safetySettings", "systemInstruction", "contents"}
    assert said["contents"][0]["parts"] == [{"text": "What is the answer?"}]


def test_system_text_alone_becomes_the_question() -> None:
    said = build_request("m", QUESTION[:1], {})
    assert said == {"contents": [{"role": "user", "parts": [{"text": "Be brief."}]}]}


@pytest.mark.parametrize("body", [ANSWER, chunk({"text": "The answer is 42."}, finish="STOP", usageMetadata=USAGE)])
def test_json_in_place_of_a_stream_is_read_too(google: Server, body: Any) -> None:
    google.say(body)
    completion = ask(google)
    assert (completion.text, completion.finish_reason, completion.output_tokens) == ("The answer is 42.", "STOP", 25)


BLOCKED = {"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 7}, "modelVersion": "gemini-x"}


@pytest.mark.parametrize(
    ("chunks", "reason", "why"),
    [
        ([BLOCKED], "OTHER", "the prompt was blocked (OTHER)"),
        ([{"candidates": [{"finishReason": "SAFETY", "index": 0}]}], "SAFETY", "the provider's filter stopped it"),
        ([chunk(finish="RECITATION")], "RECITATION", "the provider's filter stopped it"),
        ([chunk(finish="IMAGE_SAFETY")], "IMAGE_SAFETY", "the provider's filter stopped it"),
        ([{"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}], "MAX_TOKENS", "output limit"),
        ([*ANSWER[:2], chunk(finish="MAX_TOKENS")], "MAX_TOKENS", "spent its whole budget thinking"),
        ([chunk({"functionCall": {"name": "f"}}, finish="STOP")], "STOP", "called a tool"),
        ([chunk(finish="UNEXPECTED_TOOL_CALL")], "UNEXPECTED_TOOL_CALL", "called a tool"),
        ([chunk({"text": " \n"}, finish="STOP")], "STOP", "only white space"),
        ([chunk(finish="STOP")], "STOP", "nothing came"),
    ],
)
def test_an_empty_answer_says_why(google: Server, chunks: list[Any], reason: str, why: str) -> None:
    for body in (sse(*chunks), chunks, chunks[-1] if len(chunks) == 1 else chunks):
        google.say(body)
        completion = ask(google)
        assert (completion.text, completion.finish_reason) == ("", reason)
        assert why in completion.empty_why


PRINTED = json.dumps(OVERLOADED, indent=2).encode()


@pytest.mark.parametrize(
    "error",
    [sse(OVERLOADED), sse([OVERLOADED]), PRINTED, b"[" + PRINTED + b"\n]\n", b"event: error\r\n" + sse(OVERLOADED["error"])],
    ids=["event", "list", "printed", "printed list", "named"],
)
def test_an_error_in_mid_stream_keeps_what_had_come(google: Server, error: bytes) -> None:
    google.say(sse(*ANSWER[:3]) + error)
    with pytest.raises(UpstreamError, match="The model is overloaded") as failed:
        ask(google)
    assert failed.value.kind == "overloaded"
    assert (failed.value.partial, failed.value.reasoning) == ("The answer ", "Six times seven.")


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("body", [EXHAUSTED, [EXHAUSTED]])
def test_an_error_alone_is_read_in_a_list_and_out_of_one(google: Server, status: int, body: Any) -> None:
    google.say(body, status)
    with pytest.raises(UpstreamError, match="exceeded your current quota") as failed:
        ask(google)
    assert (failed.value.kind, failed.value.retry_after) == ("rate_limited", 38.0)


@pytest.mark.parametrize(
    ("status", "name", "message", "kind"),
    [
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "unauthorized"),
        (404, "NOT_FOUND", "models/m is not found for API version v1beta", "maybe_gone"),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "overloaded"),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9000) exceeds the maximum number of tokens allowed (4096).",
            "context_too_long",
        ),
    ],
)
def test_googles_refusals_are_told_apart(google: Server, status: int, name: str, message: str, kind: str) -> None:
    google.say({"error": {"code": status, "message": message, "status": name}}, status)
    with pytest.raises(UpstreamError) as failed:
        ask(google)
    assert failed.value.kind == kind
    assert failed.value.window == (4096 if kind == "context_too_long" else None)


@pytest.mark.parametrize(
    "body",
    [
        sse(*ANSWER[:3]),
        sse(*ANSWER[:3]) + b'data: {"candidates": [oops\n\n',
        sse(*ANSWER[:3]) + b'{"error": {"message": "cut',
        sse(*ANSWER[:3]) + b"{\n" * 40_000,
        b"[" + json.dumps(ANSWER[0]).encode(),
        json.dumps(ANSWER[:3]).encode(),
        b"{}",
        b"[]",
        b"[5]",
        b'{"choices": [{"message": {"content": "hi"}}]}',
    ],
)
def test_what_is_cut_off_or_no_answer_is_an_error(google: Server, body: bytes) -> None:
    google.say(body)
    with pytest.raises(UpstreamError) as failed:
        ask(google)
    assert failed.value.kind == "bad_reply"


def test_a_key_is_never_shown(google: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", KEY)
    google.say(
        {"error": {"code": 400, "message": f"Bad key {KEY} in x-goog-api-key: {KEY}", "status": "INVALID_ARGUMENT"}}, 400
    )
    with pytest.raises(UpstreamError) as failed:
        ask(google, api_key_env="FAKE_KEY")
    assert KEY not in failed.value.message


WRONG = [None, 5, "x", [], {}, [None], [{}], {"a": 1}, [[]]]


@pytest.mark.parametrize("value", WRONG)
def test_no_wrong_type_is_more_than_an_empty_answer_or_an_error(value: Any) -> None:
    for body in (
        value,
        {"candidates": value},
        {"candidates": [{"content": value, "finishReason": "STOP"}]},
        {"candidates": [{"content": {"parts": value}, "finishReason": value}]},
        {"candidates": [{"content": {"parts": [{"text": value}]}, "finishReason": "STOP"}]},
        {"candidates": [{}], "usageMetadata": value, "promptFeedback": value, "modelVersion": value},
        {"candidates": [{}], "usageMetadata": {"promptTokenCount": value}, "promptFeedback": {"blockReason": value}},
    ):
        for read in (parse_reply, streamed):
            try:
                read(body)
            except UpstreamError:
                continue
