"""Ollama's library for Python, previous generation."""

import ollama
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

client = ollama.Client(host=BASE_URL, timeout=30)
HI = [{"role": "user", "content": PROMPT}]
TOOL = {"type": "function", "function": {"name": "look", "description": "", "parameters": {"type": "object", "properties": {}}}}


def chat() -> None:
    reply = client.chat(model=PAIR, messages=HI)
    holds_answers(reply.message.content)
    assert reply.done
    assert reply.done_reason == "stop"
    assert reply.eval_count > 0


def stream() -> None:
    last = {}
    read_as_it_comes(last.update(chunk=chunk) or chunk.message.content for chunk in client.chat(PAIR, HI, stream=True))
    assert last["chunk"].done


def generate() -> None:
    holds_answers(client.generate(model=PAIR, prompt=PROMPT, system="Be brief.").response)
    read_as_it_comes(chunk.response for chunk in client.generate(model=PAIR, prompt=PROMPT, stream=True))


def latest() -> None:
    holds_answers(client.chat(model=f"{PAIR}:latest", messages=HI).message.content)


def image() -> None:
    reply = client.chat(model=SEEING, messages=[{"role": "user", "content": PROMPT, "images": [IMAGE]}])
    assert SIGHT in reply.message.content


def refusal() -> None:
    refused(lambda: client.chat(PAIR, HI, tools=[TOOL]), ollama.ResponseError, 400, "cannot run tools")
    refused(lambda: list(client.chat(PAIR, HI, tools=[TOOL], stream=True)), ollama.ResponseError, 400, "cannot run tools")


def unknown_model() -> None:
    refused(lambda: client.chat(UNKNOWN, HI), ollama.ResponseError, 404, UNKNOWN)
    refused(lambda: client.show(UNKNOWN), ollama.ResponseError, 404, UNKNOWN)


def listing() -> None:
    assert {PAIR, f"{PAIR}:merged"} <= {model.model for model in client.list().models}
    assert client.show(PAIR).modelinfo is not None


if __name__ == "__main__":
    run("ollama", chat, stream, generate, latest, image, refusal, unknown_model, listing)
