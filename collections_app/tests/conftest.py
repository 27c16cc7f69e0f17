"""Places that list models, for tests that refresh the catalog: nothing else on the network is asked."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from collections_app.tests.places import PATHS, Places


@pytest.fixture(scope="session")
def served_places() -> Iterator[Places]:
    with Places() as places:
        yield places


@pytest.fixture
def places(served_places: Places, settings: Settings) -> Places:
    """Answers 404 until a test writes scripts; the public catalogs are here, at PATHS."""
    served_places.scripts.clear()
    served_places.asked.clear()
    settings.BENCH_CATALOG_URLS = {name: served_places.url + path for name, path in PATHS.items()}
    return served_places
