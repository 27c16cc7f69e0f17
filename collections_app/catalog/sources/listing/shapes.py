"""The shapes that model listings come in: where the rows are, and odd rows written as plain ones. Judges no value."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from collections_app.catalog.entry import SourceError
from collections_app.catalog.reading import Item, id_problem, listed, mapping, numeric
from collections_app.plain_text import tidy

LISTS = ("data", "models", "result", "results", "items")
IDS = ("id", "name", "model", "key", "model_id", "slug")

LM_STUDIO_TYPES = frozenset({"llm", "vlm", "embedding", "embeddings"})

Row = Mapping[str, Any]


def rows_of(document: Any) -> list[Any]:
    """Return the rows of a listing, each an object or an id alone. Raises SourceError when it has no list of models."""
    if isinstance(document, list):
        return document
    top = mapping(document)
    lists = _lists_in(top) or [rows for key in LISTS for rows in _lists_in(mapping(top.get(key)))]
    if not any(lists) and (refusal := _refusal(top)):
        raise SourceError(refusal)
    if not lists:
        raise SourceError("it has no list of models")
    return lists[0] if len(lists) == 1 else _joined(lists)


def id_of(row: Row) -> Any:
    """What a call names the model as, unchecked."""
    if "litellm_params" in row or "model_info" in row:
        return row.get("model_name")
    # Cloudflare's ids are random numbers; a call names what it has for a name.
    if isinstance(row.get("name"), str) and row["name"].startswith("@"):
        return row["name"]
    return next((row[key] for key in IDS if row.get(key)), None)


def plain(row: Row) -> Row:
    """The row with what LiteLLM, Cloudflare, DeepInfra and Venice put one level down among its own fields."""
    if "litellm_params" in row or "model_info" in row:
        # What a deployment is limited to stands in its parameters.
        limits = {key: value for key, value in mapping(row.get("litellm_params")).items() if key in ("rpm", "tpm")}
        return {**mapping(row.get("model_info")), **limits}
    if isinstance(row.get("properties"), list):
        named = (each for each in row["properties"] if isinstance(each, dict) and isinstance(each.get("property_id"), str))
        return {**row, **{each["property_id"]: each.get("value") for each in named}}
    for inside in ("metadata", "model_spec"):
        if isinstance(row.get(inside), dict):
            return {**row, **row[inside]}
    return row


def next_page(document: Any) -> str:
    """The query that the next page has: Anthropic's, Gemini's, Cohere's, Cloudflare's or OpenRouter's; "" on the last."""
    top = mapping(document)
    if top.get("has_more") is True:
        return _query("after_id", top.get("last_id"))
    if token := top.get("nextPageToken"):
        return _query("pageToken", token)
    if token := top.get("next_page_token"):
        return _query("page_token", token)
    if isinstance(link := mapping(top.get("links")).get("next"), str):
        # The query alone: whatever host a link names, pages come from where the first did.
        return tidy(link.partition("?")[2].partition("#")[0], 500)
    return _next_of_pages(mapping(top.get("result_info")))


def live_hosts(item: Item) -> list[Item]:
    """Who serves a model of the Hugging Face router now."""
    return [each for each in item.items("providers") if each.fields.get("status", "live") == "live"]


def is_of_lm_studio(row: Row) -> bool:
    return "max_context_length" in row and isinstance(row.get("type"), str) and row["type"] in LM_STUDIO_TYPES


def is_of_ollama(row: Row) -> bool:
    return "digest" in row and isinstance(row.get("details"), dict)


def _lists_in(document: Row) -> list[list[Any]]:
    # An empty list is null in some.
    return [listed(document[key]) for key in LISTS if key in document and isinstance(document[key], list | None)]


def _joined(lists: list[list[Any]]) -> list[Any]:
    """Rows of several lists in one body, one for an id: llama.cpp says in one what a model can do, and its size in another."""
    joined: dict[str, Any] = {}
    loose = []
    for row in (row for rows in lists for row in rows):
        known_as = id_of(row) if isinstance(row, dict) else None
        if isinstance(known_as, str):
            joined[known_as] = {**row, **joined.get(known_as, {})}
        else:
            loose.append(row)
    return [*joined.values(), *loose]


def _refusal(top: Row) -> str:
    """What a body without models says went wrong; "" when it says nothing of it."""
    error = top.get("error") or (listed(top.get("errors")) or [None])[0] or top.get("detail")
    told = tidy(mapping(error).get("message")) or tidy(error)
    if told or error or top.get("success") is False:
        return f"it answered with an error: {told or 'it does not say which'}"
    return ""


def _query(key: str, value: Any) -> str:
    return "" if id_problem(value) else urlencode({key: value})


def _next_of_pages(info: Row) -> str:
    page, size, total = (numeric(info.get(key)) or 0 for key in ("page", "per_page", "total_count"))
    return f"page={int(page) + 1}" if 0 < page * size < total else ""
