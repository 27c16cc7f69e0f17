"""A data folder as Benchwarmers, the file-based predecessor, leaves one after a year; the same each time."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PANELS, OFFLOADS, MODELS, ENDPOINTS, COLLECTIONS = 10_000, 50_000, 60, 6, 8
SEATS = ("member1", "member2", "member3", "explorer")
SHAPES = ("general", "review", "code", "design")
FIRST = datetime(2026, 1, 1, 8, tzinfo=UTC)
EVERY = timedelta(minutes=50)
JUDGED = 0.13
ANSWER = "The cache is filled before the lock is taken, so two writers may both find it empty. " * 14
PROMPT = "Is there a race between these two writers? " * 20


@dataclass(frozen=True, slots=True)
class Written:
    """How many lines there are of each log."""

    panels: int
    offloads: int


def write_folder(folder: Path, panels: int = PANELS, offloads: int = OFFLOADS) -> Written:
    """Write a folder of so many panels and lines of offloads, four of which each panel has."""
    _write_config(folder / "config")
    for name in ("metrics", "runs/gateway"):
        (folder / name).mkdir(parents=True)
    chance = random.Random(7)
    lines = 0
    calls_path, offloads_path = folder / "runs/gateway/calls.jsonl", folder / "metrics/offloads.jsonl"
    with calls_path.open("w", encoding="utf-8") as calls, offloads_path.open("w", encoding="utf-8") as log:
        for number in range(panels):
            panel = _panel(number, chance)
            calls.write(json.dumps(panel, ensure_ascii=False) + "\n")
            for offload in _offloads(panel, chance):
                log.write(json.dumps(offload) + "\n")
                lines += 1
        for number in range(max(0, offloads - lines)):
            log.write(json.dumps(_by_hand(number, chance)) + "\n")
    return Written(panels, max(lines, offloads))


def _write_config(folder: Path) -> None:
    folder.mkdir(parents=True)
    names = [f"place-{number}" for number in range(ENDPOINTS)]
    places = {name: {"base": f"https://{name}.example/v1", "key": name, "kind": "provider"} for name in names}
    registry = "".join(
        f"\n- model_id: model-{number}\n  model_name: maker/line-{number}\n"
        f'  api_base: "https://{names[number % ENDPOINTS]}.example/v1"\n  api_key_name: {names[number % ENDPOINTS]}\n'
        for number in range(MODELS)
    )
    collections = {
        f"group-{number}": {
            "members": [f"model-{(number * 3 + seat) % MODELS}" for seat in range(3)],
            "shape": SHAPES[number % 4],
            "description": "For one kind of work",
            "tags": [],
            "reply": "all",
            "merger": "",
        }
        for number in range(COLLECTIONS)
    }
    for name, value in (("endpoints", places), ("collections", collections), ("gateway", {"max_calls": 5, "max_explorers": 2})):
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2))
    (folder / "extra-openai-models.yaml").write_text(registry)


def _panel(number: int, chance: random.Random) -> dict[str, Any]:
    at, collection = FIRST + EVERY * number, number % COLLECTIONS
    panel_id = f"p{at:%Y%m%d-%H%M%S}-{number % 65_536:04x}"
    aliases = [f"model-{(collection * 3 + seat) % MODELS}" for seat in range(3)] + [f"model-{chance.randrange(MODELS)}"]
    return {
        "panel": panel_id,
        "at": (at + timedelta(seconds=40)).isoformat(timespec="seconds"),
        "model": f"bench/group-{collection}",
        "shape": SHAPES[collection % 4],
        "shape_by": "set on the collection",
        "key": "local" if number % 3 else "app",
        "system": "",
        "prompt": f"{number}: {PROMPT}",
        "seats": [_seat(panel_id, *pair, chance) for pair in zip(SEATS, aliases, strict=True)],
    }


def _seat(panel_id: str, seat_name: str, alias: str, chance: random.Random) -> dict[str, Any]:
    status = chance.choices(("ok", "error", "empty"), (90, 7, 3))[0]
    return {
        "call": f"{panel_id}.{seat_name}",
        "seat": seat_name.rstrip("123"),
        "alias": alias,
        "status": status,
        "answer": ANSWER if status == "ok" else "",
        "error": "the endpoint did not answer" if status == "error" else "",
        "seconds": round(chance.lognormvariate(2, 0.8), 1),
    }


def _offloads(panel: dict[str, Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    task = f"{panel['prompt'][:90]} ({panel['model']}, {panel['shape']})"
    for seat in panel["seats"]:
        said = f": {seat['error']}" if seat["error"] else ""
        note = f"{seat['seat']}; {seat['status']} in {seat['seconds']}s{said}"
        entry = {"date": panel["at"][:10], "model": seat["alias"], "task": task, "useful": None, "note": note}
        yield {**entry, "call": seat["call"]}
        if seat["status"] == "ok" and chance.random() < JUDGED:
            useful = chance.random() < 0.6
            claim = {"real" if useful else "false": [f"line {chance.randrange(400)} reads before the lock is held"]}
            yield {**entry, "useful": useful, "note": "checked", "call": seat["call"], **claim}


def _by_hand(number: int, chance: random.Random) -> dict[str, Any]:
    at = FIRST + timedelta(days=number % 300)
    judged = chance.choice((True, False, None))
    alias = f"model-{chance.randrange(MODELS)}"
    return {"date": f"{at:%Y-%m-%d}", "model": alias, "task": f"audit part {number % 500}", "useful": judged, "note": ""}
