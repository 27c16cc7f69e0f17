"""A model that a bench file brings knows at once what catalogs say of it."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from collections_app.models import CatalogEntry, CatalogSource, LanguageModel
from collections_app.selectors import know

BENCH = """
[endpoints.groq]
base_url = "https://api.groq.com/openai/v1"
[models.oss]
endpoint = "groq"
model = "openai/gpt-oss-120b"
"""


@pytest.mark.django_db
def test_a_loaded_model_knows_what_catalogs_say(tmp_path: Path) -> None:
    now = timezone.now()
    CatalogSource.objects.create(name="models_dev", good_at=now)
    CatalogEntry.objects.create(
        source="models_dev", provider="groq", served_id="openai/gpt-oss-120b", context_window=131_072, first_seen=now
    )
    file = tmp_path / "bench.toml"
    file.write_text(BENCH)
    call_command("load_bench", str(file))
    model = LanguageModel.objects.select_related("endpoint").get()
    know([model])
    assert model.known.get("context_window") == 131_072
