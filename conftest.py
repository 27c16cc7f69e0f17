"""What every test shares: rows that migrations ship stand in the database again after a test that emptied it."""

from collections.abc import Iterator
from itertools import chain

import pytest
from django.apps import apps
from django.core import serializers
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

# Django's own, which it fills again itself after it emptied every table.
FILLED_BY_DJANGO = ("auth", "contenttypes")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """As pytest-django's. A test in transactions of its own ends by emptying every table; the next one in its process may
    be any other, for tests are shared out among processes by file, and finds what a fresh bench has.
    """
    with django_db_blocker.unblock():
        shipped = serializers.serialize("json", shipped_rows())
    empty_all_tables = TransactionTestCase._fixture_teardown

    def empty_and_fill(case: TransactionTestCase) -> None:
        empty_all_tables(case)
        for row in serializers.deserialize("json", shipped):
            row.save()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TransactionTestCase, "_fixture_teardown", empty_and_fill)
        yield


def shipped_rows() -> Iterator[object]:
    models = [model for model in apps.get_models() if model._meta.app_label not in FILLED_BY_DJANGO]
    return chain.from_iterable(model._default_manager.iterator() for model in models)
