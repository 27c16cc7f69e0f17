"""Five weeks of panels for the screenshots, the same each time but for their dates. Run by take.py in `manage.py shell`."""

import random
import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from django.utils import timezone

from benchsite.jobs.claims import set_up
from benchsite.jobs.daily import JOBS
from benchsite.models import JobRun
from collections_app.models import Alert, Collection, CoolDown, LanguageModel
from collections_app.selectors import members_of
from evidence.models import Panel
from evidence.services import PlannedSeat, record_calls, record_panel, record_verdict
from keys.services import create_key

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text())["questions"]
PANELS, DAYS = 105, 35
# The newest two are not judged yet: one that an app has asked, and before it one of the playground.
NEWEST, ASKED_HERE = PANELS - 1, PANELS - 2
SKIPPED = [{"seat": "member", "alias": "llama-scout", "why": "cooling down until 14:30:00 UTC: too many requests a minute"}]
# How good each is in these pictures, of a hundred. The real ones were not asked.
GOOD = {"gpt-oss": 92, "kimi": 85, "qwen-coder": 78, "glm": 70, "llama-scout": 60, "gemma": 50, "mistral-small": 40, "phi": 25}
CALLERS = ("editor", "ci", "local")
FORMATS = ("openai_chat", "anthropic_messages", "openai_responses")
REASONING = "The lines are short; what matters is what can happen between two of them."

chance = random.Random(7)
now = timezone.now()
models = {model.alias: model for model in LanguageModel.objects.select_related("endpoint")}
collections = {collection.name: collection for collection in Collection.objects.all()}


def fill() -> None:
    for name in ("editor", "ci"):
        create_key(name, rpm=60 if name == "ci" else None)
    for number in range(PANELS):
        fill_panel(number, now - timedelta(days=DAYS) * (1 - (number + 1) / PANELS) - timedelta(minutes=23))
    fill_health()
    fill_jobs()


def fill_panel(number: int, at: datetime) -> None:
    question = QUESTIONS[{NEWEST: 0, ASKED_HERE: 1}.get(number, number % len(QUESTIONS))]
    shape = question["shape"]
    collection = collections["review" if shape in ("review", "code") else "core"]
    skipped = SKIPPED if number % 17 == 5 and collection.name == "core" else []
    seats = list(seats_of(collection, number, {seat["alias"] for seat in skipped}))
    key = record_panel(
        seats=seats,
        panel_id=f"p{at:%Y%m%d-%H%M%S}-{chance.randrange(65536):04x}",
        asked_at=at,
        asked_by="local" if number == ASKED_HERE else CALLERS[number % 3],
        format="playground" if number == ASKED_HERE else FORMATS[number % 3],
        collection_id=collection.pk,
        collection_name=collection.asked_as,
        shape=shape,
        shape_by="set on the collection" if collection.shape else "no decision model is onboarded to pick one",
        reply="all",
        request=f"user: {question['asked']}",
        prompt_tokens=len(question["asked"]) // 3,
        skipped=skipped,
        ignored=["temperature"] if number % 4 == 0 else [],
    )
    panel = Panel.objects.get(pk=key)
    for place, seat in enumerate(seats):
        good = chance.random() * 100 < GOOD[seat.alias]
        # One of each where a picture is of the answers.
        answer = question["answers"][place % 3 if number >= ASKED_HERE else chance.choice((0, 1)) if good else 2]
        ended = ending(panel, seat, answer["text"])
        record_calls([SimpleNamespace(**ended)])
        if number < ASKED_HERE and ended["status"] == "ok" and chance.random() < 0.6:
            claims = {"real" if good else "false": [answer["claim"]]}
            record_verdict(call_id=ended["call"], useful=good, given_by=panel.asked_by, judges_all=True, **claims)


def seats_of(collection: Collection, number: int, skipped: set[str]) -> Iterator[PlannedSeat]:
    members = [model for model in members_of(collection) if model.alias not in skipped]
    others = [alias for alias in GOOD if alias not in {model.alias for model in members} | skipped]
    explorers = [models[others[(number + step) % len(others)]] for step in range(2)]
    for kind, sitting in (("member", members), ("explorer", explorers)):
        for place, model in enumerate(sitting, 1):
            yield PlannedSeat(
                seat_name=f"{kind}{place}",
                language_model_id=model.pk,
                alias=model.alias,
                endpoint_name=model.endpoint.name,
                served_id=model.served_id,
            )


def ending(panel: Panel, seat: PlannedSeat, answer: str) -> dict[str, Any]:
    """How a seat's call ends: nearly always with its answer."""
    ended = {
        "call": f"{panel.panel_id}.{seat.seat_name}",
        "status": "ok",
        "error_kind": "",
        "error": "",
        "answer": answer,
        "partial": "",
        "reasoning": REASONING if seat.alias in ("kimi", "glm") else "",
        "finish_reason": "stop",
        "served_model": "",
        "seconds": round(chance.uniform(1.2, 14), 1),
        "first_token_seconds": round(chance.uniform(0.2, 1.1), 2),
        "input_tokens": panel.prompt_tokens,
        "output_tokens": len(answer) // 4,
        "upstream_status": 200,
    }
    draw = chance.random()
    if draw < 0.05:
        told = {"error_kind": "rate_limited", "error": "Too many requests a minute.", "upstream_status": 429}
        return ended | {"status": "error", "answer": "", "output_tokens": None} | told
    if draw < 0.07:
        return ended | {
            "status": "empty",
            "answer": "",
            "error": "The answer was cut at its length.",
            "finish_reason": "length",
        }
    return ended


def fill_health() -> None:
    scout, gemma = models["llama-scout"], models["gemma"]
    CoolDown.objects.create(
        endpoint=scout.endpoint,
        served_id=scout.served_id,
        since=now,
        until=now + timedelta(minutes=18),
        why="too many requests a minute",
    )
    Alert.objects.create(
        kind=Alert.Kind.WENT_PAID,
        endpoint=gemma.endpoint,
        about=gemma.served_id,
        message="google/gemma-3-27b-it:free is no longer listed as free: $0.09 in, $0.16 out.",
        to_do="Retire it, or keep it and pay.",
        opened_at=now - timedelta(hours=3),
    )


def fill_jobs() -> None:
    set_up(JOBS, now + timedelta(hours=20))
    began = now - timedelta(hours=4)
    done = {"started_at": began, "ended_at": began + timedelta(seconds=6.2), "outcome": JobRun.Outcome.DONE}
    JobRun.objects.update(**done, said="0 rows removed")
    JobRun.objects.filter(name="refresh_catalog").update(said="6 sources, 3 changes on this bench, 1 new alerts")
    JobRun.objects.filter(name="prune_log").update(said="the whole log is kept (BENCH_LOG_DAYS is 0)")
    JobRun.objects.filter(name="clear_sessions").update(said="log-ins that had run out are removed")


fill()
