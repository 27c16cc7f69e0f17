"""A large bench to measure pages with: 2,000 models, and 200,000 calls over half a year with their verdicts.

The same rows for the same seed. They are written past the services, since those write one panel at a time.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any

from django.utils import timezone

from collections_app.models import Alert, Collection, CoolDown, Endpoint, Fact, LanguageModel, Membership, Shape
from evidence.counting.claims import unique_of
from evidence.counting.tallies import make_again
from evidence.models import Call, Panel, Verdict

ENDPOINTS, MODELS, COLLECTIONS, CALLS, DAYS = 20, 2_000, 24, 200_000, 180
BATCH = 2_000
JUDGED = 0.25
# How a call ends, and how often.
ENDINGS = (("ok", 90), ("error", 7), ("empty", 3))
KINDS = ("rate_limited", "timeout", "overloaded", "unavailable", "bad_reply")
ROLES = (("general", 6), ("code", 2), ("light", 2), ("vision", 1))
CLAIMS = [f"line {number} reads before the lock is held" for number in range(1, 400)]
ANSWER = "The cache is filled before the lock is taken, so two writers may both find it empty. " * 14


@dataclass(frozen=True, slots=True)
class Bench:
    models: list[LanguageModel]
    collections: list[tuple[Collection, list[LanguageModel]]]
    shapes: list[str]


def fill(calls: int = CALLS, models: int = MODELS, seed: int = 1) -> Bench:
    """Fill an empty, migrated database."""
    chance = random.Random(seed)
    bench = _roster(chance, models)
    now = timezone.now()
    panels = _panels(bench, calls, chance, now)
    while batch := list(islice(panels, BATCH)):
        write(batch, chance)
    make_again()
    _health(bench, now)
    return bench


def _roster(chance: random.Random, models: int) -> Bench:
    endpoints = Endpoint.objects.bulk_create(
        Endpoint(name=f"place-{number}", base_url=f"https://place-{number}.example/v1") for number in range(ENDPOINTS)
    )
    rows = LanguageModel.objects.bulk_create(
        LanguageModel(
            alias=f"model-{number:04}",
            endpoint=endpoints[number % ENDPOINTS],
            served_id=f"maker-{number % 70}/line-{number % 400}-{number}:free",
            family=[f"line-{number % 400}"],
            role=_one_of(ROLES, chance),
        )
        for number in range(models)
    )
    shapes = list(Shape.objects.order_by("name"))
    collections = []
    for number in range(COLLECTIONS):
        made = Collection.objects.create(
            name=f"group-{number}", description="For one kind of work.", shape=shapes[number % len(shapes)]
        )
        members = [rows[(number * 3 + place) % models] for place in range(3)]
        Membership.objects.bulk_create(
            Membership(collection=made, language_model=member, position=place) for place, member in enumerate(members)
        )
        collections.append((made, members))
    return Bench(rows, collections, [shape.name for shape in shapes])


def _panels(bench: Bench, calls: int, chance: random.Random, now: datetime) -> Iterator[tuple[Panel, list[Call]]]:
    """Panels, the oldest first, each with three members, two explorers and at times a merger."""
    # Five seats, and a merger in one of ten.
    written, number, panels = 0, 0, calls * 10 // 51
    while written < calls:
        collection, members = bench.collections[int(len(bench.collections) * chance.random() ** 2)]
        merged = chance.random() < 0.1
        at = now - timedelta(days=DAYS) * max(0.0, 1 - number / panels) - timedelta(seconds=chance.random() * 60)
        panel = panel_of(number, collection, "merged" if merged else "all", at)
        seats = [(f"member{place}", model) for place, model in enumerate(members, 1)]
        seats += [(f"explorer{place}", chance.choice(bench.models)) for place in (1, 2)]
        seats += [("merger", members[0])] if merged else []
        yield panel, [call_of(panel, seat_name, model, chance) for seat_name, model in seats]
        written, number = written + len(seats), number + 1


def panel_of(number: int, collection: Collection, reply: str, at: datetime) -> Panel:
    return Panel(
        panel_id=f"p{at:%Y%m%d-%H%M%S}-{number:04x}",
        asked_at=at,
        asked_by="local" if number % 3 else "app",
        format="openai_chat",
        collection=collection,
        collection_name=collection.asked_as,
        shape=collection.shape.name if collection.shape else "general",
        shape_by="set on the collection",
        reply=reply,
        request=f"user: Is there a race in file {number}?",
        prompt_tokens=400,
    )


def call_of(panel: Panel, seat_name: str, model: LanguageModel, chance: random.Random) -> Call:
    status, seconds = _one_of(ENDINGS, chance), chance.lognormvariate(2, 0.8)
    return Call(
        panel=panel,
        seat_name=seat_name,
        language_model=model,
        alias=model.alias,
        endpoint_name=model.endpoint.name,
        served_id=model.served_id,
        shape=panel.shape,
        asked_at=panel.asked_at,
        status=status,
        error_kind=chance.choice(KINDS) if status == "error" else "",
        error="The endpoint did not answer." if status == "error" else "",
        answer=ANSWER if status == "ok" else "",
        seconds=seconds,
        first_token_seconds=seconds / 5,
        input_tokens=400,
        output_tokens=300,
        ended_as=1,
    )


def write(batch: list[tuple[Panel, list[Call]]], chance: random.Random) -> None:
    """Write panels and their calls, which have ended, with verdicts on some."""
    Panel.objects.bulk_create([panel for panel, _ in batch])
    calls = Call.objects.bulk_create([call for _, seats in batch for call in seats])
    verdicts = [_verdict(call, chance) for call in calls if call.status == "ok" and chance.random() < JUDGED]
    for _, together in groupby(verdicts, key=lambda verdict: verdict.call.panel_id):
        seats = [verdict for verdict in together if verdict.call.seat_name != "merger"]
        for verdict, finds in zip(seats, unique_of([verdict.real for verdict in seats]), strict=True):
            verdict.unique_finds = finds
    Verdict.objects.bulk_create(verdicts)


def _verdict(call: Call, chance: random.Random) -> Verdict:
    # Each model has a worth of its own, so that there is something to rank.
    useful = chance.random() < 0.2 + (hash_of(call.alias) % 70) / 100
    claims = chance.sample(CLAIMS, 2)
    return Verdict(
        call=call,
        useful=useful,
        real=claims[:1] if useful else [],
        false=claims[1:] if chance.random() < 0.3 else [],
        given_by="local",
        given_at=call.asked_at,
    )


def _health(bench: Bench, now: datetime) -> None:
    Fact.objects.bulk_create(
        Fact(endpoint=model.endpoint, served_id=model.served_id, field=field, source=source, value=value, known_since=now)
        for model in bench.models
        for field, source, value in (
            ("context_window", "models_dev", 131_072),
            ("requests_per_day", "freellmapi", 1_000),
            ("free", "openrouter", "free"),
        )
    )
    CoolDown.objects.bulk_create(
        CoolDown(
            endpoint=model.endpoint, served_id=model.served_id, until=now + timedelta(hours=2), since=now, why="429: slow down"
        )
        for model in bench.models[:40]
    )
    Alert.objects.bulk_create(
        Alert(
            kind="gone",
            endpoint=model.endpoint,
            about=model.served_id,
            message="Two requests said that it is gone.",
            to_do="Retire it.",
            opened_at=now,
        )
        for model in bench.models[:200:10]
    )


def _one_of(weighted: Any, chance: random.Random) -> str:
    names, weights = zip(*weighted, strict=True)
    return str(chance.choices(names, weights)[0])


def hash_of(text: str) -> int:
    """A number for a text, the same in every process."""
    return sum(position * ord(letter) for position, letter in enumerate(text, 1))
