"""Rows to test with: `core` has asked fast and slow; the panel's seats are running until they are ended."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from collections_app.models import Endpoint, LanguageModel
from evidence.models import Panel
from evidence.selectors import staleness
from evidence.services import PlannedSeat, record_calls, record_panel

_numbers = count()


@dataclass(frozen=True, kw_only=True)
class Ended:
    """An EndedCall."""

    call: str
    status: str = "ok"
    error_kind: str = ""
    error: str = ""
    answer: str = "No stale read."
    partial: str = ""
    reasoning: str = ""
    finish_reason: str = "stop"
    served_model: str = ""
    seconds: float = 1.5
    first_token_seconds: float | None = 0.25
    input_tokens: int | None = 10
    output_tokens: int | None = 200
    upstream_status: int | None = 200


def make_model(alias: str) -> LanguageModel:
    endpoint, _ = Endpoint.objects.get_or_create(name="mock", defaults={"base_url": "http://127.0.0.1:9/v1"})
    return LanguageModel.objects.get_or_create(alias=alias, defaults={"endpoint": endpoint, "served_id": alias})[0]


def make_panel(*seats: tuple[str, str], minutes_ago: float = 0, at: datetime | None = None, **panel: Any) -> Panel:
    """Record a panel of (seat name, alias) pairs, still running."""
    number = next(_numbers)
    planned = [
        PlannedSeat(
            seat_name=seat_name,
            language_model_id=make_model(alias).pk,
            alias=alias,
            endpoint_name="mock",
            served_id=alias,
        )
        for seat_name, alias in seats or [("member1", "fast"), ("explorer1", "slow")]
    ]
    defaults = {
        "panel_id": f"p20260102-150405-{number:04x}",
        "asked_at": at or timezone.now() - timedelta(minutes=minutes_ago),
        "asked_by": "local",
        "format": "openai_chat",
        "collection_name": "bench/core",
        "shape": "general",
        "shape_by": "set on the collection",
        "reply": "all",
        "request": "user: Is there a race here?",
        "prompt_tokens": 8,
        "skipped": [],
        "ignored": [],
    }
    return Panel.objects.get(pk=record_panel(seats=planned, **{**defaults, **panel}))


def end(panel: Panel, seat_name: str = "member1", **ending: Any) -> str:
    """End one call of a panel; returns its id."""
    call_id = f"{panel.panel_id}.{seat_name}"
    record_calls([Ended(call=call_id, **ending)])
    return call_id


def asked_on(shape: str, language_model_ids: Collection[int]) -> dict[int, tuple[datetime | None, int]]:
    """When each model was last asked on a shape, and how often."""
    found = staleness(shape, language_model_ids)
    calls = found.calls(language_model_ids)
    return {pk: (last_asked, calls[pk]) for pk, last_asked in found.last_asked.items()}
