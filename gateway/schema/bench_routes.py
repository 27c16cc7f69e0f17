"""The bench's own routes, of no format: panels read back, verdicts, what can be asked. Refusals are in OpenAI's words."""

from collections.abc import Mapping

from evidence.serializers import (
    LONGEST_CALL_ID,
    LONGEST_CLAIM,
    LONGEST_CORRECTION,
    LONGEST_TEXT,
    MOST_CLAIMS,
    MOST_OWED_AT_ONCE,
    OWED_AT_ONCE,
)
from gateway.schema.bench import CALL_ID, PANEL_ID, SEAT
from gateway.schema.contract import JSON, SSE, Operation, events, in_header, in_path, in_query, json_text
from gateway.schema.formats.openai_shape import COLLECTION, ERROR
from gateway.schema.refusals import BY_TASK
from gateway.schema.shapes import Schema, always, flag, listed, number, one_of, or_null, record, ref, text, told, whole

TAG: Schema = {
    "name": "Bench",
    "description": "A panel read back, as it is or as it goes; verdicts; what can be asked. In no format.",
}
_NO_NUL = r"^[^\x00]*$"
# Blank to Python, and no white space to JSON Schema's expressions.
_SPACES = r"\x1c-\x1f\x85"
_CLAIMS = {
    "type": "array",
    "maxItems": MOST_CLAIMS,
    "items": text(maxLength=LONGEST_CLAIM, pattern=rf"^[^\x00]*[^\s\x00{_SPACES}][^\x00]*$"),
}

SCHEMAS: Mapping[str, Schema] = {
    "BenchVerdict": {
        "type": "object",
        "required": ["call", "useful"],
        "properties": {
            "call": text(CALL_ID["description"], minLength=1, maxLength=LONGEST_CALL_ID, pattern=_NO_NUL),
            "useful": flag("Whether the answer helped, checked against the real work."),
            "note": text("Why.", maxLength=LONGEST_TEXT, pattern=_NO_NUL),
            "real": {**_CLAIMS, "description": "Claims of the answer that proved true."},
            "false": {**_CLAIMS, "description": "Claims that proved false."},
            "score": or_null(number("How good, from 0 to 1.", minimum=0, maximum=1)),
            "correction": text(
                f"What the answer should have been, in {LONGEST_CORRECTION:,} characters at most.", pattern=_NO_NUL
            ),
        },
        "additionalProperties": False,
    },
    "BenchVerdictTaken": told(ok=always(True), written=flag("False when the same verdict had been given."), call=CALL_ID),
    "BenchCollection": told(
        name=text(examples=["bench/core"]),
        **COLLECTION,
        other_reply=text("The same collection in the other reply mode.", examples=["bench/core:merged"]),
    ),
    "BenchCollections": told(collections=listed(ref("BenchCollection"))),
    "BenchOwedCall": told(
        "An answer that nobody has judged.",
        call=CALL_ID,
        panel=PANEL_ID,
        collection=text(),
        alias=text(),
        seat=SEAT,
        shape=text(),
        asked_at=text(format="date-time"),
        question=text("The first line of what was asked: untrusted text."),
    ),
    "BenchOwed": told(
        owed=listed(ref("BenchOwedCall"), "The newest first."),
        more=flag("Whether others wait too."),
        verdict=text("How to send a verdict."),
        read=text("How to read the answer."),
    ),
    "McpMessage": {
        "type": "object",
        "required": ["jsonrpc"],
        "description": "A JSON-RPC message of the Model Context Protocol. Its own documents say which there are.",
        "properties": {"jsonrpc": always("2.0"), "method": text(), "params": record()},
    },
    "McpError": told(jsonrpc=always("2.0"), id={}, error=told(code={"type": "integer"}, message=text())),
}

_PANEL = in_path("panel", "A panel's id.", text(minLength=1, pattern="^[^/]+$"), "p20260102-150405-7f3a")
_AFTER: Schema = whole(maximum=999_999_999)
_EVENTS = "A `seat` as each seat ends, whose `id` is its sequence number; then the `end`. Comments keep it alive."
_BY_NAME = {
    "seat": json_text(told(sequence=whole(minimum=1), seat=ref("BenchSeat"))),
    "end": json_text(told(status=one_of("done", "interrupted"), panel=PANEL_ID)),
}
_JUDGED = {"call": "p20260102-150405-7f3a.member1", "useful": True, "note": "found the race", "real": ["stale read"]}

_AGENTS = (
    "Tools `list_collections`, `ask`, `get_panel`, `verdict` and `pending_verdicts`, by streamable HTTP without sessions. "
    "Agents' clients speak it by themselves: give them this address."
)

# By method and path.
OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("POST", "/bench/verdict"): Operation(
        summary="Judge one seat's answer",
        about="The same verdict again writes nothing and says so; another one replaces it, and the earlier is kept.",
        tag=TAG["name"],
        body=ref("BenchVerdict"),
        example=_JUDGED,
        reply={JSON: ref("BenchVerdictTaken")},
        reply_about="Taken.",
        error=ERROR,
        refusals=(400, 401, 403, 404, 413, 415, 500, 503),
    ),
    ("GET", "/bench/panels/{panel}"): Operation(
        summary="Read a panel, running or ended",
        tag=TAG["name"],
        parameters=(_PANEL,),
        reply={JSON: ref("BenchPanel")},
        reply_about="The panel as far as it is.",
        error=ERROR,
        refusals=(401, 403, 404, 413, 500, 503),
    ),
    ("GET", "/bench/panels/{panel}/events"): Operation(
        summary="Hear of a panel's seats as they end",
        about="Server-sent events, resumable: `after`, or the Last-Event-ID that browsers send, goes on from there.",
        tag=TAG["name"],
        parameters=(
            _PANEL,
            in_query("after", "The number of the last event that came.", _AFTER, 0),
            in_header("Last-Event-ID", "The same, as browsers send it.", _AFTER, 0),
        ),
        reply={SSE: events(_EVENTS, **_BY_NAME)},
        reply_about="Events, until the panel has ended.",
        error=ERROR,
        refusals=BY_TASK["watch"],
    ),
    ("GET", "/bench/collections"): Operation(
        summary="What can be asked",
        about="Every collection that the caller may ask, with what tells which of them a task is for.",
        tag=TAG["name"],
        reply={JSON: ref("BenchCollections")},
        reply_about="The collections, in no particular order.",
        error=ERROR,
        refusals=BY_TASK["list_models"],
    ),
    ("GET", "/bench/verdicts/owed"): Operation(
        summary="Which answers wait for a verdict",
        about="Those of the caller's own panels.",
        tag=TAG["name"],
        parameters=(
            in_query(
                "limit", f"How many, {OWED_AT_ONCE} when left out.", whole(minimum=1, maximum=MOST_OWED_AT_ONCE), OWED_AT_ONCE
            ),
            in_query("panel", "Of this panel alone.", text()),
        ),
        reply={JSON: ref("BenchOwed")},
        reply_about="The answers.",
        error=ERROR,
        refusals=(*BY_TASK["list_models"], 400, 404),
    ),
    ("POST", "/mcp"): Operation(
        summary="Tools for agents",
        about=_AGENTS,
        tag=TAG["name"],
        body=ref("McpMessage"),
        example={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        reply={
            JSON: ref("McpMessage"),
            SSE: events("The same messages, and progress while seats think.", message=json_text(ref("McpMessage"))),
        },
        reply_about="The answer to a request.",
        also={"202": {"description": "A notification was taken."}},
        error="McpError",
        refusals=(400, 401, 403, 406, 413, 415, 500, 503),
    ),
}
