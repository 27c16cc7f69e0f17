"""A panel as it is written down: under an id of its own, and each seat asked with the time-outs nearest to it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from collections_app.models import Collection, Endpoint, LanguageModel
from evidence.models import Call, Panel
from evidence.tests.rows import make_model
from gateway.chat import ChatRequest, Message, TextPart
from gateway.panel import record
from gateway.panel.record import write_down
from gateway.panel.request import Request
from gateway.panel.seating import Table
from gateway.panel.shape import ChosenShape
from gateway.reply import AskedPanel
from gateway.workers.target import target_of
from keys.services import LOCAL

TIMEOUTS = ("connect_timeout", "first_token_timeout", "seat_timeout")


def ask() -> AskedPanel:
    chat = ChatRequest(format="openai_chat", model="bench/core", messages=(Message("user", (TextPart("Is it?"),)),))
    collection, _ = Collection.objects.get_or_create(name="core")
    table = Table(images=0, tokens=2, members=[make_model("fast")])
    return write_down(Request(chat, LOCAL, "http://bench"), collection, ChosenShape("general", "x", ("general",)), table, "all")


def draws(monkeypatch: pytest.MonkeyPatch, *ids: str) -> None:
    """Have these ids drawn, all in one second."""
    monkeypatch.setattr(record.timezone, "now", lambda: datetime(2026, 1, 2, 15, 4, 5, tzinfo=UTC))
    drawn = iter(ids)
    monkeypatch.setattr(record.random, "getrandbits", lambda _: int(next(drawn), 16))


@pytest.mark.django_db
def test_an_id_that_is_taken_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    draws(monkeypatch, "aaaa", "aaaa", "aaaa", "bbbb")
    assert [ask().id, ask().id] == ["p20260102-150405-aaaa", "p20260102-150405-bbbb"]
    assert sorted(Panel.objects.values_list("panel_id", flat=True)) == ["p20260102-150405-aaaa", "p20260102-150405-bbbb"]
    assert sorted(Call.objects.values_list("panel__panel_id", "seat_name")) == [
        ("p20260102-150405-aaaa", "member1"),
        ("p20260102-150405-bbbb", "member1"),
    ]


def timeouts(model: dict[str, float], endpoint: dict[str, float]) -> dict[str, float]:
    plain: dict[str, Any] = {"name": "mock", "base_url": "http://127.0.0.1:9/v1"}
    target = target_of(LanguageModel(alias="fast", served_id="fast", endpoint=Endpoint(**plain, **endpoint), **model))
    return {name: getattr(target, name) for name in TIMEOUTS}


@pytest.mark.parametrize("name", TIMEOUTS)
def test_a_models_own_timeout_comes_before_its_endpoints_and_that_before_the_sites(name: str, settings: Any) -> None:
    settings.BENCH_CONNECT_TIMEOUT, settings.BENCH_FIRST_TOKEN_TIMEOUT, settings.BENCH_SEAT_TIMEOUT = 7.0, 8.0, 9.0
    sites = dict(zip(TIMEOUTS, (7.0, 8.0, 9.0), strict=True))
    assert timeouts({}, {}) == sites
    assert timeouts({}, {name: 2.0}) == sites | {name: 2.0}
    assert timeouts({name: 1.0}, {}) == sites | {name: 1.0}
    # A longer one of its own counts too: it is the nearest, not the shortest.
    for own in (1.0, 30.0):
        assert timeouts({name: own}, {name: 2.0}) == sites | {name: own}
