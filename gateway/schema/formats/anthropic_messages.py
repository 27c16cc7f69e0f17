"""Anthropic Messages."""

from collections.abc import Mapping
from typing import Any

from gateway.schema.bench import ABOUT_PANEL, MODEL, NO_TOOLS
from gateway.schema.contract import JSON, SSE, Operation, events, json_text
from gateway.schema.formats.openai_shape import COLLECTION
from gateway.schema.refusals import BY_TASK, IDEMPOTENCY_KEY
from gateway.schema.shapes import (
    ANYTHING,
    BASE64,
    IMAGE_TYPE,
    IMAGE_URL,
    Schema,
    always,
    either,
    flag,
    ignored,
    listed,
    nothing,
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

NAME = "anthropic_messages"
TAG: Schema = {
    "name": "Anthropic Messages",
    "description": "Base URL for Anthropic's SDKs: the server itself. Any anthropic-version is taken.",
}
ERROR = "AnthropicError"

_SETTINGS = ("max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "thinking", "service_tier")
_TEXTS = listed(ref("AnthropicText"), least=1)
_THOUGHT = record(("type",), "A model's own earlier thinking, which is ignored.", type=one_of("thinking", "redacted_thinking"))
_SPEAKS: Schema = {
    "properties": {
        "content": either(
            text(), {"type": "array", "contains": record(("type",), type=one_of("text", "image", "document", "search_result"))}
        )
    }
}


def _body(**more: Schema) -> dict[str, Schema]:
    messages = {**listed(ref("AnthropicMessage"), least=1), "contains": _SPEAKS}
    system = either(text(), listed(ref("AnthropicText")), {"type": "null"})
    return {
        "model": MODEL,
        "messages": messages,
        "system": system,
        "stream": or_null(flag("Events as seats finish.")),
        "tool_choice": ANYTHING,
        **ABOUT_PANEL,
        **more,
        **ignored(*_SETTINGS),
    }


_ANY_TOOLS = or_null(listed(ANYTHING))

SCHEMAS: Mapping[str, Schema] = {
    "AnthropicRequest": record(("model", "messages"), **_body(tools=nothing(NO_TOOLS), mcp_servers=nothing(NO_TOOLS))),
    "AnthropicCount": record(
        ("model", "messages"),
        "A request to be measured. Tools do a count no harm.",
        **_body(tools=_ANY_TOOLS, mcp_servers=_ANY_TOOLS),
    ),
    "AnthropicMessage": either(
        record(
            ("role", "content"),
            role=one_of("user", "assistant"),
            content=either(text(), listed(ref("AnthropicBlock"), least=1)),
        ),
        record(("role", "content"), role=one_of("system"), content=either(text(), _TEXTS)),
    ),
    "AnthropicText": record(("type", "text"), type=one_of("text"), text=text()),
    "AnthropicImage": record(
        ("type", "source"),
        "An image. Goes only to models that see.",
        type=one_of("image"),
        source=either(
            record(
                ("type", "media_type", "data"),
                type=one_of("base64"),
                media_type=text(pattern=IMAGE_TYPE),
                data=text(pattern=BASE64),
            ),
            record(("type", "url"), type=one_of("url"), url=IMAGE_URL),
        ),
    ),
    "AnthropicDocument": record(
        ("type", "source"),
        "Text with a title. PDFs and files are refused.",
        type=one_of("document"),
        title=or_null(text()),
        context=or_null(text()),
        source=either(
            record(("type", "data"), type=one_of("text"), data=text()),
            record(
                ("type", "content"),
                type=one_of("content"),
                content=either(text(), listed(either(ref("AnthropicText"), ref("AnthropicImage")), least=1)),
            ),
        ),
    ),
    "AnthropicSearchResult": record(
        ("type", "content"),
        "The caller's own text, with where it is from.",
        type=one_of("search_result"),
        title=or_null(text()),
        source=or_null(text()),
        content=either(text(), _TEXTS),
    ),
    "AnthropicBlock": either(
        ref("AnthropicText"), ref("AnthropicImage"), ref("AnthropicDocument"), ref("AnthropicSearchResult"), _THOUGHT
    ),
    "AnthropicReply": told(
        id=text(),
        type=always("message"),
        role=always("assistant"),
        model=text("As it was asked for."),
        content=listed(told(type=always("text"), text=text()), least=1, most=1),
        stop_reason=always("end_turn"),
        stop_sequence={"type": "null"},
        usage=told("The size estimate: no tokenizer's count.", input_tokens=whole(), output_tokens=whole()),
        bench=perhaps(ref("BenchReply")),
    ),
    "AnthropicTokens": told(input_tokens=whole("The size estimate.")),
    "AnthropicModel": told(
        "A collection in one of its reply modes.",
        type=always("model"),
        id=text(),
        display_name=text(),
        created_at=text(format="date-time"),
        lifecycle=always("active"),
        max_input_tokens=or_null(whole()),
        max_tokens=or_null(whole()),
        **COLLECTION,
    ),
    "AnthropicModels": told(
        data=listed(ref("AnthropicModel")), has_more=always(False), first_id=or_null(text()), last_id=or_null(text())
    ),
    "AnthropicError": told(
        type=always("error"),
        error=told(type=text(), message=text()),
        request_id=text(),
        bench=perhaps(ref("BenchReply")),
    ),
}
_PLAIN_EVENTS = ("message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop", "message_stop")
_BY_NAME: Mapping[str, Schema] = {
    **{name: json_text(told(type=always(name))) for name in _PLAIN_EVENTS},
    "message_delta": json_text(
        told(type=always("message_delta"), delta=record(), usage=record(), bench=perhaps(ref("BenchReply")))
    ),
    "error": json_text(ref(ERROR)),
}
REQUEST_ID: Mapping[str, Schema] = {"request-id": {"required": True, "schema": text(pattern="^req_")}}
_EXAMPLE: dict[str, Any] = {
    "model": "bench/core",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "Is this cache safe? …"}],
}
_EVENTS = (
    "Named events: `message_start`, a `content_block_delta` for each section as its seat ends, `message_delta` with `bench`, "
    "`message_stop`. `ping` keeps it alive; an error is `event: error`."
)


def operation(route: Route) -> Operation:
    if route.task == "count_tokens":
        return Operation(
            summary="Estimate a request's size",
            about="By which it would be refused. No model is asked.",
            tag=TAG["name"],
            body=ref("AnthropicCount"),
            example=_EXAMPLE,
            reply={JSON: ref("AnthropicTokens")},
            reply_about="The estimate, in tokens.",
            error=ERROR,
            refusals=BY_TASK["count_tokens"],
        )
    return Operation(
        summary="Ask a panel",
        tag=TAG["name"],
        parameters=(IDEMPOTENCY_KEY,),
        body=ref("AnthropicRequest"),
        example=_EXAMPLE,
        reply={JSON: ref("AnthropicReply"), SSE: events(_EVENTS, **_BY_NAME)},
        reply_about="Every seat's answer, or the merged one.",
        headers=REQUEST_ID,
        error=ERROR,
        refusals=BY_TASK["generate"],
    )
