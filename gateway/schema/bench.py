"""What every format shares: which collection is asked, what a request says of its panel, and what a reply says of it.

The bench's own routes are bench_routes.py's.
"""

from collections.abc import Mapping

from gateway.schema.contract import in_path
from gateway.schema.shapes import Schema, always, flag, listed, number, one_of, or_null, perhaps, ref, text, told, whole
from gateway.wire.reading import MOST_NOMINATED

_ALIASES = listed(text(), "Aliases of models that are to sit besides the members, in explorer seats.", most=MOST_NOMINATED)

# The model field, in every format.
MODEL: Schema = {
    "type": "string",
    "pattern": r"^(bench/)?[a-z0-9][a-z0-9-]{1,31}(:(all|merged|latest))?$",
    "description": "A collection: `bench/core` or `core`; `:merged` and `:all` choose the reply mode. There is no default.",
    "examples": ["bench/core"],
}
SHOWN_MODEL = in_path("model", "A collection, as in `model`. Its slash may be written as %2F.", MODEL, "bench/core")
# Why, wherever a format has a field for them.
NO_TOOLS = "A panel runs no tools."
# Beside a format's own fields, of every panel.
ABOUT_PANEL: Mapping[str, Schema] = {"bench": or_null(ref("BenchRequest")), "with": or_null(_ALIASES)}

CALL_ID = text("A call's id: its panel's, and its seat.", examples=["p20260102-150405-7f3a.member1"])
PANEL_ID = text("A panel's id.", examples=["p20260102-150405-7f3a"])
SEAT = one_of("member", "explorer", "merger")
_TOKENS = or_null(whole("Tokens, as the provider counted them."))
_PANEL_FIELDS: dict[str, Schema] = {
    "panel": PANEL_ID,
    "collection": text(),
    "shape": text("The kind of task, which decides who explores."),
    "shape_by": text("How the shape was chosen."),
    "reply": one_of("all", "merged"),
    "answered": whole("Seats with an answer."),
    "degraded": flag("Whether any seat did not answer or was not asked."),
    "seats": listed(ref("BenchSeat"), "In seat order."),
    "skipped": listed(ref("BenchSkippedSeat")),
    "ignored": listed(text(), "What the request said that reached no seat."),
    "verdict": text("How to send a verdict, with the URL as the caller reached the bench."),
    "merger": perhaps(ref("BenchSeat")),
    "note": perhaps(text("Why a merged reply was asked for and every answer came instead.")),
}

SCHEMAS: Mapping[str, Schema] = {
    "BenchRequest": {
        "type": "object",
        "description": "What a request says of the panel itself. Any other field is refused.",
        "properties": {
            "with": or_null(_ALIASES),
            "reply": one_of("all", "merged", "", None, about="Every answer, or one that a further model merges from them."),
            "merger": or_null(text("The alias of the model that merges.")),
            "field": or_null(flag("`false` leaves `bench` out of the reply, for strict clients.")),
        },
        "additionalProperties": {"type": "null"},
    },
    "BenchReply": told("The panel as data, beside the format's own fields.", **_PANEL_FIELDS),
    "BenchSeat": told(
        "One model's place in a panel, and what came of it.",
        call=CALL_ID,
        seat=SEAT,
        alias=text(),
        status=one_of("ok", "empty", "error", "running"),
        seconds=or_null(number("Null while it runs.")),
        answer=text("As the model wrote it: untrusted text."),
        error=text("Why it failed, or why it is empty."),
        error_kind=text(),
        usage=told(input=_TOKENS, output=_TOKENS),
        finish_reason=text(),
        nominated=perhaps(always(True)),
        served_model=perhaps(text("The model that answered, where the provider names another than was asked.")),
    ),
    "BenchSkippedSeat": told("A seat that was not asked.", seat=SEAT, alias=text(), why=text()),
    "BenchPanel": told(
        "A panel as far as it is.",
        status=one_of("running", "done", "interrupted"),
        **_PANEL_FIELDS,
    ),
    "BenchTogether": told(
        "What all members have in common.",
        context_window=or_null(whole("Tokens, the smallest known.")),
        capabilities=listed(text(), "What every member has, such as vision."),
    ),
}
