"""What every test shares: rows that migrations ship stand in the database again after a test that emptied it, and no example
of a property has to be quick.
"""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import connection
from django.test import TransactionTestCase
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from collections_app.tests.own_database import URL, migrated_database

# How long an example takes is the machine's doing.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Django's own, which it fills again itself after it emptied every table.
FILLED_BY_DJANGO = ("auth", "contenttypes")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """As pytest-django's. On PostgreSQL every process begins with a copy of what one has migrated."""
    if URL:
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_database(URL)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """As pytest-django's. A test in transactions of its own ends by emptying every table; the next one in its process may
    be any other, for tests are shared out among processes by file, and finds what a fresh bench has.
    """
    models = [model for model in apps.get_models() if model._meta.app_label not in FILLED_BY_DJANGO]
    with django_db_blocker.unblock():
        shipped = {model: list(model._base_manager.all()) for model in models}
    empty_all_tables = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def empty_and_fill(case: TransactionTestCase) -> None:
        empty_all_tables(case)
        for model, rows in shipped.items():
            # Unlike a save, without signals: nobody changed anything.
            model._base_manager.bulk_create(rows)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TransactionTestCase, "_fixture_teardown", empty_and_fill)
        yield
