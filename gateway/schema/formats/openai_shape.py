"""What OpenAI's formats share: the error, the lists of models, token usage, and the parts of a reply's stream in words."""

from collections.abc import Mapping

from gateway.schema.contract import JSON, SSE, events, json_text
from gateway.schema.shapes import Schema, always, either, listed, one_of, or_null, perhaps, ref, text, told, whole

ERROR = "OpenAIError"
_ENDS = "`data: [DONE]` ends it. Comments keep it alive; an error comes as a chunk with `error` and ends it without `[DONE]`."
ROLES = ("system", "developer", "user", "assistant")

# What is told of a collection beside a format's own fields.
COLLECTION: Mapping[str, Schema] = {
    "description": text(),
    "tags": listed(text()),
    "members": listed(text(), "Aliases."),
    "shape": text("Empty where it is chosen for each request."),
    "reply": one_of("all", "merged"),
    "merger": text("Empty where it is chosen by evidence."),
    "explorers": whole("Explorer seats beside the members."),
    "together": ref("BenchTogether"),
}

SCHEMAS: Mapping[str, Schema] = {
    "OpenAIError": told(
        error=told(message=text(), type=text(), param=or_null(text("The field.")), code=or_null(text())),
        bench=perhaps(ref("BenchReply")),
    ),
    "OpenAIModel": told(
        "A collection in one of its reply modes.",
        id=text(examples=["bench/core", "bench/core:merged"]),
        object=always("model"),
        created=whole("Unix time."),
        owned_by=always("bench"),
        **COLLECTION,
    ),
    "OpenAIModels": told(object=always("list"), data=listed(ref("OpenAIModel"))),
    "OpenAIUsage": told(
        "The size estimate: no tokenizer's count.", prompt_tokens=whole(), completion_tokens=whole(), total_tokens=whole()
    ),
}


def chunked(reply: Schema, chunk: Schema, words: str) -> Mapping[str, Schema]:
    """A panel's reply, whole or in chunks."""
    data = either(always("[DONE]"), json_text(either(chunk, ref(ERROR))))
    return {JSON: reply, SSE: events(f"Chunks: {words} {_ENDS}", message=data)}
