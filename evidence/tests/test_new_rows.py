"""New panels and calls are written by statements of our own, as the ORM would write them."""

from collections.abc import Iterator

import pytest

from evidence import storable
from evidence.models import Call, Panel
from evidence.tests.rows import make_panel

SEAT = {"id", "seat_name", "nominated", "language_model_id", "alias", "endpoint_name", "served_id", "held_by"}
SHARED = {"panel_id", "shape", "asked_at"}


@pytest.fixture(autouse=True)
def statements() -> Iterator[None]:
    """Made anew before a test and after."""
    storable._statement.cache_clear()
    yield
    storable._statement.cache_clear()


@pytest.mark.django_db
def test_a_column_that_is_not_given_gets_its_default() -> None:
    panel = make_panel(("member1", "fast"), ("member2", "slow"))
    others = [field for field in Call._meta.concrete_fields if field.attname not in SEAT | SHARED]
    for call in panel.calls.all():
        assert {field.attname: getattr(call, field.attname) for field in others} == {
            field.attname: field.get_default() for field in others
        }
        assert (call.shape, call.asked_at) == (panel.shape, panel.asked_at)
    assert [(call.seat_name, call.alias) for call in panel.calls.order_by("seat_name")] == [
        ("member1", "fast"),
        ("member2", "slow"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("default", ["it's 100 %s", "%", "'; --", ""])
def test_a_default_is_written_letter_by_letter(default: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Panel._meta.get_field("notice"), "get_default", lambda: default)
    assert make_panel().notice == default


@pytest.mark.django_db
def test_a_default_that_no_statement_can_say_has_to_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Panel._meta.get_field("notice"), "get_default", list)
    with pytest.raises(TypeError, match=r"\[\]"):
        make_panel()
