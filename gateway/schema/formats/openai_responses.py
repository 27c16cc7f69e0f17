"""OpenAI Responses, none of which is stored."""

from collections.abc import Mapping
from typing import Any

from gateway.schema.bench import ABOUT_PANEL, MODEL, NO_TOOLS
from gateway.schema.contract import JSON, SSE, Operation, events, json_text
from gateway.schema.formats.openai_shape import ERROR, ROLES
from gateway.schema.refusals import BY_TASK, IDEMPOTENCY_KEY
from gateway.schema.shapes import (
    ANYTHING,
    IMAGE_URL,
    Schema,
    always,
    either,
    flag,
    ignored,
    listed,
    nothing,
    null,
    one_of,
    or_null,
    perhaps,
    record,
    ref,
    text,
    told,
    whole,
)
from gateway.wire.contract import Route

NAME = "openai_responses"
TAG: Schema = {"name": "OpenAI Responses", "description": "Nothing is stored. Base URL: the server's, with `/v1`."}

_STORED = "Nothing is stored that it could name: send the text itself."
_SETTINGS = ("max_output_tokens", "temperature", "top_p", "reasoning", "text", "metadata", "store", "include", "truncation")
_SAID: Schema = {"not": {"required": ["type"], "properties": {"type": {"const": "reasoning"}}}}


def _input(**more: Schema) -> dict[str, Schema]:
    """The fields of a request, in which one item at least says something."""
    items = {**listed(ref("OpenAIInputItem"), least=1), "contains": _SAID}
    return {
        "model": MODEL,
        "input": either(text(), items, about="Text, or messages and the output items of earlier responses."),
        "instructions": or_null(text("What stands before the conversation.")),
        "stream": or_null(flag("Typed events as seats finish.")),
        "background": one_of(False, None, about="`true` is refused with 400: nothing is stored to be fetched later."),
        "previous_response_id": null(_STORED),
        "conversation": null(_STORED),
        "prompt": null(_STORED),
        "tool_choice": ANYTHING,
        **ABOUT_PANEL,
        **more,
        **ignored(*_SETTINGS),
    }


SCHEMAS: Mapping[str, Schema] = {
    "OpenAIResponsesRequest": record(("model", "input"), **_input(tools=nothing(NO_TOOLS), functions=nothing(NO_TOOLS))),
    "OpenAIResponsesCount": record(
        ("model", "input"), "A request to be measured. Tools do a count no harm.", **_input(tools=ANYTHING, functions=ANYTHING)
    ),
    "OpenAIInputItem": either(
        record(
            ("role", "content"),
            type=one_of("message", "", None),
            role=one_of(*ROLES),
            content=either(text(), listed(ref("OpenAIInputPart"), least=1)),
        ),
        record(("type",), "A model's own earlier reasoning, which is ignored.", type=one_of("reasoning")),
    ),
    "OpenAIInputPart": either(
        record(("type", "text"), type=one_of("input_text", "output_text", "text"), text=text()),
        record(("type", "refusal"), type=one_of("refusal"), refusal=text()),
        record(
            ("type", "image_url"),
            "An image. Goes only to models that see; another kind of part is refused.",
            type=one_of("input_image"),
            image_url=IMAGE_URL,
            file_id=null("No file is stored: send the image as image_url."),
        ),
    ),
    "OpenAIResponse": told(
        "A response as the API has it. Settings that no seat got have the API's defaults, or null.",
        id=text(),
        object=always("response"),
        created_at=whole("Unix time."),
        status=always("completed"),
        model=text("As it was asked for."),
        output=listed(ref("OpenAIOutputMessage"), least=1, most=1),
        usage=ref("OpenAIResponsesUsage"),
        store=always(False),
        error={"type": "null"},
        bench=perhaps(ref("BenchReply")),
    ),
    "OpenAIOutputMessage": told(
        id=text(),
        type=always("message"),
        status=always("completed"),
        role=always("assistant"),
        content=listed(
            told(type=always("output_text"), text=text(), annotations=listed(ANYTHING), logprobs=listed(ANYTHING)), most=1
        ),
    ),
    "OpenAIResponsesUsage": told(
        "The size estimate: no tokenizer's count.",
        input_tokens=whole(),
        output_tokens=whole(),
        total_tokens=whole(),
        input_tokens_details=record(),
        output_tokens_details=record(),
    ),
    "OpenAIInputTokens": told(object=always("response.input_tokens"), input_tokens=whole("The size estimate.")),
}
_EVENT_NAMES = (
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "error",
    "response.failed",
)


def _event(name: str, **more: Schema) -> Schema:
    return json_text(told(type=always(name), sequence_number=whole(), **more))


_BY_NAME = {
    **{name: _event(name) for name in _EVENT_NAMES},
    "response.completed": _event("response.completed", response=ref("OpenAIResponse")),
}
_EXAMPLE: dict[str, Any] = {"model": "bench/core", "input": "Is this cache safe? …"}
_EVENTS = (
    "Typed events, numbered from 0: `response.created`, a `response.output_text.delta` for each section as its seat ends, and "
    "`response.completed` with `bench`. Comments keep it alive; an error is `error` and `response.failed`."
)


def operation(route: Route) -> Operation:
    if route.task == "count_tokens":
        return Operation(
            summary="Estimate a request's size",
            about="By which it would be refused. No model is asked.",
            tag=TAG["name"],
            body=ref("OpenAIResponsesCount"),
            example=_EXAMPLE,
            reply={JSON: ref("OpenAIInputTokens")},
            reply_about="The estimate, in tokens.",
            error=ERROR,
            refusals=BY_TASK["count_tokens"],
        )
    return Operation(
        summary="Ask a panel",
        tag=TAG["name"],
        parameters=(IDEMPOTENCY_KEY,),
        body=ref("OpenAIResponsesRequest"),
        example=_EXAMPLE,
        reply={JSON: ref("OpenAIResponse"), SSE: events(_EVENTS, **_BY_NAME)},
        reply_about="Every seat's answer, or the merged one.",
        error=ERROR,
        refusals=BY_TASK["generate"],
    )
