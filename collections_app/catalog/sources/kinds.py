"""What a listed model is, and in what way it is free: one rule for every source.

Judges names and prices; reads no listing and no row.
"""

import re

from collections_app.families import is_router

Words = frozenset[str]

CHAT, ROUTER, DECISION, OTHER = "chat", "router", "decision", "other"
UNKNOWN, ZERO, QUOTA, PLAN, LOCAL = "", "zero", "quota", "plan", "local"

# Words in an id that no chat model has, whatever its listing says of it.
_NO_CHAT = re.compile(
    r"(?<![a-z])(?:(?:text-?)?embed(?:ding|dings|der)?|bge|gte|minilm|mxbai|rerank(?:er)?|colbert|whisper|tts|stt|asr|transcribe|"
    r"parakeet|orpheus|kokoro|speech|moderation|(?:llama|shield|prompt|safe|nemo)?-?guard(?:ian)?|[a-z]+guard|safeguard|"
    r"shieldgemma|content-safety|dall-e|stable-diffusion|sdxl|flux|imagen|seedream|veo|sora|lyria|wan|ocr|realtime|clip|siglip)(?![a-z])"
)
# And words that tell where a listing says nothing of what comes out.
_OTHER_OUTPUT = re.compile(r"(?<![a-z])(?:image|images|video|audio|voice|music|live)(?![a-z])")

# Providers of models.dev that subscribers pay for as a whole: price 0 there means "in the plan".
_PLAN = re.compile(r"(?:^|-)(?:plan|pass)(?:-|$)|-for-coding$|^github-copilot$|^gitlab$")


def kind_of(served_id: str, outputs: Words | None = None, inputs: Words | None = None) -> str:
    """Return CatalogEntry's kind. `outputs` and `inputs`: what goes in and out by the source's word, if it says so."""
    if outputs and outputs & {"decisions", "decision"}:
        return DECISION
    if is_router(served_id):
        return ROUTER
    name = served_id.lower().replace("_", "-").rpartition("/")[2]
    if _NO_CHAT.search(name) or (outputs and "text" not in outputs) or (inputs and "text" not in inputs):
        return OTHER
    return OTHER if not outputs and _OTHER_OUTPUT.search(name) else CHAT


def plan_like(provider: str) -> bool:
    """Whether a provider, by its id in models.dev, is a subscription: its price of 0 is no free model."""
    return _PLAN.search(provider) is not None


def free_by_price(provider: str, price_in: float | None, price_out: float | None, *, local: bool = False) -> str:
    """Return CatalogEntry's `free` as far as a price tells it: a model with a price may have a free quota all the same."""
    if local and not price_in and not price_out:
        return LOCAL
    if price_in != 0 or price_out != 0:
        return UNKNOWN
    return PLAN if plan_like(provider) else ZERO
