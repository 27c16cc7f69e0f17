"""What is said in a Gemini conversation: turns of parts."""

from collections.abc import Mapping

from gateway.schema.bench import NO_TOOLS
from gateway.schema.shapes import (
    BASE64,
    IMAGE_TYPE,
    IMAGE_URL,
    Schema,
    either,
    listed,
    null,
    one_of,
    or_null,
    record,
    ref,
    text,
)

_NO_TOOLS: Mapping[str, Schema] = {
    name: null(NO_TOOLS)
    for name in ("functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse")
}
_NO_THOUGHT = one_of(False, None)
_ABSENT: Schema = {"type": "null"}
_ANYBODY: Schema = {"description": "Not read."}
_PARTS = either(ref("GeminiPart"), listed(ref("GeminiPart"), least=1))
_SAYS: Schema = {
    "properties": {"thought": _NO_THOUGHT},
    "anyOf": [
        {"required": [name], "properties": {name: {"type": kind}}}
        for name, kind in (("text", "string"), ("inlineData", "object"), ("fileData", "object"))
    ],
}
# A turn with a part that reaches the seats.
SPOKEN: Schema = {
    "required": ["parts"],
    "properties": {"parts": either({"type": "object", **_SAYS}, {"type": "array", "contains": _SAYS})},
}

SCHEMAS: Mapping[str, Schema] = {
    "GeminiTurn": either(
        {"allOf": [record(("parts",), role=one_of("user", "", None), parts=_PARTS), SPOKEN]},
        record(
            ("role",),
            "A model's earlier turn. Its thoughts are ignored.",
            role=one_of("model"),
            parts=or_null(either(ref("GeminiPart"), listed(ref("GeminiPart")))),
        ),
    ),
    "GeminiSystem": {"allOf": [record(("parts",), role=_ANYBODY, parts=_PARTS), SPOKEN]},
    "GeminiPart": {
        "type": "object",
        "description": "Text or an image; parts of tools are refused.",
        "properties": dict(_NO_TOOLS),
        "anyOf": [
            record(("text",), text=text(), thought=_NO_THOUGHT),
            record(
                ("inlineData",),
                "An image by its bytes. Goes only to models that see; another type is refused.",
                text=_ABSENT,
                inlineData=record(
                    ("mimeType", "data"), mimeType=text(pattern=IMAGE_TYPE), data=text("In base64.", pattern=BASE64)
                ),
                thought=_NO_THOUGHT,
            ),
            record(
                ("fileData",),
                "An image by its URL. Uploaded files, buckets and videos are refused.",
                text=_ABSENT,
                inlineData=_ABSENT,
                fileData=record(("fileUri",), mimeType=either(text(pattern=IMAGE_TYPE), one_of("", None)), fileUri=IMAGE_URL),
                thought=_NO_THOUGHT,
            ),
            record(("thought",), "A model's own thought: ignored.", thought=one_of(True)),
            record(
                ("thoughtSignature",),
                "Ignored.",
                text=_ABSENT,
                inlineData=_ABSENT,
                fileData=_ABSENT,
                thoughtSignature={"not": {"type": "null"}},
                thought=_NO_THOUGHT,
            ),
        ],
    },
}
