"""The Anthropic SDK for Python, previous generation."""

import anthropic
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

client = anthropic.Anthropic(base_url=BASE_URL, api_key="local", max_retries=0, timeout=30)
HI = {"max_tokens": 1024, "messages": [{"role": "user", "content": PROMPT}]}
TOOL = {"name": "look", "input_schema": {"type": "object", "properties": {}}}


def chat() -> None:
    reply = client.messages.create(model=PAIR, system="Be brief.", **HI)
    holds_answers(reply.content[0].text)
    assert reply.stop_reason == "end_turn"
    assert reply.model_extra["bench"]["answered"] == 2


def stream() -> None:
    events = list(client.messages.create(model=PAIR, stream=True, **HI))
    ending = next(event for event in events if event.type == "message_delta")
    assert ending.model_extra["bench"]["answered"] == 2
    assert events[-1].type == "message_stop"


def stream_helper() -> None:
    with client.messages.stream(model=PAIR, **HI) as events:
        text = read_as_it_comes(events.text_stream)
        final = events.get_final_message()
    assert final.content[0].text == text
    assert final.usage.output_tokens > 1


def image() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    parts = [{"type": "image", "source": source}, {"type": "text", "text": PROMPT}]
    reply = client.messages.create(model=SEEING, max_tokens=1024, messages=[{"role": "user", "content": parts}])
    assert SIGHT in reply.content[0].text


def refusal() -> None:
    ask = client.messages.create
    refused(lambda: ask(model=PAIR, tools=[TOOL], **HI), anthropic.BadRequestError, 400, "cannot run tools")
    refused(lambda: list(ask(model=PAIR, tools=[TOOL], stream=True, **HI)), anthropic.BadRequestError, 400, "cannot run tools")


def unknown_model() -> None:
    refused(lambda: client.messages.create(model=UNKNOWN, **HI), anthropic.NotFoundError, 404, PAIR)


def listing() -> None:
    listed = {model.id: model for model in client.models.list()}
    assert {PAIR, f"{PAIR}:merged"} <= listed.keys()
    assert listed[PAIR].type == "model"
    assert client.models.retrieve(PAIR).display_name


def count() -> None:
    assert client.messages.count_tokens(model=PAIR, messages=HI["messages"]).input_tokens > 0


if __name__ == "__main__":
    run("anthropic", chat, stream, stream_helper, image, refusal, unknown_model, listing, count)
