"""A refresh: every source is taken in by itself, nothing known is lost, and the same again writes nothing."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.catalog.merge import merge_facts
from collections_app.catalog.refresh import Outcome, Summary, UnknownSourceError, refresh
from collections_app.models import CatalogEntry, CatalogSource, Endpoint, Fact, LanguageModel
from collections_app.roster import RosterKeeper
from collections_app.selectors import know
from collections_app.tests.catalogs import OSS, freellmapi, listing, models_dev, openrouter
from collections_app.tests.places import Places, endless, sending, tagged
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

WINDOWS = {"limit": {"context": 131_072, "output": 65_536}}
CAP = {
    "title": "Daily :free cap is account-wide",
    "body": "The :free daily cap (50/day) is shared across ALL :free models on the account, not per model.",
    "targets": [{"platform": "openrouter", "modelGlob": "*:free"}],
}


@pytest.fixture(autouse=True)
def catalogs(places: Places) -> None:
    places.scripts.update(
        {
            "/api.json": tagged(models_dev(groq={OSS: WINDOWS, "llama": {"tool_call": True}})),
            "/openrouter": tagged(listing(openrouter(OSS, "0.0000001"))),
            "/latest": tagged(
                freellmapi({"platform": "groq", "modelId": OSS, "limits": {"rpm": 30, "rpd": 1_000}, "enabled": True})
            ),
        }
    )


def at_groq(**fields: Any) -> LanguageModel:
    # Of a command there is no listing to be asked for.
    return make_model("oss", endpoint=make_endpoint("groq", provider="groq", protocol="llm_cli"), served_id=OSS, **fields)


def known(model: LanguageModel, name: str) -> tuple[Any, str] | None:
    know([model])
    held = model.known.held(name)
    return (held.value, held.source) if held else None


def outcome(summary: Summary, source: str) -> Outcome:
    return next(outcome for outcome in summary.outcomes if outcome.source == source)


def errors(summary: Summary) -> dict[str, str]:
    return {outcome.source: outcome.error for outcome in summary.outcomes if outcome.error}


def test_what_sources_list_becomes_known_of_models_here() -> None:
    model = at_groq()
    summary = refresh()
    assert [(each.source, each.new, each.error) for each in summary.outcomes] == [
        ("models_dev", 2, ""),
        ("openrouter", 1, ""),
        ("freellmapi", 1, ""),
    ]
    assert known(model, "context_window") == (131_072, "models_dev")
    assert known(model, "requests_per_day") == (1_000, "freellmapi")
    assert ("oss", "output_limit", "models_dev", None, 65_536) in [
        (change.names, change.field, change.source, change.before, change.after) for change in summary.changes
    ]


def test_of_a_model_served_elsewhere_openrouter_tells_only_what_it_can_do() -> None:
    model = at_groq()
    refresh()
    told = Fact.objects.filter(source="openrouter")
    assert set(told.values_list("field", flat=True)) <= {"vision", "tools"}
    assert told.get(field="vision").note == f"of the same model there, {OSS}"
    assert known(model, "vision") == (False, "models_dev")


def written(queries: Iterable[dict[str, str]], *rows: type) -> list[str]:
    tables = [f'"{row._meta.db_table}"' for row in rows]  # type: ignore[attr-defined]
    changing = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    return [sql for sql in changing if any(table in sql for table in tables)]


def test_the_same_again_writes_no_row_and_makes_no_other_roster(places: Places) -> None:
    at_groq()
    refresh()
    roster = RosterKeeper()
    before = roster.current()
    # One that has no conditional requests, and one that sends the same in another order.
    places.scripts["/latest"] = sending(freellmapi({"platform": "groq", "modelId": OSS, "limits": {"rpm": 30, "rpd": 1_000}}))
    places.scripts["/api.json"] = sending(models_dev(groq={"llama": {"tool_call": True}, OSS: WINDOWS}))
    with CaptureQueriesContext(connection) as queries:
        summary = refresh()
    assert written(queries.captured_queries, CatalogSource)
    assert written(queries.captured_queries, CatalogEntry, Fact) == []
    assert roster.current() is before
    assert [(each.new, each.changed, each.gone, each.error) for each in summary.outcomes] == [(0, 0, 0, "")] * 3
    assert not summary.changes
    source = CatalogSource.objects.get(name="models_dev")
    assert source.good_at == source.checked_at > source.changed_at


def test_requests_are_conditional_and_freellmapi_is_asked_for_what_is_newer(places: Places) -> None:
    refresh()
    places.asked.clear()
    refresh()
    assert [(path, headers.get("If-None-Match")) for path, headers, _ in places.asked] == [
        ("/api.json", '"one"'),
        ("/openrouter", '"one"'),
        ("/latest?since=2026.08.22", '"one"'),
    ]


def test_what_changed_is_counted_and_a_value_keeps_since_when_it_is_known(places: Places) -> None:
    model = at_groq()
    refresh()
    Fact.objects.update(known_since=timezone.now() - timedelta(days=9))
    narrower = {"limit": {"context": 98_304, "output": 65_536}}
    places.scripts["/api.json"] = tagged(models_dev(groq={OSS: narrower, "qwen": {}}), '"two"')
    summary = refresh()
    read = outcome(summary, "models_dev")
    assert (read.entries, read.new, read.changed, read.gone) == (2, 1, 1, 1)
    assert [(change.names, change.field, change.before, change.after) for change in summary.changes] == [
        ("oss", "context_window", 131_072, 98_304)
    ]
    ages = {
        name: (timezone.now() - since).days
        for name, since in Fact.objects.filter(source="models_dev").values_list("field", "known_since")
    }
    assert (ages["context_window"], ages["output_limit"]) == (0, 9)
    assert known(model, "context_window") == (98_304, "models_dev")
    assert CatalogEntry.objects.get(source="models_dev", served_id="llama").gone_at
    assert not CatalogEntry.objects.get(source="models_dev", served_id=OSS).gone_at


def test_a_fact_goes_when_its_source_was_read_and_no_longer_knows(places: Places) -> None:
    model = at_groq()
    refresh()
    places.scripts["/api.json"] = sending(b"", 503)
    refresh()
    assert known(model, "context_window") == (131_072, "models_dev")
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: {}, "llama": {}}))
    assert [(change.field, change.after) for change in refresh().changes] == [("context_window", None), ("output_limit", None)]
    assert known(model, "context_window") is None


def test_an_id_with_its_folder_is_the_same_id(places: Places) -> None:
    endpoint = make_endpoint("google", provider="google", protocol="llm_cli")
    model = make_model("gemini", endpoint=endpoint, served_id="models/gemini-3.5-flash")
    places.scripts["/api.json"] = sending(models_dev(google={"gemini-3.5-flash": WINDOWS}))
    refresh()
    assert known(model, "context_window") == (131_072, "models_dev")


def test_facts_of_what_is_no_longer_listed_go_and_come_back_with_it(places: Places) -> None:
    model = at_groq()
    refresh()
    places.scripts["/api.json"] = sending(models_dev(groq={"llama": {}, "other": {}}))
    refresh()
    assert known(model, "context_window") is None
    places.scripts["/api.json"] = sending(models_dev(groq={"llama": {}, OSS: {**WINDOWS, "tool_call": True}}))
    read = outcome(refresh(), "models_dev")
    assert (read.new, read.changed, read.gone) == (1, 0, 1)
    assert known(model, "context_window") == (131_072, "models_dev")


def test_where_rows_of_one_model_differ_nothing_is_said_of_it_elsewhere(places: Places) -> None:
    at_groq()
    images = {"architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]}}
    places.scripts["/openrouter"] = sending(listing(openrouter(OSS), openrouter(f"{OSS}:free", **images)))
    refresh()
    assert not Fact.objects.filter(source="openrouter", field="vision").exists()


def test_since_when_a_value_is_known_outlives_what_is_noted_of_it(places: Places) -> None:
    at_groq()
    places.scripts["/openrouter"] = sending(listing(openrouter(OSS)))
    refresh()
    facts = Fact.objects.filter(source="openrouter", field="vision")
    facts.update(known_since=timezone.now() - timedelta(days=9))
    places.scripts["/openrouter"] = sending(listing(openrouter(f"{OSS}:free")))
    refresh()
    fact = facts.get()
    assert (fact.note, (timezone.now() - fact.known_since).days) == (f"of the same model there, {OSS}:free", 9)


def test_what_is_gone_for_half_a_year_is_forgotten(places: Places) -> None:
    refresh()
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: WINDOWS}))
    refresh()
    gone = CatalogEntry.objects.filter(source="models_dev", served_id="llama")
    gone.update(gone_at=timezone.now() - timedelta(days=181))
    refresh()
    assert gone.exists()
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: WINDOWS, "qwen": {}}))
    refresh()
    assert not gone.exists()


def test_several_pages_are_one_listing_and_asked_for_in_whole_again(places: Places) -> None:
    body = json.loads(listing(openrouter("one")))
    first = json.dumps({**body, "links": {"next": "/api/v1/models?offset=1&limit=1"}}).encode()

    def pages(handler: Any) -> None:
        (sending(listing(openrouter("two"))) if "offset=1" in handler.path else tagged(first))(handler)

    places.scripts["/openrouter"] = pages
    assert outcome(refresh(["openrouter"]), "openrouter").entries == 2
    places.asked.clear()
    assert outcome(refresh(["openrouter"]), "openrouter").entries == 2
    assert [headers.get("If-None-Match") for _, headers, _ in places.asked] == [None, None]


def test_pages_are_held_to_one_size_together(places: Places) -> None:
    body = json.loads(listing(openrouter("one", filling="x" * 1_000_000)))
    endless_pages = json.dumps({**body, "links": {"next": "/api/v1/models?offset=1&limit=1"}}).encode()
    places.scripts["/openrouter"] = sending(endless_pages)
    assert "sends more than" in errors(refresh(["openrouter"]))["openrouter"]
    assert len(places.asked) == 8


def test_what_was_learned_from_calls_is_left_alone(places: Places) -> None:
    model = at_groq()
    now = timezone.now()
    Fact.objects.create(
        endpoint=model.endpoint, served_id=OSS, field="context_window", source="learned", value=8_000, known_since=now
    )
    refresh()
    assert known(model, "context_window") == (8_000, "learned")


def test_one_source_that_fails_stops_no_other_and_loses_nothing(places: Places) -> None:
    model = at_groq()
    refresh()
    before = CatalogSource.objects.get(name="models_dev")
    places.scripts["/api.json"] = sending(b"<html>", 200)
    places.scripts["/openrouter"] = sending(listing(openrouter(OSS, "0.0000001"), openrouter("new/model")))
    summary = refresh()
    assert errors(summary).keys() == {"models_dev"}
    assert not summary.failed
    assert outcome(summary, "openrouter").new == 1
    assert known(model, "context_window") == (131_072, "models_dev")
    after = CatalogSource.objects.get(name="models_dev")
    assert after.error.endswith("sent a web page where a listing should be")
    assert (after.good_at, after.etag, after.digest, after.entries) == (
        before.good_at,
        before.etag,
        before.digest,
        before.entries,
    )
    assert after.failing_since == after.checked_at > before.checked_at
    refresh()
    assert CatalogSource.objects.get(name="models_dev").failing_since == after.failing_since
    places.scripts["/api.json"] = tagged(models_dev(groq={OSS: WINDOWS, "llama": {}}))
    assert not errors(refresh())
    assert CatalogSource.objects.get(name="models_dev").failing_since is None


def test_a_reader_that_breaks_stops_no_other(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("collections_app.catalog.refreshing.places.Place.ask", broken)
    own = make_endpoint("near", base_url=places.url)
    places.scripts["/models"] = sending(listing({"id": "one"}))
    assert errors(refresh()) == dict.fromkeys(
        ["models_dev", "openrouter", "freellmapi"], "reading it failed inside the bench; its log says why"
    )
    assert CatalogEntry.objects.get().provider == own.name


def test_half_a_listing_is_not_taken_until_somebody_says_so(places: Places) -> None:
    many = {f"m{number}": {} for number in range(10)}
    places.scripts["/api.json"] = sending(models_dev(groq=many))
    refresh()
    half = {f"m{number}": {} for number in range(4)}
    places.scripts["/api.json"] = sending(models_dev(groq=half))
    told = errors(refresh())["models_dev"]
    assert told.startswith("it lists 4 models where it listed 10: what was known is kept.")
    assert CatalogEntry.objects.filter(source="models_dev", gone_at=None).count() == 10
    taken = outcome(refresh(["models_dev"], accept_shrunken=True), "models_dev")
    assert (taken.error, taken.entries, taken.gone) == ("", 4, 6)
    places.scripts["/api.json"] = sending(models_dev(groq={f"m{number}": {} for number in range(2)}))
    assert not errors(refresh())


def test_what_is_left_out_is_reported_and_the_rest_taken(places: Places) -> None:
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: WINDOWS, "x\x00y": {}, "n" * 1_000: {}, "ok": {}}))
    read = outcome(refresh(), "models_dev")
    assert (read.entries, read.error) == (2, "")
    assert len(read.left_out) >= 2
    assert CatalogSource.objects.get(name="models_dev").report == list(read.left_out)


def test_limits_of_an_account_are_known_by_pattern(places: Places) -> None:
    make_model("free", endpoint=make_endpoint("or", provider="openrouter", protocol="llm_cli"), served_id=f"{OSS}:free")
    row = {"platform": "openrouter", "modelId": f"{OSS}:free", "limits": {"rpm": 20, "rpd": 50}}
    places.scripts["/latest"] = sending(freellmapi(row, quirks=(CAP,)))
    read = outcome(refresh(), "freellmapi")
    assert read.error == ""
    patterns = Fact.objects.filter(served_id__startswith="*").order_by("field")
    assert list(patterns.values_list("served_id", "source", "field", "value")) == [
        ("*:free", "freellmapi", "requests_per_day", 50),
        ("*:free", "freellmapi", "requests_per_minute", 20),
    ]
    assert patterns[0].note.startswith("Daily :free cap is account-wide.")


def test_sources_are_chosen_by_name_and_an_endpoint_means_its_listing(places: Places) -> None:
    make_endpoint("near", base_url=places.url)
    places.scripts["/models"] = sending(listing({"id": "one"}))
    assert [each.source for each in refresh(["near", "openrouter"]).outcomes] == ["endpoint:near", "openrouter"]
    with pytest.raises(
        UnknownSourceError, match=r"no source nowhere\. There are: models_dev, openrouter, freellmapi, endpoint:near$"
    ):
        refresh(["nowhere"])


def test_progress_is_told_source_by_source() -> None:
    told: list[tuple[str, int, int]] = []
    refresh(["models_dev", "openrouter"], progress=lambda *step: told.append(step))
    assert told == [("models_dev", 0, 2), ("openrouter", 1, 2), ("", 2, 2)]


def test_a_new_model_knows_what_was_read_before_without_a_refresh(places: Places) -> None:
    refresh()
    places.asked.clear()
    first, second = at_groq(), make_model("llama", endpoint=Endpoint.objects.get(), served_id="llama")
    keeper = RosterKeeper()
    before = keeper.current()
    merge_facts([second])
    merge_facts([first])
    assert known(first, "context_window") == (131_072, "models_dev")
    # Of others at the same endpoint nothing is lost.
    assert known(second, "tools") == (True, "models_dev")
    assert keeper.current() is not before
    assert not places.asked


def test_facts_of_a_removed_model_and_listings_of_a_removed_endpoint_go(places: Places) -> None:
    model = at_groq()
    near = make_endpoint("near", base_url=places.url)
    places.scripts["/models"] = sending(listing({"id": "one"}))
    refresh()
    assert Fact.objects.exists() and CatalogEntry.objects.filter(source="endpoint:near").exists()
    model.delete()
    near.delete()
    refresh()
    assert not Fact.objects.exists()
    assert not CatalogEntry.objects.filter(source="endpoint:near").exists()
    assert not CatalogSource.objects.filter(name="endpoint:near").exists()


def test_a_catalog_read_elsewhere_is_read_in_whole(places: Places, settings: Any) -> None:
    places.scripts["/api.json"] = tagged(models_dev(groq={f"m{number}": {} for number in range(9)}))
    refresh(["models_dev"])
    settings.BENCH_CATALOG_URLS = {**settings.BENCH_CATALOG_URLS, "models_dev": f"{places.url}/mirror"}
    places.scripts["/mirror"] = sending(models_dev(groq={"other": {}}))
    places.asked.clear()
    assert outcome(refresh(["models_dev"]), "models_dev").entries == 1
    assert places.asked[0][1].get("If-None-Match") is None


def test_another_release_reads_the_same_bytes_again(places: Places, settings: Any) -> None:
    refresh(["models_dev"])
    settings.BENCH_VERSION = "9.9.9"
    places.asked.clear()
    refresh(["models_dev"])
    assert places.asked[0][1].get("If-None-Match") is None


def test_a_slow_source_is_bounded(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collections_app.catalog.refreshing.own_listing.SECONDS", 0.3)
    Endpoint.objects.create(name="slow", base_url=places.url)
    places.scripts["/models"] = endless(b" ", 100, pause=0.05)
    assert errors(refresh())["endpoint:slow"].startswith(f"{places.url[7:]} did not answer in whole within 0.")
