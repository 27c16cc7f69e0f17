"""Which kind of task a request is, and who may explore on it."""

from typing import Any

import pytest

from collections_app.models import Collection, Limits, Shape
from collections_app.roster import Roster
from gateway.panel.shape import choose_shape


def roster(**shapes: list[str]) -> Roster:
    rows = {name: Shape(name=name, roles=roles) for name, roles in shapes.items()}
    return Roster(collections={}, active=(), shapes=rows, limits=Limits())


def test_a_collections_own_shape_comes_before_what_the_request_shows() -> None:
    collection = Collection(name="core", shape=Shape(name="review", roles=["code", "light"]))
    chosen = choose_shape(collection, 1, roster(vision=["vision"]))
    assert (chosen.name, chosen.by, chosen.roles) == ("review", "set on the collection", ("code", "light"))


@pytest.mark.parametrize(("images", "name", "roles"), [(0, "general", ("general", "light")), (2, "vision", ("vision",))])
def test_images_make_it_vision_and_anything_else_is_general(images: int, name: str, roles: Any) -> None:
    chosen = choose_shape(Collection(name="core"), images, roster(general=["general", "light"], vision=["vision"]))
    assert (chosen.name, chosen.roles) == (name, roles)


@pytest.mark.parametrize(("images", "name"), [(0, "general"), (1, "vision")])
def test_general_models_explore_on_a_shape_whose_row_is_deleted(images: int, name: str) -> None:
    chosen = choose_shape(Collection(name="core"), images, roster(review=["code"]))
    assert (chosen.name, chosen.roles) == (name, ("general",))
