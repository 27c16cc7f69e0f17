"""What a listed model costs: its price in USD per million tokens, and whether that makes it free.

A price's unit is known by its key and its type, and never by how large it is. Rows come as shapes.plain gives them.
"""

from collections_app.catalog.reading import Item, mapping, numeric
from collections_app.catalog.sources.kinds import LOCAL, UNKNOWN, ZERO, free_by_price
from collections_app.catalog.sources.listing.shapes import is_of_lm_studio, is_of_ollama, live_hosts

PER_TOKEN = 1_000_000.0
# Models of Ollama's own site are listed as those of a machine are.
OLLAMA_SITE = "ollama-cloud"

Prices = tuple[float | None, float | None]


def varies(item: Item) -> bool:
    """Whether a price is -1: it is that of whichever model gets chosen."""
    pricing = mapping(item.fields.get("pricing"))
    return any(numeric(pricing.get(key)) == -1 for key in ("prompt", "completion"))


def prices_of(item: Item) -> Prices:
    """What a million tokens cost, in and out."""
    fields, pricing = item.fields, item.inner("pricing")
    if varies(item):
        return None, None
    if "prompt" in pricing.fields:
        return pricing.dollars("prompt", times=PER_TOKEN), pricing.dollars("completion", times=PER_TOKEN)
    if "input" in pricing.fields:
        # A number is per million, as Together writes it; text is per token, as Vercel does.
        times = PER_TOKEN if isinstance(pricing.fields["input"], str) else 1
        if isinstance(pricing.fields["input"], dict):
            return pricing.inner("input").dollars("usd"), pricing.inner("output").dollars("usd")
        return pricing.dollars("input", times=times), pricing.dollars("output", times=times)
    if "input_tokens" in pricing.fields:
        return pricing.dollars("input_tokens"), pricing.dollars("output_tokens")
    if "input_cost_per_token" in fields:
        return item.dollars("input_cost_per_token", times=PER_TOKEN), item.dollars("output_cost_per_token", times=PER_TOKEN)
    if "prompt_text_token_price" in fields:
        # Hundredths of a cent.
        return item.dollars("prompt_text_token_price", times=1e-4), item.dollars("completion_text_token_price", times=1e-4)
    return _prices_by_unit(item) if "price" in fields else _prices_of_hosts(item)


def _prices_by_unit(item: Item) -> Prices:
    """Cloudflare's: a list of prices, each with its unit in words."""
    by_unit = {each.text("unit"): each for each in item.items("price") if each.text("currency") in ("USD", "")}
    found = [
        by_unit[unit].dollars("price") if unit in by_unit else None for unit in ("per M input tokens", "per M output tokens")
    ]
    return found[0], found[1]


def _prices_of_hosts(item: Item) -> Prices:
    """The Hugging Face router's: what the dearest of its hosts takes, since any of them may answer."""
    pricing = [each.inner("pricing") for each in live_hosts(item)]
    sides = [[each.dollars(side) for each in pricing if side in each.fields] for side in ("input", "output")]
    known = [max((price for price in side if price is not None), default=None) for side in sides]
    return known[0], known[1]


def free_of(item: Item, served_id: str, provider: str, prices: Prices) -> str:
    if _on_this_machine(item) and provider != OLLAMA_SITE:
        return LOCAL
    pricing = mapping(item.fields.get("pricing"))
    # What a call costs beside its tokens; one that cannot be read is not nothing.
    if any(pricing.get(key) is not None and numeric(pricing[key]) != 0 for key in ("request", "image")):
        return UNKNOWN
    hosts = live_hosts(item)
    if hosts and all(each.fields.get("is_free") is True for each in hosts):
        return ZERO
    # Together lists what it serves on machines one rents at 0 as well; its free models say so in their names.
    if "hourly" in pricing and not served_id.lower().endswith("-free"):
        return UNKNOWN
    return free_by_price(provider, *prices)


def _on_this_machine(item: Item) -> bool:
    fields = item.fields
    if is_of_ollama(fields):
        return not fields.get("remote_host")
    return is_of_lm_studio(fields) or "n_ctx_train" in mapping(fields.get("meta"))
