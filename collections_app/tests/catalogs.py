"""Catalogs as their sources send them, made of the few fields that a test is about."""

import json
from typing import Any

OSS = "openai/gpt-oss-120b"
# An endpoint's listing of one model at these prices, per token as OpenRouter writes them.
Model = dict[str, Any]


def models_dev(**providers: dict[str, Model]) -> bytes:
    """models.dev's document: models by id, by provider; `_` in a provider's name is a dash."""
    return json.dumps(
        {name.replace("_", "-"): _provider(name.replace("_", "-"), models) for name, models in providers.items()}
    ).encode()


def _provider(name: str, models: dict[str, Model]) -> dict[str, Any]:
    text = {"input": ["text"], "output": ["text"]}
    return {"id": name, "models": {id_: {"id": id_, "name": id_, "modalities": text, **model} for id_, model in models.items()}}


def costing(price_in: float, price_out: float) -> Model:
    """A model of models.dev at these USD per million tokens."""
    return {"cost": {"input": price_in, "output": price_out}}


def listing(*models: Model) -> bytes:
    """A list as OpenRouter and most endpoints send it."""
    return json.dumps({"object": "list", "data": models}).encode()


def openrouter(id_: str, price: str = "0", **fields: Any) -> Model:
    text = {"input_modalities": ["text"], "output_modalities": ["text"]}
    return {"id": id_, "name": id_, "architecture": text, "pricing": {"prompt": price, "completion": price}, **fields}


def freellmapi(*models: Model, version: str = "2026.08.22", quirks: tuple[Model, ...] = ()) -> bytes:
    return json.dumps({"version": version, "platforms": [], "models": models, "quirks": quirks}).encode()
