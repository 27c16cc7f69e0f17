"""What the predecessor's files say, as values of no one's words: they compare by content and hold no row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OldEndpoint:
    """`key_name` is what its key is called, never the key; `decisions_url` may hold {path}. `told`: what to know about it."""

    name: str
    base_url: str
    protocol: str
    key_name: str = ""
    decisions_url: str = ""
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OldModel:
    """One alias there; `retired_why` is set where the bench itself retired it, `retired` says when and why in any case."""

    alias: str
    endpoint: str
    served_id: str
    role: str = "general"
    ad_hoc: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    retired: str = ""
    retired_why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldDecisionModel:
    alias: str
    endpoint: str
    served_id: str
    path: str
    question_types: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OldCollection:
    name: str
    members: tuple[str, ...]
    description: str
    tags: tuple[str, ...]
    shape: str
    reply: str
    merger: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OldKey:
    """`collections`: None for every one, else those it may ask, perhaps none. `digest` is the SHA-256 of the key's text."""

    name: str
    digest: str
    last_four: str
    collections: tuple[str, ...] | None
    rpm: int | None
    created_at: datetime | None
    last_used_at: datetime | None
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSeat:
    """How one seat of a panel ended."""

    seat_name: str
    alias: str
    status: str
    seconds: float | None
    answer: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldVerdict:
    """A judgement of one seat; `place` is the line that it stands in."""

    place: int
    useful: bool
    note: str
    real: tuple[str, ...]
    false: tuple[str, ...]
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OldPanel:
    """One request and its seats; not `whole` where no more is known of it than its offloads tell."""

    panel_id: str
    asked_at: datetime
    asked_by: str
    collection: str
    shape: str
    shape_by: str
    request: str
    seats: tuple[OldSeat, ...]
    skipped: tuple[Mapping[str, str], ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OldOffload:
    """One line of the offloads. `panel_id` and `seat_name` are those of its call, empty where none was named."""

    line: int
    panel_id: str
    seat_name: str
    alias: str
    at: datetime
    task: str
    note: str
    useful: bool | None
    real: tuple[str, ...]
    false: tuple[str, ...]
