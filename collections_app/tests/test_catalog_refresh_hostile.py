"""Catalogs that are broken, endless or hostile: each is refused with a line that says so, and nothing else is lost."""

import json
import time
import tracemalloc

import pytest

from collections_app.catalog.refresh import Outcome, refresh
from collections_app.models import CatalogEntry, CatalogSource, Endpoint, Fact, LanguageModel
from collections_app.tests.catalogs import OSS, freellmapi, listing, models_dev, openrouter
from collections_app.tests.places import Places, Script, bomb, endless, sending
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

GOOD = models_dev(groq={OSS: {"limit": {"context": 131_072, "output": 65_536}}, "a": {}, "b": {}, "c": {}})


@pytest.fixture(autouse=True)
def known_once(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench that has read everything well, and then reads it again."""
    make_model("oss", endpoint=make_endpoint("groq", provider="groq", protocol="llm_cli"), served_id=OSS)
    places.scripts["/api.json"] = sending(GOOD)
    places.scripts["/openrouter"] = sending(listing(openrouter(OSS)))
    places.scripts["/latest"] = sending(freellmapi({"platform": "groq", "modelId": OSS, "limits": {"rpd": 1_000}}))
    refresh()


def refused(places: Places, script: Script, told: str) -> None:
    """Models.dev answers so: that is told, what it said is kept, and what others say that is new is taken."""
    facts = set(Fact.objects.values_list("field", "source", "known_since"))
    places.scripts["/api.json"] = script
    places.scripts["/openrouter"] = sending(listing(openrouter(OSS), openrouter("new/model")))
    outcomes = {outcome.source: outcome for outcome in refresh().outcomes}
    source = CatalogSource.objects.get(name="models_dev")
    assert told in outcomes["models_dev"].error
    assert source.error == outcomes["models_dev"].error
    assert (source.entries, source.good_at) == (4, CatalogSource.objects.get(pk=source.pk).changed_at)
    assert CatalogEntry.objects.filter(source="models_dev", gone_at=None).count() == 4
    assert facts <= set(Fact.objects.values_list("field", "source", "known_since"))
    assert (outcomes["openrouter"].new, outcomes["freellmapi"].error) == (1, "")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        pytest.param(sending(b"<!DOCTYPE html><title>Sign in</title>"), "a web page", id="HTML that says it is JSON"),
        pytest.param(sending(GOOD, Content_Type="text/html"), "a web page", id="JSON that says it is HTML"),
        pytest.param(sending(GOOD, Content_Type="application/zip"), "sent application/zip", id="another type"),
        pytest.param(sending(GOOD[: len(GOOD) // 2]), "was cut off", id="truncated"),
        pytest.param(sending(GOOD[:-9], Content_Length=str(len(GOOD))), "was cut off", id="cut off on the way"),
        pytest.param(sending(b""), "", id="empty"),
        pytest.param(sending(b"null"), "", id="null"),
        pytest.param(sending(b'"models"'), "", id="a string"),
        pytest.param(sending(b"[" * 200_000 + b"]" * 200_000), "nested too deep", id="deep nesting"),
        pytest.param(sending(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "nested too deep", id="deep objects"),
        pytest.param(sending(b"{}"), "", id="no provider"),
        pytest.param(sending(models_dev(groq={OSS: {}})), "lists 1 models where it listed 4", id="less than half"),
        pytest.param(sending(b"", 302, Location="http://10.0.0.1/api.json"), "redirects", id="a private address"),
        pytest.param(sending(b"", 302, Location="http://169.254.169.254/latest"), "redirects", id="a cloud's metadata"),
        pytest.param(sending(b"", 304), "answers 304", id="a 304 that nobody asked for"),
        pytest.param(sending(GOOD, Content_Encoding="br"), "compresses", id="another compression"),
        pytest.param(sending(b"", 200, Content_Length="-1"), "", id="a negative length"),
        pytest.param(sending(b"\xff\xfe\x00\x01" * 1_000), "", id="garbage"),
    ],
)
def test_what_is_no_catalog_is_refused_in_words(places: Places, script: Script, told: str) -> None:
    refused(places, script, told)
    assert CatalogSource.objects.get(name="models_dev").error


def test_200_megabytes_and_bombs_are_refused_and_never_held(places: Places) -> None:
    scripts = endless(b" " * 65_536, 200_000_000), bomb(200_000_000)
    tracemalloc.start()
    try:
        for script in scripts:
            places.scripts["/latest"] = script
            (outcome,) = refresh(["freellmapi"]).outcomes
            assert outcome.error.endswith("sends more than 8,000,000 bytes")
        # The cap, and the copy of it in blocks.
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
    assert Fact.objects.filter(source="freellmapi").exists()


def test_a_drip_ends_and_the_others_are_read(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    Endpoint.objects.create(name="drip", base_url=places.url)
    places.scripts["/models"] = endless(b"[", 1_000, pause=0.02)
    monkeypatch.setattr("collections_app.catalog.refreshing.own_listing.SECONDS", 0.3)
    started = time.monotonic()
    outcomes = {outcome.source: outcome for outcome in refresh().outcomes}
    assert time.monotonic() - started < 10
    assert "did not answer in whole" in outcomes["endpoint:drip"].error
    assert [name for name, outcome in outcomes.items() if outcome.error] == ["endpoint:drip"]


def taken(places: Places, document: object) -> Outcome:
    places.scripts["/api.json"] = sending(json.dumps(document).encode())
    (outcome,) = refresh(["models_dev"]).outcomes
    return outcome


def test_hostile_items_are_left_out_with_a_line_each_and_the_others_taken(places: Places) -> None:
    document = json.loads(GOOD)
    models = document["groq"]["models"]
    models.update(
        {
            "nul\x00id": {"id": "nul\x00id"},
            "rtl\u202eid": {"id": "rtl\u202eid"},
            "n" * 1_000_000: {},
            "list": [],
            "number": 7,
            "window": {"id": "window", "limit": {"context": -1, "output": 10**30}},
            "price": {"id": "price", "cost": {"input": "NaN", "output": -5}},
            "named": {"id": "named", "name": "<script>alert(1)</script>\u202e\x00" + "x" * 1_000_000},
        }
    )
    document["nobody"] = "no provider"
    outcome = taken(places, document)
    assert outcome.error == ""
    assert outcome.entries == 7
    lines = "\n".join(outcome.left_out)
    assert all(word in lines for word in ("nobody", "list", "number", "no price", "do not show", "longer than 200"))
    assert len(lines) < 25_000 and "\x00" not in lines and "\u202e" not in lines
    window = CatalogEntry.objects.get(source="models_dev", served_id="window")
    assert (window.context_window, window.output_limit) == (None, None)
    price = CatalogEntry.objects.get(source="models_dev", served_id="price")
    assert (price.price_in, price.price_out) == (None, None)
    name = CatalogEntry.objects.get(source="models_dev", served_id="named").name
    assert len(name) == 200 and name.startswith("<script>") and "\u202e" not in name


def test_numbers_that_json_does_not_know_lose_nothing_else(places: Places) -> None:
    body = GOOD.replace(b'"a": {', b'"nan": {"id": "nan", "cost": {"input": NaN, "output": Infinity}}, "a": {', 1)
    places.scripts["/api.json"] = sending(body)
    (outcome,) = refresh(["models_dev"]).outcomes
    assert (outcome.error, outcome.entries) == ("", 5)
    assert CatalogEntry.objects.get(source="models_dev", served_id="nan").price_in is None


def test_duplicates_are_one_row(places: Places) -> None:
    rows = [openrouter(OSS, "0.000001"), openrouter(OSS, "0.000002"), openrouter("new/model")]
    places.scripts["/openrouter"] = sending(listing(*rows))
    (outcome,) = refresh(["openrouter"]).outcomes
    assert (outcome.error, outcome.entries) == ("", 2)
    assert CatalogEntry.objects.filter(source="openrouter", served_id=OSS).count() == 1


def test_a_feed_changes_no_endpoint_and_no_model(places: Places) -> None:
    before = list(Endpoint.objects.values()), list(LanguageModel.objects.values())
    document = json.loads(GOOD)
    document["groq"].update(api="http://10.0.0.1/v1", env=["BENCH_BIND"])
    taken(places, document)
    assert (list(Endpoint.objects.values()), list(LanguageModel.objects.values())) == before
