"""Ollama's chat and generate."""

from collections.abc import Mapping
from typing import Any

from gateway.schema.bench import ABOUT_PANEL, MODEL, NO_TOOLS
from gateway.schema.contract import JSON, Operation, lines
from gateway.schema.formats.openai_shape import COLLECTION
from gateway.schema.refusals import BY_TASK, UNREAD_IDEMPOTENCY_KEY
from gateway.schema.shapes import (
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

NAME = "ollama"
TAG: Schema = {"name": "Ollama", "description": "As of its API 0.12. Base URL for Ollama's clients: the server itself."}
ERROR = "OllamaError"
NDJSON = "application/x-ndjson"

_SETTINGS = ("format", "template", "raw", "suffix", "think", "keep_alive", "logprobs")
_BYTES = "[A-Za-z0-9+/]"
# How PNG, JPEG, GIF and WEBP begin, in base64.
_BEGINS = rf"iVBORw0K|/9j/|R0lGODlh|R0lGODdh|UklGR[g-v]{_BYTES}{{4}}[BFJNRVZdhlptx159]XRUJQ"
_IMAGES = listed(
    text("A PNG, JPEG, GIF or WEBP in base64.", pattern=rf"^({_BEGINS})({_BYTES}{{4}})*({_BYTES}{{3}}=|{_BYTES}{{2}}==)?$"),
    "Go only to models that see.",
)
_COMMON: Mapping[str, Schema] = {
    "model": MODEL,
    "stream": or_null(flag("Lines as seats finish, unless `false`.")),
    "options": or_null(record((), "Ignored, and each setting named in `bench.ignored`.")),
    "tools": nothing(NO_TOOLS),
    "context": nothing("It holds one model's tokens: send the conversation to /api/chat."),
    **ABOUT_PANEL,
    **ignored(*_SETTINGS),
}
_ENDED: Mapping[str, Schema] = {
    "model": text("As it was asked for."),
    "created_at": text(format="date-time"),
    "done": always(True),
    "done_reason": one_of("stop", "load", "unload"),
    # Only of a panel, and not of what asked nobody.
    "total_duration": perhaps(whole("Nanoseconds.")),
    "load_duration": perhaps(whole()),
    "prompt_eval_count": perhaps(whole("The size estimate.")),
    "prompt_eval_duration": perhaps(whole()),
    "eval_count": perhaps(whole("The size estimate.")),
    "eval_duration": perhaps(whole()),
    "bench": perhaps(ref("BenchReply")),
}
_SHOWN = one_of("completion", "vision")
_DETAILS = record()

SCHEMAS: Mapping[str, Schema] = {
    "OllamaChatRequest": record(
        ("model",),
        "Without messages nothing is asked: Ollama's way to load a model.",
        messages=or_null(listed(ref("OllamaMessage"))),
        **_COMMON,
    ),
    "OllamaGenerateRequest": record(
        ("model",),
        "Without a prompt and images nothing is asked: Ollama's way to load a model.",
        prompt=or_null(text()),
        system=or_null(text()),
        images=or_null(_IMAGES),
        **_COMMON,
    ),
    "OllamaMessage": record(
        ("role",),
        role=one_of("system", "user", "assistant", about="In either case of letters."),
        content=or_null(text()),
        images=or_null(_IMAGES),
        tool_calls=nothing(NO_TOOLS),
        thinking={"description": "A model's own earlier thinking: ignored."},
    ),
    "OllamaChatReply": told(message=told(role=always("assistant"), content=text()), **_ENDED),
    "OllamaGenerateReply": told(response=text(), **_ENDED),
    "OllamaShowRequest": either(
        record(("model",), "The name of the collection.", model=MODEL),
        record(("name",), "As older clients send it.", model=one_of("", None), name=MODEL),
    ),
    "OllamaModel": told(
        "A collection in one of its reply modes.",
        license=text(),
        modelfile=text(),
        parameters=text(),
        template=text(),
        details=_DETAILS,
        model_info=record(),
        capabilities=listed(_SHOWN),
        modified_at=text(format="date-time"),
        bench=ref("OllamaCollection"),
    ),
    "OllamaModels": told(
        models=listed(
            told(
                name=text(),
                model=text(),
                modified_at=text(format="date-time"),
                size=always(0),
                digest=text(),
                details=_DETAILS,
                bench=ref("OllamaCollection"),
            )
        )
    ),
    "OllamaCollection": told(**COLLECTION),
    "OllamaError": told(error=text(), bench=perhaps(ref("BenchReply"))),
}
_LINES = lines(
    "One JSON object a line: a section as its seat ends with `done: false`, then the end with `done: true` and `bench`. "
    "A line without text keeps it alive; an error is a line with `error`."
)
_EXAMPLES: Mapping[str, Any] = {
    "chat": {"model": "bench/core", "messages": [{"role": "user", "content": "Is this cache safe? …"}], "stream": False},
    "generate": {"model": "bench/core", "prompt": "Is this cache safe? …", "stream": False},
}


def operation(route: Route) -> Operation:
    if route.task == "generate":
        return _panel(route, f"Ollama{route.variant.title()}")
    if route.task == "show_model":
        return Operation(
            summary="Show one collection",
            tag=TAG["name"],
            body=ref("OllamaShowRequest"),
            example={"model": "bench/core"},
            reply={JSON: ref("OllamaModel")},
            reply_about="The collection.",
            error=ERROR,
            refusals=(*BY_TASK["show_model"], 415),
        )
    return _told(route)


def _panel(route: Route, name: str) -> Operation:
    return Operation(
        summary="Ask a panel" if route.variant == "chat" else "Ask a panel with one prompt",
        tag=TAG["name"],
        parameters=(UNREAD_IDEMPOTENCY_KEY,),
        body=ref(f"{name}Request"),
        example=_EXAMPLES[route.variant],
        reply={JSON: ref(f"{name}Reply"), NDJSON: _LINES},
        reply_about="Every seat's answer, or the merged one.",
        error=ERROR,
        refusals=BY_TASK["generate"],
    )


def _told(route: Route) -> Operation:
    """What is read without a body: the list, and what is always the same."""
    listing = route.task == "list_models"
    summary = "List collections" if listing else f"What clients ask before anything else: {route.path.rpartition('/')[2]}"
    schema = ref("OllamaModels") if listing else always(dict(route.body or {}))
    return Operation(summary=summary, tag=TAG["name"], reply={JSON: schema}, error=ERROR, refusals=BY_TASK[route.task])
