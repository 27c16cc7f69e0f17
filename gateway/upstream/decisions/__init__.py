"""Asking a decision model one question with named options, in whichever dialect it speaks. It never sits on a panel.

A new dialect is one module, and one line here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway.upstream import complete
from gateway.upstream.asking import Asking
from gateway.upstream.contract import Target, TypedKey, UpstreamError
from gateway.upstream.decisions import chat, openai, systemone
from gateway.upstream.decisions.contract import Decision, DecisionTarget, Dialect, at_one_place

DIALECTS: Mapping[str, Dialect] = {"systemone": systemone, "openai": openai}


def decide(target: DecisionTarget, text: str, options: Mapping[str, str], *, typed_key: TypedKey | None = None) -> Decision:
    """Ask which of `options` (descriptions by name) `text` is; what is chosen need not be one. Raises UpstreamError alone."""
    if target.dialect not in DIALECTS:
        asked = replace(target.endpoint, options=chat.OPTIONS.get(target.endpoint.protocol, {}))
        return chat.parse_answer(complete(asked, chat.build_messages(text, options), typed_key=typed_key).text)
    dialect = DIALECTS[target.dialect]
    payload = ask(target.endpoint, target.url, dialect.build_choice(target.endpoint.model, text, options), typed_key)
    return dialect.parse_choice(payload)


def ask(endpoint: Target, url: str, body: Mapping[str, Any], typed_key: TypedKey | None) -> Any:
    """Send one question to a URL of the endpoint's own server and return the JSON that came. Raises UpstreamError."""
    asking = Asking(endpoint, typed_key=typed_key, on_delta=None)
    try:
        if not at_one_place(url, endpoint.base_url):
            raise UpstreamError("the decisions URL is not of the endpoint's own server: probe the model again", kind="refused")
        return asking.exchange(url, body)
    except UpstreamError as error:
        # The libraries' errors under it hold addresses and queries: no traceback may show them.
        raise asking.told(error) from None
