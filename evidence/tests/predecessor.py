"""Data folders of the predecessor to move in from, and what a run of the command makes of them."""

import hashlib
import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

SAMPLE = Path(__file__).parent / "samples" / "benchwarmers"
KEYS = {
    "chat-ui": "bwk_XmxGM-1XAfz9-AMiZHKor487BYHspaMz9gCRlMs49Rk",
    "agent": "bwk_RSMlMnmp_gPN14AWMIa8Cd_TM_Luv3-Pi-0n50DM6Bk",
}
CALLS, OFFLOADS = "runs/gateway/calls.jsonl", "metrics/offloads.jsonl"
PLACE = {"base": "http://127.0.0.1:9/v1", "key": "place"}
REGISTRY = "".join(
    f'\n- model_id: {alias}\n  model_name: {alias}\n  api_base: "http://127.0.0.1:9/v1"\n  api_key_name: place\n'
    for alias in ("fast", "slow")
)
BENCH: Mapping[str, Any] = {"config/endpoints.json": {"place": PLACE}, "config/extra-openai-models.yaml": REGISTRY}


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Write files by their names: bytes and text as they are, a list as JSON lines, anything else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(content))
    return folder


def encoded(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, list):
        return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in content)
    return json.dumps(content).encode()


def a_panel(number: int = 0, **fields: Any) -> dict[str, Any]:
    panel_id = f"p20260102-1504{number % 60:02}-{number:04x}"
    seats = [a_seat(panel_id, "member1", "fast"), a_seat(panel_id, "explorer", "slow", status="empty", answer="")]
    asked = {"panel": panel_id, "at": f"2026-01-02T15:05:{number % 60:02}+00:00", "model": "bench/core", "shape": "review"}
    return {**asked, "shape_by": "set", "key": "local", "system": "", "prompt": "Is there a race?", "seats": seats, **fields}


def a_seat(panel_id: str, seat_name: str, alias: str, **fields: Any) -> dict[str, Any]:
    ended = {"status": "ok", "answer": "No stale read.", "error": "", "seconds": 1.5}
    return {"call": f"{panel_id}.{seat_name}", "seat": seat_name, "alias": alias, **ended, **fields}


def an_offload(call: str = "", useful: bool | None = None, **fields: Any) -> dict[str, Any]:
    note = "member; ok in 1.5s" if call and useful is None else ""
    entry = {"date": "2026-01-03", "model": "fast", "task": "Is it? (bench/core, review)", "useful": useful, "note": note}
    return {**entry, **({"call": call} if call else {}), **fields}


def run(folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    """Run the command; returns its report by file."""
    out = StringIO()
    call_command("import_benchwarmers", str(folder), "--json", *options, stdout=out)
    return {file["path"]: file for file in json.loads(out.getvalue())["files"]}


def counts(file: Mapping[str, Any]) -> tuple[int, int, int, int, int]:
    """Read, new, unchanged, kept, left out."""
    return file["read"], file["new"], file["unchanged"], file["kept"], file["left_out"]


def told(report: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [line for file in report.values() for line in file["told"]]


def all_rows() -> str:
    """A hash of every row of every table."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f'SELECT * FROM "{table}"')
            digest.update(repr((table, sorted(map(repr, cursor.fetchall())))).encode())
    return digest.hexdigest()
