"""OpenAI chat completions, and the lists of models that every SDK reads in its own shape from one path."""

from collections.abc import Mapping

from gateway.schema.bench import ABOUT_PANEL, MODEL, NO_TOOLS, SHOWN_MODEL
from gateway.schema.contract import JSON, Operation, in_header
from gateway.schema.formats.openai_shape import ERROR, ROLES, chunked
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

NAME = "openai_chat"
TAG: Schema = {"name": "OpenAI chat completions", "description": "Base URL for OpenAI's SDKs: the server's, with `/v1`."}

_SAYS_NOTHING = one_of(None, False, 0, "", [], {}, about=f"Refused with 400 unless empty. {NO_TOOLS}")
_CONTENT = either(text(), listed(ref("OpenAIPart"), least=1), about="Text, or parts.")
_OF_MESSAGE: Mapping[str, Schema] = {
    "tool_calls": nothing(NO_TOOLS),
    "function_call": _SAYS_NOTHING,
    **ignored(
        "name", "reasoning_content", "reasoning", "reasoning_details", about="Reaches no seat; named in `bench.ignored`."
    ),
}
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "n", "seed", "response_format", "logprobs")
_WHOSE = (
    in_header("anthropic-version", "Sent by Anthropic's SDKs: the list in their shape.", text()),
    in_header("x-goog-api-client", "Sent by Google's SDKs: the list in their shape.", text()),
)

SCHEMAS: Mapping[str, Schema] = {
    "OpenAIChatRequest": record(
        ("model", "messages"),
        model=MODEL,
        messages=listed(ref("OpenAIMessage"), least=1),
        stream=or_null(flag("Chunks as seats finish.")),
        stream_options=or_null(record(include_usage=or_null(flag()))),
        tools=nothing(NO_TOOLS),
        functions=nothing(NO_TOOLS),
        tool_choice=ANYTHING,
        **ABOUT_PANEL,
        **ignored(*_SETTINGS),
    ),
    "OpenAIMessage": either(
        record(("role", "content"), role=one_of(*ROLES), content=_CONTENT, **_OF_MESSAGE),
        record(
            ("role",),
            "What a model refused, in an earlier turn.",
            role=one_of("assistant"),
            content={"type": "null"},
            refusal=or_null(text()),
            **_OF_MESSAGE,
        ),
    ),
    "OpenAIPart": either(
        record(("type", "text"), type=one_of("text"), text=text()),
        record(("type", "refusal"), type=one_of("refusal"), refusal=text()),
        record(
            ("type", "image_url"),
            "An image. Goes only to models that see; another kind of part is refused.",
            type=one_of("image_url"),
            image_url=either(IMAGE_URL, record(("url",), url=IMAGE_URL)),
        ),
    ),
    "OpenAIChatReply": told(
        id=text(),
        object=always("chat.completion"),
        created=whole("Unix time."),
        model=text("As it was asked for."),
        choices=listed(ref("OpenAIChatChoice"), least=1, most=1),
        usage=ref("OpenAIUsage"),
        bench=perhaps(ref("BenchReply")),
    ),
    "OpenAIChatChoice": told(
        index=always(0),
        message=told(role=always("assistant"), content=text("Markdown: a section for each seat."), refusal={"type": "null"}),
        logprobs={"type": "null"},
        finish_reason=always("stop"),
    ),
    "OpenAIChatChunk": told(
        id=text(),
        object=always("chat.completion.chunk"),
        created=whole("Unix time."),
        model=text(),
        choices=listed(
            told(
                index=always(0),
                delta=record(role=always("assistant"), content=text()),
                logprobs={"type": "null"},
                finish_reason=one_of("stop", None),
            ),
            most=1,
        ),
        usage=perhaps(ref("OpenAIUsage")),
        bench=perhaps(ref("BenchReply")),
    ),
    "AnyModels": either(ref("OpenAIModels"), ref("AnthropicModels"), ref("GeminiModels"), about="In the caller's shape."),
    "AnyModel": either(ref("OpenAIModel"), ref("AnthropicModel"), ref("GeminiModel"), about="In the caller's shape."),
    "AnyError": either(ref(ERROR), ref("AnthropicError"), ref("GeminiError"), about="In the caller's shape."),
}
_EXAMPLE = {"model": "bench/core", "messages": [{"role": "user", "content": "Is this cache safe? …"}]}
_CHUNKS = "the role, each section as its seat ends, then the finish reason with `bench`."


def operation(route: Route) -> Operation:
    if route.task == "list_models":
        return Operation(
            summary="List collections",
            about="Each in both reply modes. SDKs of OpenAI, Anthropic and Google read it in their own shapes.",
            tag=TAG["name"],
            parameters=_WHOSE,
            reply={JSON: ref("AnyModels")},
            reply_about="What the caller may ask.",
            error="AnyError",
            refusals=BY_TASK["list_models"],
        )
    if route.task == "show_model":
        return Operation(
            summary="Show one collection",
            tag=TAG["name"],
            parameters=(SHOWN_MODEL, *_WHOSE),
            reply={JSON: ref("AnyModel")},
            reply_about="The collection.",
            error="AnyError",
            refusals=BY_TASK["show_model"],
        )
    return Operation(
        summary="Ask a panel",
        tag=TAG["name"],
        parameters=(IDEMPOTENCY_KEY,),
        body=ref("OpenAIChatRequest"),
        example=_EXAMPLE,
        reply=chunked(ref("OpenAIChatReply"), ref("OpenAIChatChunk"), _CHUNKS),
        reply_about="Every seat's answer, or the merged one.",
        error=ERROR,
        refusals=BY_TASK["generate"],
    )
