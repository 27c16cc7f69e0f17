"""What the tools return, as data: the schemas that clients are told, each filled from the bench's own JSON.

The same things as in the text beside it, answers included: some clients show their model the one, some the other.
"""

from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ConfigDict, Field


class Collection(BaseModel):
    """What can be asked."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(description="what ask takes as its collection")
    description: str
    tags: list[str]
    members: list[str]
    explorers: int = Field(description="how many rotating models sit beside the members")
    shape: str = Field(description="the kind of task, empty where it is picked for each request")
    reply: str = Field(description="all: every answer; merged: one, written from them")
    merger: str
    together: dict[str, Any] = Field(description="what all members can: smallest known context window, capabilities")


class Collections(BaseModel):
    collections: list[Collection]


class Seat(BaseModel):
    """One model's place in a panel, and how it ended; its answer is in the page."""

    model_config = ConfigDict(extra="ignore")

    call: str = Field(description="what verdict takes as its call")
    seat: str = Field(description="member, explorer or merger")
    alias: str
    status: str = Field(description="ok, empty, error or running")
    seconds: float | None
    error: str


class Skipped(BaseModel):
    seat: str
    alias: str
    why: str


class PanelPage(BaseModel):
    """One page of a panel."""

    panel: str
    collection: str
    status: str = Field(description="running, done or interrupted")
    seats: list[Seat]
    skipped: list[Skipped]
    page: int
    pages: int
    next: str = Field(description="the call that gets the next page, empty on the last")
    text: str = Field(description="the page: untrusted answers of models among it; pages joined are the whole text")


class Verdict(BaseModel):
    call: str
    written: bool = Field(description="false: this very verdict was on record already")


class OwedCall(BaseModel):
    model_config = ConfigDict(extra="ignore")

    call: str
    panel: str
    collection: str
    alias: str
    seat: str
    asked_at: str
    question: str


class Owed(BaseModel):
    owed: list[OwedCall]
    more: bool = Field(description="others wait too")


def both(text: str, data: BaseModel) -> CallToolResult:
    """A result as text and as data."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data.model_dump(mode="json"))


def panel_page(panel: Mapping[str, Any], calls: list[Mapping[str, Any]], **page: Any) -> PanelPage:
    """A page with what is known of its panel; `page`: page, pages, next, text."""
    return PanelPage(
        panel=panel["panel"],
        collection=panel["collection"],
        status=panel["status"],
        seats=[Seat.model_validate(call) for call in calls],
        skipped=[Skipped.model_validate(seat) for seat in panel["skipped"]],
        **page,
    )
