"""Endpoints: where they are, what they speak, and what their key is called. A key itself is never taken over from a file."""

from collections.abc import Mapping
from typing import Any

from evidence.moving_in.reading.fields import UnusableError, text
from evidence.moving_in.reading.names import is_key_name, key_variable, old_key_variable
from evidence.moving_in.reading.values import OldEndpoint

PROTOCOLS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "anthropic": "anthropic_messages",
    "gemini": "gemini",
}
# What this bench finds out or does in another way; nothing is lost with them.
OF_ITS_OWN = frozenset(
    {"base", "key", "api", "decisions", "default", "kind", "hub", "admin_key", "models_url", "unlisted_models"}
)
KEY_IN_THE_FILE = (
    "its key field looks like a key itself, which is never taken over from a file: put the key into an environment variable "
    "and name that on the endpoint's page, or type it in there"
)


def read_endpoint(name: str, entry: Any) -> OldEndpoint:
    """One endpoint. Raises UnusableError."""
    if not isinstance(entry, dict):
        raise UnusableError("no object")
    speaks = text(entry, "api") or "chat"
    if speaks not in PROTOCOLS:
        raise UnusableError(f"api is none of {', '.join(PROTOCOLS)}")
    key = text(entry, "key").strip()
    return OldEndpoint(
        name=name,
        base_url=text(entry, "base", None).strip().rstrip("/"),
        protocol=PROTOCOLS[speaks],
        key_name=key if is_key_name(key) else "",
        decisions_url=text(entry, "decisions").strip(),
        told=tuple(_told(entry, key)),
    )


def _told(entry: Mapping[str, Any], key: str) -> list[str]:
    told = []
    if key and not is_key_name(key):
        told.append(KEY_IN_THE_FILE)
    elif key:
        told.append(f"set {key_variable(key)} to its key: it was {old_key_variable(key)}, or {key} in llm's own keys")
    if "connect" in entry:
        told.append("it was signed in to there; this bench takes an API key alone")
    if entry.get("headers"):
        told.append("its headers are not sent by this bench")
    if others := len(entry.keys() - OF_ITS_OWN - {"connect", "headers"}):
        told.append(f"{others} of its fields are not known here")
    return told
