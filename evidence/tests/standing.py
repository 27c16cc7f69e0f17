"""Records to rank: calls of a model that ended, some of them judged; and a table that is sent in parts."""

from typing import Any

from asgiref.sync import async_to_sync

from evidence.models import Panel
from evidence.services import record_verdict
from evidence.tests.rows import end, make_panel


def judged(alias: str, useful: int, not_useful: int = 0, unjudged: int = 0, seat: str = "member1", **panel: Any) -> list[Panel]:
    """Ask a model alone, as often as that, and judge it so; returns the panels."""
    panels = []
    for number in range(useful + not_useful + unjudged):
        made = make_panel((seat, alias), **panel)
        call = end(made, seat)
        if number < useful + not_useful:
            record_verdict(call_id=call, given_by="local", useful=number < useful)
        panels.append(made)
    return panels


def judge(panel: Panel, seat_name: str, useful: bool = True, **claims: list[str]) -> None:
    record_verdict(call_id=f"{panel.panel_id}.{seat_name}", given_by="local", useful=useful, **claims)


def body_of(response: Any) -> str:
    """What a streamed response comes to, read as a server reads it."""

    async def read() -> bytes:
        return b"".join([part async for part in response])

    return async_to_sync(read)().decode()
