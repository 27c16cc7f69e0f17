"""What a listed model is and can do: chat or not, images, tools. Rows come as shapes.plain gives them."""

from collections_app.catalog.reading import Item, mapping
from collections_app.catalog.sources.kinds import DECISION, OTHER, Words, kind_of
from collections_app.catalog.sources.listing.shapes import is_of_lm_studio, is_of_ollama, live_hosts

# What a row's `type` or `mode` says of a model that answers no chat.
OTHER_TYPES = frozenset(
    {
        *("image", "images", "image-generation", "image_generation", "inpaint", "upscale", "video", "video_generation"),
        *("embedding", "embeddings", "moderation", "moderations", "rerank", "reranker"),
        *("audio", "audio_speech", "audio_transcription", "speech", "transcribe", "transcription", "tts", "stt", "asr"),
    }
)
SEES = frozenset({"vision", "multimodal", "image", "image-input"})
CALLS_TOOLS = frozenset({"tools", "tool_use", "tool-calling", "tool_calling", "function_calling", "function-calling"})


def kind(item: Item, served_id: str) -> str:
    fields, can = item.fields, _can(item)
    if "decision" in can:
        return DECISION
    methods, ends = item.words("supportedGenerationMethods"), item.words("endpoints")
    chats = (
        not {item.text(key).lower() for key in ("type", "mode")} & OTHER_TYPES,
        methods is None or "generatecontent" in methods,
        not ends or "chat" in ends,
        mapping(fields.get("capabilities")).get("completion_chat") is not False,
        item.inner("task").text("name") in ("", "Text Generation"),
        "embedding" not in can or "completion" in can,
    )
    return kind_of(served_id, _modalities(item, "output"), _modalities(item, "input")) if all(chats) else OTHER


def vision(item: Item) -> bool | None:
    inputs = _modalities(item, "input")
    if inputs is not None:
        return "image" in inputs
    able = item.inner("capabilities")
    told = (item.flag("supports_vision"), able.flag("vision"), able.inner("image_input").flag("supported"), item.flag("vision"))
    for flag in (*told, able.flag("supportsVision")):
        if flag is not None:
            return flag
    if is_of_lm_studio(item.fields):
        return item.fields.get("type") == "vlm"
    can = _can(item)
    return bool(can & SEES) if can & SEES or "completion" in can or item.words("features") else None


def tools(item: Item) -> bool | None:
    able = item.inner("capabilities")
    told = (item.flag("supports_function_calling"), able.flag("function_calling"), able.flag("trained_for_tool_use"))
    for flag in (*told, item.flag("function_calling"), able.flag("supportsFunctionCalling")):
        if flag is not None:
            return flag
    hosts = [each.flag("supports_tools") for each in live_hosts(item)]
    if any(flag is not None for flag in hosts):
        return any(hosts)
    can, parameters = _can(item), item.words("supported_parameters")
    # A list of abilities is complete where tools are known to be among them.
    complete = any(item.words(key) for key in ("supported_parameters", "features", "supported_features"))
    if complete or (is_of_ollama(item.fields) and "completion" in can) or can & CALLS_TOOLS:
        return bool((can | (parameters or frozenset())) & CALLS_TOOLS)
    return None


def _can(item: Item) -> Words:
    """What lists of words say that it can do."""
    return frozenset[str]().union(*(item.words(key) or () for key in ("capabilities", "features", "supported_features")))


def _modalities(item: Item, side: str) -> Words | None:
    """What goes in or comes out; None when the row does not say."""
    for where in (item, item.inner("architecture")):
        for key in (f"{side}_modalities", f"supported_{side}_modalities"):
            if (words := where.words(key)) is not None:
                return words
    if (words := item.inner("modalities").words(side)) is not None:
        return words
    before, arrow, after = item.inner("architecture").text("modality").lower().partition("->")
    return frozenset((before if side == "input" else after).split("+")) if arrow else None
