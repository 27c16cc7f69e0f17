"""Documents as public catalogs publish them, small, and where the real ones are when they are at hand."""

import json
from typing import Any

from django.conf import settings

DATA = settings.BASE_DIR.parent / "shared" / "data"
SAMPLES = settings.BASE_DIR / "collections_app" / "tests" / "samples"


def as_json(document: Any) -> bytes:
    return json.dumps(document).encode()


def models_dev(**model: Any) -> bytes:
    """models.dev's document with one provider and one model; `model` is written over the model's fields."""
    return as_json({"groq": provider({"llama-3.3-70b": {**a_model(), **model}})})


def provider(models: Any, **fields: Any) -> dict[str, Any]:
    row = {"id": "groq", "name": "Groq", "npm": "@ai-sdk/groq", "env": ["GROQ_API_KEY"], "doc": "https://groq.example/docs"}
    return {**row, "models": models, **fields}


def a_model() -> dict[str, Any]:
    return {
        "name": "Llama 3.3",
        "family": "llama",
        "tool_call": True,
        "release_date": "2024-12-06",
        "modalities": {"input": ["text"], "output": ["text"]},
        "limit": {"context": 131_072, "output": 32_768},
        "cost": {"input": 0.59, "output": 0.79},
    }


def freellmapi(*models: Any, quirks: Any = ()) -> bytes:
    return as_json({"version": "2026.08.22", "models": list(models), "quirks": list(quirks)})


def a_route(**fields: Any) -> dict[str, Any]:
    row = {
        "platform": "groq",
        "modelId": "openai/gpt-oss-120b",
        "displayName": "GPT-OSS 120B (Groq)",
        "limits": {"rpm": 30, "rpd": 1000, "tpm": 8000, "tpd": 200_000},
        "contextWindow": 131_072,
        "enabled": True,
        "supportsVision": False,
        "supportsTools": True,
    }
    return {**row, **fields}
