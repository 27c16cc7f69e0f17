"""One row of a listing read as an entry: its windows and until when it is served; price and abilities in modules of their own.

Rows come as shapes.plain gives them; each fact is read by the keys that name it.
"""

from collections.abc import Iterable

from collections_app.catalog.entry import Entry
from collections_app.catalog.reading import Item, id_problem, mapping
from collections_app.catalog.sources.kinds import ROUTER
from collections_app.catalog.sources.listing.abilities import kind, tools, vision
from collections_app.catalog.sources.listing.prices import free_of, prices_of, varies
from collections_app.catalog.sources.listing.shapes import is_of_lm_studio, is_of_ollama, live_hosts

WINDOWS = (
    "context_length",
    "context_window",
    "max_model_len",
    "max_context_length",
    "max_input_tokens",
    "inputTokenLimit",
    "ctx_len",
    "max_prompt_length",
    "availableContextTokens",
)
OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_output_length", "outputTokenLimit")
RETIRES = (
    "shutdown_date",
    "retires_at",
    "deprecation",
    "expiration_date",
    "planned_deprecation_date",
    "deprecation_date",
    "retirement_date",
)
SUCCESSORS = ("deprecation_replacement_model", "successor_model", "replacement_model")
ENDED = frozenset({"deprecated", "retired"})
# What Mistral says when it says nothing: its documentation's default. Believed, it would refuse prompts that are answered.
MISTRAL_DEFAULT = 32_768
FAMILY_LENGTH = 60


def entry_of(served_id: str, item: Item, provider: str) -> Entry:
    """Read a row, as shapes.plain gives it, as the entry for `served_id`."""
    context, trained = _windows(item)
    output = _output_limit(item)
    price_in, price_out = prices_of(item)
    return Entry(
        served_id,
        provider=provider,
        name=_name(item, served_id),
        kind=ROUTER if varies(item) else kind(item, served_id),
        free=free_of(item, served_id, provider, (price_in, price_out)),
        context_window=context,
        trained_window=trained,
        output_limit=None if output and context and output > context else output,
        vision=vision(item),
        tools=tools(item),
        price_in=price_in,
        price_out=price_out,
        requests_per_minute=item.tokens("rpm"),
        tokens_per_minute=item.tokens("tpm"),
        released=_released(item),
        retires=item.day(*RETIRES),
        deprecated=_deprecated(item),
        successor=next((item.text(key) for key in SUCCESSORS if not id_problem(item.fields.get(key))), ""),
        family=item.inner("details").text("family", most=FAMILY_LENGTH)
        or item.text("arch", "architecture", most=FAMILY_LENGTH),
    )


def _windows(item: Item) -> tuple[int | None, int | None]:
    """The window that answers and the one it was trained for, each as far as the row tells."""
    if is_of_lm_studio(item.fields):
        loaded = (each.inner("config").tokens("context_length") for each in item.items("loaded_instances"))
        return _least((item.tokens("loaded_context_length"), *loaded)), item.tokens("max_context_length")
    meta = item.inner("meta")
    if trained := meta.tokens("n_ctx_train"):
        return meta.tokens("n_ctx"), trained
    # After llama.cpp, whose second list looks like Ollama's.
    if is_of_ollama(item.fields):
        return item.tokens("context_length"), item.inner("details").tokens("context_length")
    told = item.tokens(*WINDOWS) or item.inner("limits").tokens("max_input_tokens", "max_context_window_tokens")
    if told == MISTRAL_DEFAULT and "completion_chat" in mapping(item.fields.get("capabilities")):
        told = None
    hosts = (each.tokens("context_length") for each in live_hosts(item))
    top, limits = item.inner("top_provider").tokens("context_length"), item.inner("per_request_limits").tokens("prompt_tokens")
    return _least((told, top, limits, *hosts)), None


def _output_limit(item: Item) -> int | None:
    told = item.tokens(*OUTPUTS) or item.inner("limits").tokens("max_output_tokens")
    # Beside a window of another name max_tokens is the reply's; alone it may be either.
    if told is None and not item.fields.keys().isdisjoint(("max_input_tokens", "context_window")) and "mode" not in item.fields:
        told = item.tokens("max_tokens")
    most = item.inner("per_request_limits").tokens("completion_tokens")
    return _least((told, item.inner("top_provider").tokens("max_completion_tokens"), most))


def _released(item: Item) -> str:
    # Servers of one's own say the moment of the question, which would be a change every day: OpenRouter's is a date.
    return item.day("created_at", "release_date", *(("created",) if "top_provider" in item.fields else ()))


def _deprecated(item: Item) -> bool:
    fields = item.fields
    state = {item.text(key).lower() for key in ("lifecycle", "status")}
    return bool(state & ENDED) or fields.get("is_deprecated") is True or fields.get("active") is False


def _name(item: Item, served_id: str) -> str:
    name = item.text("display_name", "displayName", "name")
    return "" if name.removeprefix("models/") == served_id else name


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value), default=None)
