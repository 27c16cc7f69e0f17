"""OpenAI's legacy completions: one prompt, no roles."""

from collections.abc import Mapping

from gateway.schema.bench import ABOUT_PANEL, MODEL, NO_TOOLS
from gateway.schema.contract import Operation
from gateway.schema.formats.openai_shape import ERROR, chunked
from gateway.schema.refusals import BY_TASK, IDEMPOTENCY_KEY
from gateway.schema.shapes import (
    ANYTHING,
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

NAME = "openai_completions"
TAG: Schema = {"name": "OpenAI legacy completions", "description": "One prompt. Base URL: the server's, with `/v1`."}

_SETTINGS = ("suffix", "max_tokens", "temperature", "top_p", "n", "best_of", "echo", "logprobs", "stop", "seed")


def _reply(*, finish_reason: Schema, choices: int, usage: Schema) -> Schema:
    """A reply, or a chunk of one, which has the same fields."""
    choice = told(text=text(), index=always(0), logprobs={"type": "null"}, finish_reason=finish_reason)
    return told(
        id=text(),
        object=always("text_completion"),
        created=whole("Unix time."),
        model=text("As it was asked for."),
        choices=listed(choice, least=choices, most=1),
        usage=usage,
        bench=perhaps(ref("BenchReply")),
    )


SCHEMAS: Mapping[str, Schema] = {
    "OpenAICompletionRequest": record(
        ("model", "prompt"),
        model=MODEL,
        prompt=either(text(), listed(text(), least=1, most=1), about="One prompt. Token ids and several prompts are refused."),
        stream=or_null(flag("Chunks as seats finish.")),
        stream_options=or_null(record(include_usage=or_null(flag()))),
        tools=nothing(NO_TOOLS),
        functions=nothing(NO_TOOLS),
        tool_choice=ANYTHING,
        **ABOUT_PANEL,
        **ignored(*_SETTINGS),
    ),
    "OpenAICompletionReply": _reply(finish_reason=always("stop"), choices=1, usage=ref("OpenAIUsage")),
    "OpenAICompletionChunk": _reply(finish_reason=one_of("stop", None), choices=0, usage=perhaps(ref("OpenAIUsage"))),
}
_EXAMPLE = {"model": "bench/core", "prompt": "Name three risks of …"}
_CHUNKS = "each section as its seat ends, then the finish reason with `bench`."


def operation(route: Route) -> Operation:
    return Operation(
        summary="Ask a panel with one prompt",
        tag=TAG["name"],
        parameters=(IDEMPOTENCY_KEY,),
        body=ref("OpenAICompletionRequest"),
        example=_EXAMPLE,
        reply=chunked(ref("OpenAICompletionReply"), ref("OpenAICompletionChunk"), _CHUNKS),
        reply_about="Every seat's answer, or the merged one.",
        error=ERROR,
        refusals=BY_TASK["generate"],
    )
