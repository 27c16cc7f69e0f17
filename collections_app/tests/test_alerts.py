"""An alert is told once until it is resolved; then the same cause is news again."""

import pytest
from pytest_django import DjangoAssertNumQueries

from collections_app.models import Alert, Endpoint
from collections_app.services.alerts import raise_alert, resolve_alert, told_before
from collections_app.tests.rosters import make_endpoint

pytestmark = pytest.mark.django_db

KIND = Alert.Kind.WENT_PAID


def tell(endpoint: Endpoint | None, about: str = "m:free", message: str = "It costs now.") -> bool:
    return raise_alert(KIND, endpoint, about, message=message, to_do="Choose another.")


def test_it_is_told_once_until_it_is_resolved() -> None:
    endpoint = make_endpoint()
    assert [tell(endpoint), tell(endpoint), tell(endpoint, "other")] == [True, False, True]
    assert resolve_alert(KIND, endpoint, "m:free")
    assert not resolve_alert(KIND, endpoint, "m:free")
    assert tell(endpoint)
    told = Alert.objects.filter(about="m:free").order_by("pk")
    assert [(alert.message, alert.to_do, alert.resolved_at is None) for alert in told] == [
        ("It costs now.", "Choose another.", False),
        ("It costs now.", "Choose another.", True),
    ]


def test_an_alert_of_no_endpoint_is_told_once_too() -> None:
    assert [tell(None, "models_dev"), tell(None, "models_dev")] == [True, False]
    assert resolve_alert(KIND, None, "models_dev")


def test_an_open_one_gets_the_newer_words_and_keeps_its_date() -> None:
    endpoint = make_endpoint()
    tell(endpoint)
    opened_at = Alert.objects.get().opened_at
    assert not tell(endpoint, message="It costs more.")
    assert (Alert.objects.get().message, Alert.objects.get().opened_at) == ("It costs more.", opened_at)


def test_the_same_words_again_write_nothing(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    endpoint = make_endpoint()
    tell(endpoint)
    with django_assert_num_queries(1):
        tell(endpoint)


def test_what_was_put_aside_can_be_told_apart() -> None:
    endpoint = make_endpoint()
    tell(endpoint)
    assert not told_before(KIND, endpoint, "m:free", message="It costs now.")
    resolve_alert(KIND, endpoint, "m:free")
    assert told_before(KIND, endpoint, "m:free", message="It costs now.")
    assert not told_before(KIND, endpoint, "m:free", message="It costs more.")


def test_words_are_cut_to_what_a_row_holds() -> None:
    tell(None, message="x" * 1_000)
    assert (len(Alert.objects.get().message), Alert.objects.get().message[-1]) == (500, "…")
