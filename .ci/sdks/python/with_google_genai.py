"""Google's Gen AI SDK for Python, previous generation: it speaks v1beta."""

import base64
import json

from checks import (
    BASE_URL,
    IMAGE,
    PAIR,
    PROMPT,
    SEEING,
    SIGHT,
    UNKNOWN,
    holds_answers,
    read_as_it_comes,
    refused,
    run,
)
from google import genai
from google.genai import errors, types

client = genai.Client(api_key="local", http_options=types.HttpOptions(base_url=BASE_URL, timeout=30_000))
TOOLS = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name="look")])])


def chat() -> None:
    config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.1)
    reply = client.models.generate_content(model=PAIR, contents=PROMPT, config=config)
    holds_answers(reply.text)
    assert reply.candidates[0].finish_reason == types.FinishReason.STOP
    headers = {name.lower(): value for name, value in reply.sdk_http_response.headers.items()}
    assert len(json.loads(headers["x-bench-seats"])) == 2


def stream() -> None:
    read_as_it_comes(chunk.text for chunk in client.models.generate_content_stream(model=PAIR, contents=PROMPT))


def conversation() -> None:
    talk = client.chats.create(model=PAIR)
    holds_answers(talk.send_message(PROMPT).text)
    holds_answers(talk.send_message(PROMPT).text)


def image() -> None:
    picture = types.Part.from_bytes(data=base64.b64decode(IMAGE), mime_type="image/png")
    assert SIGHT in client.models.generate_content(model=SEEING, contents=[picture, PROMPT]).text


def refusal() -> None:
    ask = client.models.generate_content
    refused(lambda: ask(model=PAIR, contents=PROMPT, config=TOOLS), errors.ClientError, 400, "cannot run tools")
    flow = client.models.generate_content_stream
    refused(lambda: list(flow(model=PAIR, contents=PROMPT, config=TOOLS)), errors.ClientError, 400, "cannot run tools")


def unknown_model() -> None:
    refused(lambda: client.models.generate_content(model=UNKNOWN, contents=PROMPT), errors.ClientError, 404, PAIR)


def listing() -> None:
    assert {f"models/{PAIR}", f"models/{PAIR}:merged"} <= {model.name for model in client.models.list()}
    assert client.models.get(model=PAIR).name == f"models/{PAIR}"


def count() -> None:
    assert client.models.count_tokens(model=PAIR, contents=PROMPT).total_tokens > 0


if __name__ == "__main__":
    run("google-genai", chat, stream, conversation, image, refusal, unknown_model, listing, count)
