"""Providers by models.dev and by what it lacks, and whose a base URL is."""

import json
import re
import runpy
from pathlib import Path

import pytest
from django.conf import settings

from collections_app.catalog.entry import Provider
from collections_app.catalog.providers import provider_of, shipped
from collections_app.catalog.snapshot import SHIPPED
from collections_app.catalog.sources import models_dev
from collections_app.catalog.sources.feed_url import feed_url_problem
from collections_app.catalog.sources.kinds import plan_like
from collections_app.models import Endpoint
from collections_app.tests import catalog_feeds as feeds
from collections_app.tests.catalog_feeds import DATA, as_json

ONBOARDING = DATA / "providers_onboarding.json"
FORMATS = {"openai": "openai_chat", "anthropic": "anthropic_messages"}


def known() -> dict[str, Provider]:
    return {provider.id: provider for provider in shipped()}


def test_a_provider_is_made_of_its_row() -> None:
    assert models_dev.providers(feeds.models_dev()) == (
        Provider(
            "groq",
            "Groq",
            "https://api.groq.com/openai/v1",
            protocol="openai_chat",
            key_env=("GROQ_API_KEY",),
            doc="https://groq.example/docs",
        ),
    )


def test_a_url_s_own_variables_are_asked_for_and_hold_no_key() -> None:
    row = feeds.provider(
        {}, api="https://api.example/${ACCOUNT_ID}/v1", env=["ACCOUNT_ID", "X_API_KEY", "X_ENDPOINT", "bad name"]
    )
    (provider,) = models_dev.providers(as_json({"x": row}))
    assert (provider.url_env, provider.key_env) == (("ACCOUNT_ID",), ("X_API_KEY",))


def test_what_speaks_a_protocol_of_its_own_is_left_out() -> None:
    body = as_json({"azure": feeds.provider({}, npm="@ai-sdk/azure"), "groq": feeds.provider({})})
    assert [provider.id for provider in models_dev.providers(body)] == ["groq"]


@pytest.mark.skipif(not ONBOARDING.exists(), reason="the shared data is not here")
def test_all_rows_of_onboarding_are_made_of_models_dev() -> None:
    made = {each.id: each for each in models_dev.providers((DATA / "modelsdev-2026-08-18" / "api.json").read_bytes())}
    rows = json.loads(ONBOARDING.read_text())
    assert len(rows) == 191
    assert made.keys() == {row["id"] for row in rows if row["base_url"]}
    assert {row["id"] for row in rows if plan_like(row["id"])} == {row["id"] for row in rows if row["plan_like"]}
    for row in rows:
        if row["base_url"]:
            keys = tuple(name for name in row["env"] if name not in (*row["vars_in_url"], "PRIVATEMODE_ENDPOINT"))
            assert made[row["id"]] == Provider(
                row["id"],
                row["name"],
                row["base_url"],
                protocol=FORMATS[row["format"]],
                key_env=keys,
                url_env=tuple(row["vars_in_url"]),
                doc=row["doc"],
                plan_like=row["plan_like"],
                local=row["local"],
            )


@pytest.mark.skipif(not ONBOARDING.exists(), reason="the shared data is not here")
def test_what_ships_is_made_of_the_documents_as_they_are_published(tmp_path: Path) -> None:
    if "2026-08-18" not in (SHIPPED / "README.md").read_text():
        pytest.skip("what ships is of another day than the documents that are here")
    script = runpy.run_path(str(settings.BASE_DIR / ".ci" / "make_snapshot.py"))
    script["main"].__globals__["SHIPPED"] = tmp_path
    script["main"](str(DATA / "modelsdev-2026-08-18" / "api.json"), str(DATA / "freellmapi-catalog-baseline-2026-08-22.json"))
    for name in ("models_dev.json", "freellmapi.json"):
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes()


def test_what_models_dev_lacks_ships_beside_it() -> None:
    providers = known()
    assert len(providers) == len(shipped()) > 170
    assert providers["codestral"].key_env == ("CODESTRAL_API_KEY",)
    assert providers["cloudflare-workers-ai"].key_env == ("CLOUDFLARE_API_KEY", "CLOUDFLARE_API_TOKEN")
    assert providers["xai"].listing_paths == ("language-models", "models")
    assert providers["groq"].listing_paths == ("models",)
    assert {"llm7", "pollinations", "routeway", "sambanova"} <= providers.keys()


def test_all_that_ships_can_be_an_endpoint() -> None:
    for provider in shipped():
        assert provider.protocol in Endpoint.Protocol.values
        assert not feed_url_problem(provider.base_url), provider.id
        assert provider.local == ("127.0.0.1" in provider.base_url or "localhost" in provider.base_url)
        filled = re.sub(r"^\$\{\w+\}", "https://variable.example", provider.base_url)
        Endpoint(name="a", base_url=re.sub(r"\$\{\w+\}", "variable.example", filled), provider=provider.id).full_clean(
            exclude=["name"], validate_unique=False, validate_constraints=False
        )


def test_every_provider_is_known_by_its_own_url() -> None:
    fellows = {"minimax-coding-plan": "minimax", "minimax-cn-coding-plan": "minimax-cn", "umans-ai-coding-plan": "umans-ai"}
    for provider in shipped():
        if not (provider.local or provider.id in ("neon", "databricks")):
            url = re.sub(r"\$\{\w+\}", "a-value", provider.base_url)
            assert provider_of(url) == fellows.get(provider.id, provider.id)


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://API.groq.com:443/openai/v1/", "groq"),
        ("https://generativelanguage.googleapis.com/v1beta", "google"),
        ("https://api.cohere.com/v2", "cohere"),
        ("https://api.z.ai/api/paas/v4", "zai"),
        ("https://api.z.ai/api/coding/paas/v4", "zai-coding-plan"),
        ("https://api.z.ai/api/anthropic", "zai"),
        ("https://dbc-1.cloud.databricks.com/ai-gateway/mlflow/v1", "databricks"),
        ("https://models.github.ai/inference", "github-models"),
        ("https://api.groq.com:8443/openai/v1", ""),
        ("https://api.groq.com.example/openai/v1", ""),
        ("https://example.com/https://api.groq.com/openai/v1", ""),
        ("http://127.0.0.1:1234/v1", ""),
        ("http://localhost:8080/v1", ""),
        ("http://[::1", ""),
        ("https://x:99999999/v1", ""),
        ("", ""),
    ],
)
def test_a_base_url_is_known_by_host_and_path(url: str, provider: str) -> None:
    assert provider_of(url) == provider


@pytest.mark.parametrize(
    "url",
    [
        "http://api.groq.com/v1",
        "http://192.168.1.7/v1",
        "https://192.168.1.7/v1",
        "https://[fd00::1]/v1",
        "https://[::ffff:10.0.0.1]/v1",
        "https://100.64.0.1/v1",
        "https://intranet/v1",
        "https://models.internal/v1",
        "https://user:secret@api.groq.com/v1",
        "https://api.groq.com/v1?key=1",
        "https://api.groq.com/v1\\@evil.example",
        "https://0x7f000001/v1",
        "https://169.254.169.254/latest",
        "javascript:alert(1)",
        "https://" + "a" * 600 + ".example",
    ],
)
def test_a_feed_may_not_send_prompts_anywhere(url: str) -> None:
    assert feed_url_problem(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.groq.com/openai/v1",
        "http://127.0.0.1:1234/v1",
        "http://localhost:8080/v1",
        "https://${HOST}/v1",
        "${URL}/v1",
    ],
)
def test_a_feed_may_name_public_hosts_this_machine_and_variables(url: str) -> None:
    assert feed_url_problem(url) == ""
