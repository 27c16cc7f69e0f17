"""The OpenAI SDK for Python, previous generation: chat completions, Responses and legacy completions."""

import openai
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

client = openai.OpenAI(base_url=f"{BASE_URL}/v1", api_key="local", max_retries=0, timeout=30)
HI = [{"role": "user", "content": PROMPT}]
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
URL = f"data:image/png;base64,{IMAGE}"


def chat() -> None:
    reply = client.chat.completions.create(model=PAIR, messages=HI)
    holds_answers(reply.choices[0].message.content)
    assert reply.choices[0].finish_reason == "stop"
    assert reply.model_extra["bench"]["answered"] == 2
    assert reply.usage.total_tokens > 0


def stream() -> None:
    chunks = client.chat.completions.create(model=PAIR, messages=HI, stream=True, stream_options={"include_usage": True})
    seen = []
    read_as_it_comes(seen.append(chunk) or (chunk.choices[0].delta.content if chunk.choices else "") for chunk in chunks)
    assert [chunk.model_extra["bench"]["answered"] for chunk in seen if "bench" in chunk.model_extra] == [2]
    assert seen[-1].usage.total_tokens > 0


def stream_helper() -> None:
    with client.chat.completions.stream(model=PAIR, messages=HI) as events:
        text = read_as_it_comes(event.delta for event in events if event.type == "content.delta")
        final = events.get_final_completion()
    assert final.choices[0].message.content == text
    assert final.choices[0].message.role == "assistant"


def image() -> None:
    parts = [{"type": "text", "text": PROMPT}, {"type": "image_url", "image_url": {"url": URL}}]
    reply = client.chat.completions.create(model=SEEING, messages=[{"role": "user", "content": parts}])
    assert SIGHT in reply.choices[0].message.content
    assert [seat["alias"] for seat in reply.model_extra["bench"]["skipped"]] == ["fast"]


def refusal() -> None:
    ask = client.chat.completions.create
    refused(lambda: ask(model=PAIR, messages=HI, tools=[TOOL]), openai.BadRequestError, 400, "cannot run tools")
    refused(
        lambda: list(ask(model=PAIR, messages=HI, tools=[TOOL], stream=True)), openai.BadRequestError, 400, "cannot run tools"
    )


def unknown_model() -> None:
    refused(lambda: client.chat.completions.create(model=UNKNOWN, messages=HI), openai.NotFoundError, 404, PAIR)
    refused(lambda: client.models.retrieve(UNKNOWN), openai.NotFoundError, 404, PAIR)


def listing() -> None:
    assert {PAIR, f"{PAIR}:merged"} <= {model.id for model in client.models.list()}
    assert client.models.retrieve(PAIR).id == PAIR


def responses() -> None:
    reply = client.responses.create(model=PAIR, input=PROMPT, instructions="Be brief.")
    holds_answers(reply.output_text)
    assert reply.status == "completed"
    assert reply.model_extra["bench"]["answered"] == 2


def responses_stream() -> None:
    with client.responses.stream(model=PAIR, input=PROMPT) as events:
        text = read_as_it_comes(event.delta for event in events if event.type == "response.output_text.delta")
        assert events.get_final_response().output_text == text


def responses_image() -> None:
    parts = [{"type": "input_text", "text": PROMPT}, {"type": "input_image", "image_url": URL}]
    assert SIGHT in client.responses.create(model=SEEING, input=[{"role": "user", "content": parts}]).output_text


def responses_refusal() -> None:
    tools = [{"type": "function", **TOOL["function"]}]
    ask = client.responses.create
    refused(lambda: ask(model=PAIR, input=PROMPT, tools=tools), openai.BadRequestError, 400, "cannot run tools")
    refused(lambda: ask(model=UNKNOWN, input=PROMPT), openai.NotFoundError, 404, PAIR)


def completions() -> None:
    holds_answers(client.completions.create(model=PAIR, prompt=PROMPT).choices[0].text)
    chunks = client.completions.create(model=PAIR, prompt=PROMPT, stream=True)
    read_as_it_comes(chunk.choices[0].text for chunk in chunks)


if __name__ == "__main__":
    run(
        "openai",
        *(chat, stream, stream_helper, image, refusal, unknown_model, listing),
        *(responses, responses_stream, responses_image, responses_refusal, completions),
    )
