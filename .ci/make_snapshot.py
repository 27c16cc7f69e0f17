"""Make collections_app/catalog/shipped/*.json from the real documents: every provider, and of their models what is free.

    PYTHONPATH=. python .ci/make_snapshot.py api.json latest.json

api.json is https://models.dev/api.json, latest.json https://api.freellmapi.co/v1/latest. Write their dates into
shipped/README.md. One provider or model a line, so that the next snapshot's changes can be read.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from collections_app.catalog.snapshot import SHIPPED
from collections_app.catalog.sources.freellmapi import PROVIDERS

OF_A_PROVIDER = ("id", "name", "api", "npm", "env", "doc")
OF_A_MODEL = ("id", "name", "family", "tool_call", "modalities", "limit", "cost", "release_date", "status")
OF_A_ROUTE = ("platform", "modelId", "displayName", "limits", "contextWindow", "enabled", "supportsVision", "supportsTools")
OF_A_QUIRK = ("slug", "title", "body", "targets")
OF_COST = ("input", "output")


def main(api: str, latest: str) -> None:
    providers, routes = json.loads(Path(api).read_text()), json.loads(Path(latest).read_text())
    quotas = {(known_as, route["modelId"]) for route in routes["models"] for known_as in names_of(route["platform"])}
    lines = [f"{json.dumps(key)}: {{{', '.join(provider_lines(key, row, quotas))}}}" for key, row in sorted(providers.items())]
    (SHIPPED / "models_dev.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    document = {
        "version": routes["version"],
        "models": [kept(route, OF_A_ROUTE) for route in routes["models"]],
        "quirks": [kept(quirk, OF_A_QUIRK) for quirk in routes["quirks"]],
    }
    parts = [f'"version": {json.dumps(document["version"])}', *(listing(name, document[name]) for name in ("models", "quirks"))]
    (SHIPPED / "freellmapi.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


def provider_lines(key: str, row: Mapping[str, Any], quotas: set[tuple[str, str]]) -> Iterator[str]:
    """Yield a provider's own fields, then its models that are free, one a line."""
    for name, value in kept(row, OF_A_PROVIDER).items():
        yield f"{json.dumps(name)}: {json.dumps(value)}"
    free = {name: model for name, model in sorted(row["models"].items()) if is_free(model) or (key, name) in quotas}
    models = [f"\n  {json.dumps(name)}: {compact({**kept(model, OF_A_MODEL), **cost(model)})}" for name, model in free.items()]
    yield f'"models": {{{",".join(models)}}}'


def is_free(model: Mapping[str, Any]) -> bool:
    cost = model.get("cost") or {}
    return cost.get("input") == cost.get("output") == 0 and "text" in model["modalities"]["output"]


def cost(model: Mapping[str, Any]) -> dict[str, Any]:
    return {"cost": kept(model["cost"], OF_COST)} if "cost" in model else {}


def names_of(platform: str) -> tuple[str, ...]:
    return PROVIDERS.get(platform, (platform,))


def kept(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if name in row}


def listing(name: str, rows: Any) -> str:
    return f"{json.dumps(name)}: [\n" + ",\n".join(f"  {compact(row)}" for row in rows) + "\n]"


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
