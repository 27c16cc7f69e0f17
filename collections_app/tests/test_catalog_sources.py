"""What each place lists, read as entries in our units."""

import json
from typing import Any

import pytest

from collections_app.catalog import snapshot
from collections_app.catalog.entry import AccountLimit, Entry, Listing, SourceError
from collections_app.catalog.sources import endpoint_listing, freellmapi, llama_props, models_dev, ollama_show, openrouter
from collections_app.models import CatalogEntry
from collections_app.tests import catalog_feeds as feeds
from collections_app.tests.catalog_feeds import DATA, SAMPLES, as_json

SHAPES = json.loads((SAMPLES / "listings.json").read_text())
LISTED = DATA / "listing_samples.json"
# What the shared samples call a value, and what an entry does.
VALUES = {
    "context": lambda entry: entry.context_window,
    "context_served": lambda entry: entry.context_window,
    "context_trained": lambda entry: entry.trained_window,
    "output": lambda entry: entry.output_limit,
    "price_in_per_m": lambda entry: entry.price_in,
    "price_out_per_m": lambda entry: entry.price_out,
    "vision": lambda entry: entry.vision,
    "retires": lambda entry: entry.retires,
    "free": lambda entry: entry.free == "zero",
    "router": lambda entry: entry.kind == "router",
    "active": lambda entry: not entry.deprecated,
    "status": lambda entry: "deprecated" if entry.deprecated else None,
    "remote": lambda entry: entry.free != "local",
    "rpm": lambda entry: entry.requests_per_minute,
    "tpm": lambda entry: entry.tokens_per_minute,
}


def by_id(listing: Listing) -> dict[str, Entry]:
    return {entry.served_id: entry for entry in listing.entries}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_listing_is_read(shape: str) -> None:
    listing = endpoint_listing.read(as_json(SHAPES[shape]["body"]))
    entries = by_id(listing)
    assert entries.keys() == SHAPES[shape]["expect"].keys()
    assert not listing.left_out
    for served_id, expected in SHAPES[shape]["expect"].items():
        assert {name: getattr(entries[served_id], name) for name in expected} == expected, served_id


@pytest.mark.skipif(not LISTED.exists(), reason="the shared samples are not here")
def test_the_shared_samples_are_read_as_they_say() -> None:
    for shape, sample in json.loads(LISTED.read_text()).items():
        entries = by_id(endpoint_listing.read(as_json(sample["body"])))
        chat = {served_id for served_id, entry in entries.items() if entry.kind in ("chat", "router")}
        assert chat == {expected["id"] for expected in sample["expect"]}, shape
        for expected in sample["expect"]:
            entry = entries[expected.pop("id")]
            assert {name: VALUES[name](entry) for name in expected} == expected, shape


def test_an_entry_is_written_with_the_provider_that_is_asked_for() -> None:
    assert endpoint_listing.read(b'["a"]', "groq").entries[0].provider == "groq"


def test_models_of_ollamas_own_site_are_not_local() -> None:
    body = as_json(SHAPES["ollama_tags"]["body"])
    assert by_id(endpoint_listing.read(body))["qwen3:8b"].free == "local"
    assert by_id(endpoint_listing.read(body, "ollama-cloud"))["qwen3:8b"].free == ""


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ({"data": [], "has_more": True, "last_id": "claude-x"}, "after_id=claude-x"),
        ({"data": [], "has_more": False, "last_id": "claude-x"}, ""),
        ({"models": [], "nextPageToken": "a b&c"}, "pageToken=a+b%26c"),
        ({"models": [], "next_page_token": "t"}, "page_token=t"),
        ({"data": [], "links": {"next": "https://elsewhere.example/x?offset=5&limit=5#f"}}, "offset=5&limit=5"),
        ({"result": [], "result_info": {"page": 1, "per_page": 100, "total_count": 101}}, "page=2"),
        ({"result": [], "result_info": {"page": 2, "per_page": 100, "total_count": 101}}, ""),
        ({"data": []}, ""),
    ],
)
def test_the_next_page_is_a_query_and_never_another_host(body: Any, query: str) -> None:
    assert endpoint_listing.read(as_json(body)).next_page == query


def test_models_dev_is_read_in_tokens_and_dollars_a_million() -> None:
    (entry,) = models_dev.read(feeds.models_dev()).entries
    assert entry == Entry(
        "llama-3.3-70b",
        provider="groq",
        name="Llama 3.3",
        context_window=131_072,
        output_limit=32_768,
        vision=False,
        tools=True,
        price_in=0.59,
        price_out=0.79,
        released="2024-12-06",
        family="llama",
    )


@pytest.mark.parametrize(
    ("limit", "window", "output"),
    [
        ({"context": 400_000, "input": 272_000, "output": 128_000}, 272_000, 128_000),
        ({"context": 0, "output": 0}, None, None),
        ({"context": 512, "output": 3072}, 512, None),
    ],
)
def test_models_dev_s_tighter_limit_counts_and_zero_is_unknown(limit: Any, window: int | None, output: int | None) -> None:
    (entry,) = models_dev.read(feeds.models_dev(limit=limit)).entries
    assert (entry.context_window, entry.output_limit) == (window, output)


@pytest.mark.parametrize(
    ("provider", "cost", "free"),
    [
        ("nvidia", {"input": 0, "output": 0}, "zero"),
        ("nvidia", {"input": 0, "output": 0.0000001}, ""),
        ("nvidia", {"input": 0}, ""),
        ("nvidia", None, ""),
        ("zai-coding-plan", {"input": 0, "output": 0}, "plan"),
        ("github-copilot", {"input": 3, "output": 15}, ""),
    ],
)
def test_price_zero_is_free_but_in_a_plan(provider: str, cost: Any, free: str) -> None:
    body = as_json({provider: feeds.provider({"m": {**feeds.a_model(), "cost": cost}})})
    assert models_dev.read(body).entries[0].free == free


def test_what_this_machine_serves_is_local_until_it_has_a_price() -> None:
    models = {name: {**feeds.a_model(), "cost": {"input": cost, "output": cost}} for name, cost in (("a", 0), ("b", 0.15))}
    listing = models_dev.read(as_json({"proxy": feeds.provider(models, api="http://127.0.0.1:1234/v1")}))
    assert {entry.served_id: entry.free for entry in listing.entries} == {"a": "local", "b": ""}


@pytest.mark.parametrize(
    ("served_id", "model", "kind"),
    [
        ("llama-3.3-70b", {}, "chat"),
        ("gpt-image-1", {"modalities": {"input": ["text"], "output": ["image"]}}, "other"),
        ("whisper-large-v3", {"modalities": {"input": ["audio"], "output": ["text"]}}, "other"),
        ("text-embedding-3-small", {}, "other"),
        ("step-audio-3", {"modalities": {"input": ["audio"], "output": ["text"]}}, "other"),
        ("meta-llama/llama-guard-4-12b", {}, "other"),
        ("gemini-2.5-flash-image", {"modalities": {"input": ["text", "image"], "output": ["text", "image"]}}, "chat"),
        ("openrouter/auto", {}, "router"),
        ("mercury-decide", {"modalities": {"input": ["text"], "output": ["decisions"]}}, "decision"),
    ],
)
def test_what_is_no_chat_model_is_told_apart(served_id: str, model: Any, kind: str) -> None:
    body = as_json({"p": feeds.provider({served_id: {**feeds.a_model(), **model}})})
    assert models_dev.read(body).entries[0].kind == kind


def test_what_models_dev_calls_deprecated_is_served_no_longer() -> None:
    listing = models_dev.read(feeds.models_dev(status="deprecated"))
    assert listing.entries[0].deprecated


def test_openrouter_lists_free_variants_routers_and_aliases() -> None:
    priced, free = {"prompt": "0.00000059", "completion": "0.00000079"}, {"prompt": "0", "completion": "0"}
    rows = {
        "a/model": priced,
        "a/model:free": free,
        "~a/model-latest": priced,
        "openrouter/auto": {"prompt": "-1", "completion": "-1"},
        "a/by-request": {**free, "request": "0.005"},
        "a/by-nonsense": {**free, "request": float("nan")},
        "a/for-nothing": {**free, "request": "0", "image": 0},
    }
    listing = openrouter.read(as_json({"data": [{"id": name, "pricing": pricing} for name, pricing in rows.items()]}))
    assert [(entry.served_id, entry.kind, entry.free, entry.price_in) for entry in listing.entries] == [
        ("a/model", "chat", "", 0.59),
        ("a/model:free", "chat", "zero", 0),
        ("~a/model-latest", "chat", "", 0.59),
        ("openrouter/auto", "router", "", None),
        ("a/by-request", "chat", "", 0),
        ("a/by-nonsense", "chat", "", 0),
        ("a/for-nothing", "chat", "zero", 0),
    ]
    assert {entry.provider for entry in listing.entries} == {"openrouter"}


def test_an_empty_page_of_openrouter_is_no_listing() -> None:
    with pytest.raises(SourceError, match="lists no model"):
        openrouter.read(b'{"data": []}')


def test_freellmapi_lists_quotas_under_models_dev_s_names() -> None:
    routes = [
        feeds.a_route(),
        feeds.a_route(platform="ollama", modelId="gpt-oss:120b", limits={"rpm": None, "rpd": 0}),
        feeds.a_route(platform="zhipu", modelId="glm-4.7-flash"),
        feeds.a_route(platform="llm7", modelId="codestral-latest"),
        feeds.a_route(modelId="gone", enabled=False),
        feeds.a_route(modelId="picture", modality="image"),
    ]
    listing = freellmapi.read(feeds.freellmapi(*routes))
    assert {(entry.provider, entry.served_id): entry.kind for entry in listing.entries} == {
        ("groq", "openai/gpt-oss-120b"): "chat",
        ("ollama-cloud", "gpt-oss:120b"): "chat",
        ("zhipuai", "glm-4.7-flash"): "chat",
        ("zai", "glm-4.7-flash"): "chat",
        ("llm7", "codestral-latest"): "chat",
        ("groq", "picture"): "other",
    }
    first, second = listing.entries[:2]
    assert (first.free, first.requests_per_minute, first.requests_per_day) == ("quota", 30, 1000)
    assert (first.tokens_per_minute, first.tokens_per_day, first.price_in) == (8000, 200_000, None)
    assert second.requests_per_minute is None
    assert second.requests_per_day is None
    assert listing.left_out == ("not enabled: 1 routes that it knows not to answer",)
    assert listing.version == "2026.08.22"


def test_a_cap_that_an_account_shares_is_no_limit_of_a_model() -> None:
    limits = {"rpm": 20, "rpd": 200, "tpm": None, "tpd": None}
    routes = [feeds.a_route(platform="openrouter", modelId=name, limits=limits) for name in ("a:free", "b:free", "stealth")]
    shared = {
        "title": "Daily :free cap is account-wide",
        "body": "The daily cap (50/day, or 1,000/day once you have bought credits) is shared across ALL :free models.",
        "targets": [{"platform": "openrouter", "modelGlob": "*:free"}],
    }
    no_number = {"title": "Key is shared by all", "body": "One key.", "targets": [{"platform": "groq", "modelGlob": None}]}
    body = feeds.freellmapi(*routes, quirks=[shared, no_number])
    assert freellmapi.account_limits(body) == (
        AccountLimit("openrouter", "*:free", requests_per_minute=20, requests_per_day=50),
    )
    per_day = {entry.served_id: entry.requests_per_day for entry in freellmapi.read(body).entries}
    assert per_day == {"a:free": None, "b:free": None, "stealth": 200}


def test_llama_cpp_says_the_window_of_one_slot() -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2, "modalities": {"vision": True, "audio": False}}
    entry = llama_props.read(as_json({**props, "model_path": "/models/gemma-3-12b-it-Q4_K_M.gguf"}))
    assert (entry.served_id, entry.context_window, entry.trained_window) == ("gemma-3-12b-it-Q4_K_M.gguf", 4096, None)
    assert (entry.vision, entry.free) == (True, "local")
    assert llama_props.read(as_json({**props, "model_alias": "gemma", "model_path": "C:\\models\\x.gguf"})).served_id == "gemma"
    with pytest.raises(SourceError):
        llama_props.read(b'{"error": {"code": 404}}')


def test_ollama_shows_what_was_trained_and_what_is_set() -> None:
    shown = {
        "parameters": 'stop                           "<|im_end|>"\nnum_ctx                        8192',
        "details": {"family": "qwen3"},
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
        "capabilities": ["completion", "tools"],
    }
    entry = ollama_show.read(as_json(shown))
    assert (entry.context_window, entry.trained_window, entry.family) == (8192, 40960, "qwen3")
    assert (entry.kind, entry.vision, entry.tools, entry.free) == ("chat", False, True, "local")
    assert ollama_show.read(as_json({**shown, "parameters": ""})).context_window is None
    remote = ollama_show.read(as_json({**shown, "parameters": "", "remote_host": "https://ollama.com"}))
    assert (remote.context_window, remote.free) == (40960, "")
    assert ollama_show.read(as_json({**shown, "capabilities": ["decision"]})).kind == "decision"
    assert ollama_show.read(as_json({**shown, "capabilities": ["embedding"]})).kind == "other"
    with pytest.raises(SourceError):
        ollama_show.read(b'{"error": "model not found"}')


def test_what_ships_is_read_whole() -> None:
    listing, routes = models_dev.read(snapshot.models_dev()), freellmapi.read(snapshot.freellmapi())
    assert len(listing.entries) > 400
    assert not listing.left_out
    assert {entry.free for entry in listing.entries} == {"zero", "plan", "local", ""}
    assert {entry.kind for entry in listing.entries} <= set(CatalogEntry.Kind.values)
    assert len(routes.entries) > 90
    assert freellmapi.account_limits(snapshot.freellmapi())[0].requests_per_day == 50


@pytest.mark.skipif(not DATA.exists(), reason="the real catalogs are not here")
def test_the_real_catalogs_are_read_whole() -> None:
    body = (DATA / "modelsdev-2026-08-18" / "api.json").read_bytes()
    listing = models_dev.read(body)
    assert len(listing.entries) == 6731
    assert not listing.left_out
    zero = [entry for entry in listing.entries if entry.free == "zero" and entry.provider == "nvidia"]
    text = [entry for entry in zero if entry.kind == "chat"]
    assert 60 < len(text) < len(zero)

    listing = openrouter.read((DATA / "openrouter-models-2026-05-22.json").read_bytes())
    assert len(listing.entries) == 356
    assert not listing.left_out
    assert by_id(listing)["nvidia/nemotron-3-super-120b-a12b:free"].context_window == 262_144
    assert sorted(entry.served_id for entry in listing.entries if entry.kind == "router" and entry.price_in is None) == [
        "openrouter/auto",
        "openrouter/bodybuilder",
        "openrouter/pareto-code",
    ]

    listing = freellmapi.read((DATA / "freellmapi-catalog-baseline-2026-08-22.json").read_bytes())
    assert len({entry.served_id for entry in listing.entries}) > 80
    assert {entry.free for entry in listing.entries} == {"quota"}


@pytest.mark.skipif(not DATA.exists(), reason="the real catalogs are not here")
def test_the_models_that_went_paid_are_those_whose_price_rose_from_zero() -> None:
    before, after = (
        {f"{entry.provider}/{entry.served_id}": entry for entry in models_dev.read(path.read_bytes()).entries}
        for path in (DATA / "modelsdev-2026-07-01" / "api.json", DATA / "modelsdev-2026-08-18" / "api.json")
    )
    rose = {
        name
        for name, entry in before.items()
        if entry.price_in == entry.price_out == 0 and name in after and (after[name].price_in or after[name].price_out)
    }
    told = json.loads((DATA / "modelsdev-transitions.json").read_text())["2026-07-01..2026-08-18"]["went_paid"]
    assert rose == {each["id"] for each in told}
    assert all(before[name].free in ("zero", "local") and after[name].free == "" for name in rose)
