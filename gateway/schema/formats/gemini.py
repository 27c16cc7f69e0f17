"""Gemini's generateContent, in v1beta and v1. Every name may be written in snake_case too."""

from collections.abc import Mapping
from typing import Any

from gateway.schema.bench import ABOUT_PANEL, NO_TOOLS, SHOWN_MODEL
from gateway.schema.contract import JSON, SSE, Operation, events, in_query, json_text
from gateway.schema.formats.gemini_turns import SCHEMAS as TURNS
from gateway.schema.formats.gemini_turns import SPOKEN
from gateway.schema.refusals import BY_TASK, IDEMPOTENCY_KEY
from gateway.schema.shapes import (
    ANYTHING,
    Schema,
    always,
    either,
    ignored,
    listed,
    nothing,
    null,
    or_null,
    perhaps,
    record,
    ref,
    text,
    told,
    whole,
)
from gateway.wire.contract import Route

NAME = "gemini"
TAG: Schema = {
    "name": "Gemini",
    "description": "Base URL for Google's SDKs: the server itself. The panel and its seats are in headers, unless streamed.",
}
ERROR = "GeminiError"

_TURNS = {**listed(ref("GeminiTurn"), least=1), "contains": SPOKEN}
_SAID: Mapping[str, Schema] = {
    "contents": either({"allOf": [ref("GeminiTurn"), SPOKEN]}, _TURNS, about="Turns, or one."),
    "systemInstruction": or_null(ref("GeminiSystem")),
    "cachedContent": null("No seat can read what is stored elsewhere: send the text itself."),
    "generationConfig": or_null(record((), "Ignored, and each setting named in `bench.ignored`.")),
    "model": {"description": "Not read: the path names the collection."},
    "toolConfig": ANYTHING,
    **ABOUT_PANEL,
    **ignored("safetySettings", "labels", "serviceTier"),
}
_COUNTED = record(("contents",), tools=ANYTHING, functions=ANYTHING, **_SAID)

SCHEMAS: Mapping[str, Schema] = {
    **TURNS,
    "GeminiRequest": record(("contents",), tools=nothing(NO_TOOLS), functions=nothing(NO_TOOLS), **_SAID),
    "GeminiCount": either(
        {**_COUNTED, "properties": {**_COUNTED["properties"], "generateContentRequest": {"type": "null"}}},
        record(("generateContentRequest",), generateContentRequest=_COUNTED),
        about="A request to be measured, as it is or as `generateContentRequest`. Tools do a count no harm.",
    ),
    "GeminiReply": told(
        candidates=listed(ref("GeminiCandidate"), least=1, most=1),
        usageMetadata=ref("GeminiUsage"),
        modelVersion=text("As it was asked for."),
        responseId=text(),
    ),
    "GeminiChunk": told(
        candidates=listed(ref("GeminiCandidate"), least=1, most=1),
        usageMetadata=perhaps(ref("GeminiUsage")),
        modelVersion=text(),
        responseId=text(),
    ),
    "GeminiCandidate": told(
        content=told(parts=listed(told(text=text()), least=1, most=1), role=always("model")),
        finishReason=perhaps(always("STOP")),
        index=always(0),
    ),
    "GeminiUsage": told(
        "The size estimate: no tokenizer's count.",
        promptTokenCount=whole(),
        candidatesTokenCount=whole(),
        totalTokenCount=whole(),
    ),
    "GeminiTokens": told(totalTokens=whole("The size estimate.")),
    "GeminiModel": told(
        "A collection in one of its reply modes.",
        name=text(pattern="^models/"),
        version=text(),
        displayName=text(),
        description=text(),
        inputTokenLimit=perhaps(whole()),
        outputTokenLimit=perhaps(whole()),
        supportedGenerationMethods=listed(text()),
    ),
    "GeminiModels": told(models=listed(ref("GeminiModel"))),
    "GeminiError": told(
        error=told(code=whole("The status."), message=text(), status=text(pattern="^[A-Z_]+$")),
        bench=perhaps(ref("BenchReply")),
    ),
    "GeminiErrors": either(
        ref("GeminiError"), listed(ref("GeminiError"), least=1, most=1), about="In a list, without alt=sse."
    ),
}
_PANEL_HEADERS: Mapping[str, Schema] = {
    "X-Bench-Panel": {"description": "The panel's id, unless `bench.field` is false.", "schema": text()},
    "X-Bench-Seats": {
        "description": "Call, seat, alias and status of every seat, as JSON in ASCII; of a large panel the first ones.",
        "schema": text(),
    },
}
_ALT = in_query("alt", "`sse`: events; else one JSON list, written as it goes.", text(examples=["sse", "json"]), "sse")
_EXAMPLE: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "Is this cache safe? …"}]}]}
_EVENTS = "`data:` chunks: a section as its seat ends, then the finish reason. A chunk without text keeps it alive."
_CHUNK = either(ref("GeminiChunk"), ref("GeminiError"))
_CHUNKS = listed(_CHUNK, "The same chunks, as one list.")


def operation(route: Route) -> Operation:
    if route.variant == "unserved":
        return Operation(
            summary="Not served",
            about="Google's SDKs ask it of models that a panel is not.",
            tag=TAG["name"],
            parameters=(SHOWN_MODEL,),
            body=ANYTHING,
            error=ERROR,
            refusals=(401, 403, 404, 413, 415, 500, 503, 508),
            key_in_query=True,
        )
    if route.task == "generate":
        return _panel(route)
    if route.task == "count_tokens":
        return Operation(
            summary="Estimate a request's size",
            about="By which it would be refused. No model is asked.",
            tag=TAG["name"],
            parameters=(SHOWN_MODEL,),
            body=ref("GeminiCount"),
            example=_EXAMPLE,
            reply={JSON: ref("GeminiTokens")},
            reply_about="The estimate, in tokens.",
            error=ERROR,
            refusals=BY_TASK["count_tokens"],
            key_in_query=True,
        )
    one = route.task == "show_model"
    return Operation(
        summary="Show one collection" if one else "List collections",
        tag=TAG["name"],
        parameters=(SHOWN_MODEL,) if one else (),
        reply={JSON: ref("GeminiModel" if one else "GeminiModels")},
        error=ERROR,
        refusals=BY_TASK[route.task],
        key_in_query=True,
    )


def _panel(route: Route) -> Operation:
    streamed = route.streams == "always"
    return Operation(
        summary="Ask a panel, streamed" if streamed else "Ask a panel",
        tag=TAG["name"],
        parameters=(SHOWN_MODEL, IDEMPOTENCY_KEY, *((_ALT,) if streamed else ())),
        body=ref("GeminiRequest"),
        example=_EXAMPLE,
        reply={SSE: events(_EVENTS, message=json_text(_CHUNK)), JSON: _CHUNKS} if streamed else {JSON: ref("GeminiReply")},
        reply_about="Every seat's answer, or the merged one.",
        headers={} if streamed else _PANEL_HEADERS,
        error="GeminiErrors" if streamed else ERROR,
        refusals=BY_TASK["generate"],
        key_in_query=True,
    )
