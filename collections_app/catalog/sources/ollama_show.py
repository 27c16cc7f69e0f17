"""Ollama's POST /api/show: what a model was trained for, the window that its Modelfile sets, and what it can do.

The reply does not name the model: whoever asked knows which. Without num_ctx the window served is the server's own choice,
and unknown here.
"""

import re

from collections_app.catalog.entry import Entry, SourceError
from collections_app.catalog.reading import Item, LeftOut, mapping, numeric, parse_json
from collections_app.catalog.sources.kinds import CHAT, DECISION, LOCAL, OTHER, UNKNOWN, Words

LONGEST_PARAMETERS = 10_000
FAMILY_LENGTH = 60

_NUM_CTX = re.compile(r"^\s*num_ctx\s+([0-9]{1,12})\s*$", re.MULTILINE)


def read(body: bytes) -> Entry:
    """Return what is known of the model asked for; its id is "". Raises SourceError when it is not /api/show's reply."""
    item = Item(mapping(parse_json(body)), LeftOut(), "/api/show")
    info, details = item.inner("model_info"), item.inner("details")
    if not info.fields and not details.fields:
        raise SourceError("it is not what Ollama says of a model")
    trained = info.tokens(f"{info.text('general.architecture', most=FAMILY_LENGTH)}.context_length")
    remote = bool(item.text("remote_host", "remote_model"))
    can = item.words("capabilities")
    return Entry(
        "",
        kind=_kind(can),
        free=UNKNOWN if remote else LOCAL,
        # Where Ollama's own site answers, it serves what it says.
        context_window=_num_ctx(item) or (trained if remote else None),
        trained_window=trained,
        vision=None if can is None else "vision" in can,
        tools=None if can is None else "tools" in can,
        family=details.text("family", most=FAMILY_LENGTH),
    )


def _kind(can: Words | None) -> str:
    if can and "decision" in can:
        return DECISION
    return OTHER if can and "completion" not in can else CHAT


def _num_ctx(item: Item) -> int | None:
    """The window among the Modelfile's parameters, which come as text."""
    parameters = item.fields.get("parameters")
    match = _NUM_CTX.search(parameters[:LONGEST_PARAMETERS]) if isinstance(parameters, str) else None
    return Item({"num_ctx": numeric(match[1])}, item.left_out, item.name).tokens("num_ctx") if match else None
