"""Benches as files, for servers under test: every model of one endpoint, families apart unless said."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def bench_file(base_url: str, models: Mapping[str, Mapping[str, Any]], collections: Mapping[str, Sequence[str]]) -> str:
    """Return the TOML of a bench. A model is an alias and what differs from the plain; a collection, its members."""
    lines = ["[endpoints.fake]", 'protocol = "openai_chat"', f'base_url = "{base_url}"']
    for alias, fields in models.items():
        plain = {"endpoint": "fake", "model": alias, "family": [alias]}
        lines += [f'[models."{alias}"]', *_pairs(plain | dict(fields))]
    for name, members in collections.items():
        lines += [
            f"[collections.{name}]",
            f"members = {json.dumps(list(members))}",
            f'description = "For {name}"',
            'tags = ["test"]',
        ]
    return "\n".join(lines)


def _pairs(fields: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
