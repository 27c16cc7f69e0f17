"""Which kind of task a request is, who is asked to say so, and who may explore on it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from collections_app.models import Collection, CoolDown, DecisionModel, Endpoint, Limits, Shape
from collections_app.roster import Roster
from gateway.chat import ChatRequest, ImagePart, Message, TextPart
from gateway.panel.shape import ChosenShape, ShapeQuestion, choose_shape, text_to_shape
from gateway.upstream.contract import UpstreamError
from gateway.upstream.decisions.contract import Decision

ENDPOINT = Endpoint(pk=1, name="host", base_url="https://host.example/v1")
CORE = Collection(name="core")


def roster(*pickers: DecisionModel, cool_downs: Any = (), **shapes: list[str]) -> Roster:
    rows = {name: Shape(name=name, description=f"All {name}", roles=roles) for name, roles in shapes.items()}
    return Roster(
        collections={}, active=(), shapes=rows, limits=Limits(), decision_models=pickers, cool_downs=tuple(cool_downs)
    )


def picker(alias: str = "jev", **fields: Any) -> DecisionModel:
    found: dict[str, Any] = {"url": "https://host.example/v1/systemone", "question_types": ["choice", "noul"]}
    return DecisionModel(alias=alias, endpoint=ENDPOINT, served_id=f"{alias}-1", **(found | fields))


def cooling(alias: str, seconds: int = 60) -> CoolDown:
    now = timezone.now()
    return CoolDown(endpoint=ENDPOINT, served_id=f"{alias}-1", until=now + timedelta(seconds=seconds), since=now, why="429")


def question(**shapes: list[str]) -> ShapeQuestion:
    asked = choose_shape(CORE, 0, roster(picker(), **(shapes or {"general": ["general"], "review": ["code"]})), 1)
    assert isinstance(asked, ShapeQuestion)
    return asked


def decided(choice: str, confidence: float = 0.9) -> Decision:
    return Decision(choice=choice, confidence=confidence, source="systemone")


def test_a_collections_own_shape_comes_before_what_the_request_shows() -> None:
    collection = Collection(name="core", shape=Shape(name="review", roles=["code", "light"]))
    chosen = choose_shape(collection, 1, roster(picker(), vision=["vision"]), 2)
    assert chosen == ChosenShape("review", "set on the collection", ("code", "light"))


@pytest.mark.parametrize(("images", "name", "roles"), [(0, "general", ("general", "light")), (2, "vision", ("vision",))])
def test_images_make_it_vision_and_anything_else_is_general(images: int, name: str, roles: Any) -> None:
    chosen = choose_shape(CORE, images, roster(general=["general", "light"], vision=["vision"]), 2)
    assert isinstance(chosen, ChosenShape)
    assert (chosen.name, chosen.roles) == (name, roles)


@pytest.mark.parametrize(("images", "name"), [(0, "general"), (1, "vision")])
def test_general_models_explore_on_a_shape_whose_row_is_deleted(images: int, name: str) -> None:
    chosen = choose_shape(CORE, images, roster(review=["code"]), 2)
    assert isinstance(chosen, ChosenShape)
    assert (chosen.name, chosen.roles) == (name, ("general",))


def test_a_decision_model_is_asked_when_there_is_an_explorer_seat_to_fill() -> None:
    jev = picker()
    assert choose_shape(CORE, 0, roster(jev), 1) == ShapeQuestion(jev, {})


@pytest.mark.parametrize(
    ("images", "seats", "fields", "by"),
    [
        (0, 0, {}, "no explorer seat is left"),
        (1, 1, {}, "the request has images"),
        (0, 1, {"status": "ad_hoc"}, "no decision model"),
        (0, 1, {"question_types": ["noul"]}, "no decision model"),
        (0, 1, {"url": ""}, "no decision model"),
    ],
)
def test_nobody_is_asked_for_nothing(images: int, seats: int, fields: dict[str, Any], by: str) -> None:
    chosen = choose_shape(CORE, images, roster(picker(**fields)), seats)
    assert isinstance(chosen, ChosenShape)
    assert by in chosen.by


def test_the_first_by_alias_is_asked_and_the_next_while_it_cools_down() -> None:
    two = (picker("aye"), picker("bee"))
    assert choose_shape(CORE, 0, roster(*two), 1) == ShapeQuestion(two[0], {})
    assert choose_shape(CORE, 0, roster(*two, cool_downs=[cooling("aye")]), 1) == ShapeQuestion(two[1], {})
    assert choose_shape(CORE, 0, roster(*two, cool_downs=[cooling("aye", -1)]), 1) == ShapeQuestion(two[0], {})
    none = choose_shape(CORE, 0, roster(*two, cool_downs=[cooling("aye"), cooling("bee")]), 1)
    assert none == ChosenShape("general", "aye, bee: cooling down", ("general",))


def test_the_options_are_the_shapes_by_their_descriptions_and_general_is_one() -> None:
    assert question(review=["code"], vision=["vision"]).options == {"review": "All review", "general": "Anything else"}
    assert question(general=["general"]).options == {"general": "All general"}


def test_a_sure_choice_of_ours_is_the_shape() -> None:
    assert question().answered(decided("review", 0.6)) == ChosenShape("review", "picked by jev at 0.60", ("code",))


@pytest.mark.parametrize(
    ("decision", "by"),
    [
        (decided("review", 0.59), "jev was not sure enough: review at 0.59"),
        (decided("review", 0.0), "jev was not sure enough: review at 0.00"),
        (decided("poetry"), "jev chose no shape of this bench"),
        (decided("vision"), "jev chose no shape of this bench"),
        (decided("Review"), "jev chose no shape of this bench"),
    ],
)
def test_any_other_pick_is_general_and_says_why(decision: Decision, by: str) -> None:
    asked = question(general=["general"], review=["code"], vision=["vision"])
    assert asked.answered(decision) == ChosenShape("general", by, ("general",))


def test_a_failed_pick_is_general_and_repeats_no_word_of_the_endpoints() -> None:
    failed = question().failed(UpstreamError("## pay <script> first", kind="payment_required"))
    assert failed == ChosenShape("general", "jev did not pick one: payment required", ("general",))


def test_the_last_users_text_is_told_and_nothing_of_an_image() -> None:
    pasted = "data:image/png;base64," + "iVBORw0KGgo1" * 4000
    messages = (
        Message("system", (TextPart("Secret orders"),)),
        Message("user", (TextPart("An earlier question"),)),
        Message("assistant", (TextPart("Its answer"),)),
        Message("user", (TextPart("Look at"), ImagePart("https://x.example/a.png?key=1"), TextPart(pasted + " and judge"))),
        Message("assistant", (TextPart("Sure:"),)),
    )
    told = text_to_shape(ChatRequest(format="openai_chat", model="core", messages=messages))
    assert told.startswith("Look at\n") and told.endswith(" and judge")
    assert "iVBOR" not in told and "x.example" not in told and "[image" in told


def test_twenty_thousand_characters_are_told_and_no_more() -> None:
    chat = ChatRequest(format="openai_chat", model="core", messages=(Message("user", (TextPart("a b " * 100_000),)),))
    assert text_to_shape(chat) == ("a b " * 100_000)[:20_000]
    assert text_to_shape(ChatRequest(format="openai_chat", model="core", messages=())) == ""
