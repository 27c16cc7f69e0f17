"""Rows of catalogs for tests: what a source lists of a provider's model."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from collections_app.catalog.providers import shipped
from collections_app.catalog.refreshing.places import PLACES
from collections_app.catalog.refreshing.rows import write_entries
from collections_app.catalog.same import same
from collections_app.models import CatalogEntry

SHARED = Path(settings.BASE_DIR).parent / "shared" / "data"
SNAPSHOTS = {
    "models_dev": SHARED / "modelsdev-2026-08-18" / "api.json",
    "openrouter": SHARED / "openrouter-models-2026-05-22.json",
    "freellmapi": SHARED / "freellmapi-catalog-baseline-2026-08-22.json",
}
needs_snapshots = pytest.mark.skipif(not all(path.exists() for path in SNAPSHOTS.values()), reason="no snapshots here")


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider's key in the environment, whatever this machine has."""
    for provider in shipped():
        for name in (*provider.key_env, *provider.url_env):
            monkeypatch.delenv(name, raising=False)


def list_model(served_id: str, *, provider: str = "groq", source: str = "models_dev", **fields: Any) -> CatalogEntry:
    defaults = {"first_seen": timezone.now(), "same": same(served_id), **fields}
    return CatalogEntry.objects.create(source=source, provider=provider, served_id=served_id, **defaults)


def take_in_snapshots() -> None:
    """The real catalogs: some 6,700 models."""
    for place in PLACES:
        write_entries(place.name, place.read(SNAPSHOTS[place.name].read_bytes()).entries, now=timezone.now())
