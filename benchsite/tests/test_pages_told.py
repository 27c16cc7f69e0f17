"""Of a panel that changes, other processes are told whether or not a page of this one listens."""

import asyncio
from typing import Any

import pytest
from channels.layers import InMemoryChannelLayer

from benchsite.processes import pages
from benchsite.processes.pages import PagesLayer
from evidence import live


class Relay:
    """Takes the place of Redis: what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, _: str, message: dict[str, Any]) -> None:
        self.told.append(message["panel"])


def test_other_processes_are_told_where_no_page_of_this_one_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    relay, layer = Relay(), PagesLayer(redis_url="redis://none")
    monkeypatch.setattr(pages, "_Relay", lambda *_: relay)
    monkeypatch.setattr(live, "get_channel_layer", lambda _: layer)
    asyncio.run(live.announce("p1"))
    assert relay.told == ["p1"]


def test_a_page_that_listens_hears_of_a_panel_and_one_that_has_gone_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = InMemoryChannelLayer()
    monkeypatch.setattr(live, "get_channel_layer", lambda _: layer)

    async def story() -> str:
        await live.announce("before")
        heard = live.changes()
        first = asyncio.ensure_future(anext(heard))
        await asyncio.sleep(0)
        await live.announce("while it listens")
        said = await first
        await heard.aclose()
        await live.announce("after")
        return said

    assert asyncio.run(story()) == "while it listens"
    assert not layer.groups
