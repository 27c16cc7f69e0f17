"""What feeds must not be able to do: raise anything but SourceError, get anything out of range in, or lose their neighbours."""

import json
import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collections_app.catalog.entry import Entry, Listing, SourceError
from collections_app.catalog.reading import MOST_BYTES, MOST_DOLLARS, MOST_TOKENS
from collections_app.catalog.sources import endpoint_listing, freellmapi, llama_props, models_dev, ollama_show, openrouter
from collections_app.models import CatalogEntry
from collections_app.tests import catalog_feeds as feeds
from collections_app.tests.catalog_feeds import SAMPLES, as_json

READERS = (models_dev.read, openrouter.read, freellmapi.read, endpoint_listing.read, llama_props.read, ollama_show.read)
GOOD = {"id": "good"}


def left_out(*rows: Any) -> tuple[str, ...]:
    """The report on a listing of these rows and a good one, which has to be in it."""
    listing = endpoint_listing.read(json.dumps({"data": [*rows, GOOD]}).encode())
    assert [entry.served_id for entry in listing.entries][-1] == "good"
    return listing.left_out


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<!doctype html><title>Sign in</title>", "web page"),
        (b"\xef\xbb\xbf  <html>", "web page"),
        (b"", "empty"),
        (b"   ", "empty"),
        (b'{"groq": {"models": {"a": {"id"', "cut off"),
        (b"[" * 100_000, "deep|cut off"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deep|cut off"),
        (b" " * (MOST_BYTES + 1), "larger"),
        (b"null", "."),
        (b'"text"', "."),
        (b"7", "."),
        (b"{}", "."),
        (b'{"error": {"message": "invalid key"}}', "."),
    ],
)
@pytest.mark.parametrize("read", READERS)
def test_what_is_no_listing_is_refused_whole(read: Any, body: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read(body)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "invalid\nkey"}}, "error: invalid key"),
        ({"error": "nope"}, "error: nope"),
        ({"success": False, "result": None, "errors": [{"code": 7, "message": "no account"}]}, "error: no account"),
        ({"detail": "Not Found"}, "error: Not Found"),
        ({"object": "list"}, "no list of models"),
    ],
)
def test_an_error_in_place_of_a_listing_is_told(body: Any, told: str) -> None:
    with pytest.raises(SourceError, match=told):
        endpoint_listing.read(as_json(body))


def test_a_value_out_of_range_is_unknown_and_its_model_is_kept() -> None:
    body = b"""{"data": [
        {"id": "nan", "context_length": NaN, "pricing": {"prompt": NaN, "completion": Infinity}},
        {"id": "negative", "context_length": -5, "pricing": {"prompt": "-0.5", "completion": "x"}},
        {"id": "absurd", "context_length": 1e300, "max_output_length": true, "pricing": {"prompt": 1e9, "completion": "0"}},
        {"id": "words", "context_length": "many", "pricing": "free", "capabilities": "vision", "architecture": 7}
    ]}"""
    listing = endpoint_listing.read(body)
    assert [entry.served_id for entry in listing.entries] == ["nan", "negative", "absurd", "words"]
    for entry in listing.entries:
        assert (entry.context_window, entry.output_limit, entry.price_in, entry.free) == (None, None, None, "")
    assert len(listing.left_out) == 10
    assert "negative: context_length -5 is no number that can be meant" in listing.left_out


def test_a_row_that_is_no_model_is_left_out_alone() -> None:
    lines = left_out(7, None, [], {}, {"id": ""}, {"id": 5}, {"id": "x" * 201}, {"id": "a\x00b"}, {"id": "gpt\u202eoss"})
    assert len(lines) == 9
    assert all(": its id has characters that do not show" in line for line in lines[-2:])


@pytest.mark.parametrize("id_", ["models/", " models/ ", "*", "*:free", "models/*"])
def test_an_id_that_names_nothing_or_many_is_no_model(id_: str) -> None:
    assert len(left_out({"id": id_, "rpm": 1})) == 1


def test_text_shows_as_what_it_is_and_is_cut() -> None:
    name = "<script>alert(1)</script>\u202e\x00 \ud800evil\u200b name\n"
    row = {"id": "m", "display_name": name}
    listing = endpoint_listing.read(json.dumps({"data": [row, {"id": "n", "display_name": "x" * 1_000_000}]}).encode())
    assert [entry.name for entry in listing.entries] == ["<script>alert(1)</script> evil name", "x" * 199 + "…"]


def test_the_report_is_bounded() -> None:
    lines = left_out(*({"id": "x" * 10_000} for _ in range(500)))
    assert len(lines) == 100
    assert lines[-1] == "and 401 more"
    assert all(len(line) <= 200 for line in lines)


def test_an_id_listed_twice_is_one_entry() -> None:
    body = as_json({"data": [{"id": "a", "max_model_len": 8192}, {"id": "a", "max_model_len": 4096}, {"id": "b"}]})
    assert [(entry.served_id, entry.context_window) for entry in endpoint_listing.read(body).entries] == [
        ("a", 4096),
        ("b", None),
    ]
    twice = {"one": {**feeds.a_model(), "id": "same"}, "two": {**feeds.a_model(), "id": "same"}}
    assert len(models_dev.read(as_json({"groq": feeds.provider(twice)})).entries) == 1


def test_a_broken_provider_costs_its_neighbours_nothing() -> None:
    document = {
        "text": "x",
        "empty": {},
        "list": {"models": []},
        "x" * 300: feeds.provider({"m": feeds.a_model()}),
        "good": feeds.provider({"a": feeds.a_model(), "b": None, "c": {**feeds.a_model(), "id": 5, "limit": [], "cost": "x"}}),
    }
    listing = models_dev.read(as_json(document))
    assert [(entry.provider, entry.served_id) for entry in listing.entries] == [("good", "a")]
    assert len(listing.left_out) == 6


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "https://10.0.0.1/v1",
        "https://169.254.169.254/",
        "https://router.local/v1",
        "ftp://x.example",
    ],
)
def test_a_url_that_a_feed_must_not_name_is_told_and_offered_to_nobody(url: str) -> None:
    body = as_json({"evil": feeds.provider({"m": feeds.a_model()}, api=url)})
    listing = models_dev.read(body)
    assert len(listing.entries) == 1
    assert listing.left_out[0].startswith("evil: ")
    assert models_dev.providers(body) == ()


def test_limits_in_prose_cannot_take_for_ever() -> None:
    globs = ["*" * 9000, "*a" * 99 + "*b", "*a" * 100]
    quirk = {
        "title": "account-wide " + "9" * 10_000,
        "body": "1" * 10_000,
        "targets": [{"platform": "p", "modelGlob": glob} for glob in globs],
    }
    body = feeds.freellmapi(feeds.a_route(platform="p", modelId="a" * 200), quirks=[quirk] * 300)
    (limit,) = freellmapi.account_limits(body)
    assert (limit.pattern, limit.requests_per_minute) == ("*a" * 100, 30)


KEYS = sorted(set(json.dumps(json.loads((SAMPLES / "listings.json").read_text())).split('"')[1::2]))[:400]
ODD = [
    None,
    True,
    -1,
    0,
    2**70,
    0.5,
    "",
    "-1",
    "1e999",
    "NaN",
    "\u202e\x00x",
    "x" * 300,
    "http://10.0.0.1",
    "2026-13-45",
    "text->",
]
LEAVES = st.sampled_from(ODD) | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6), max_leaves=30
)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.sampled_from(["data", "models", "result", "groq"]))
def test_no_json_raises_anything_else_and_every_entry_is_in_range(value: Any, key: str) -> None:
    model = value if isinstance(value, dict) else {"limit": value, "cost": value, "modalities": value}
    documents = (
        value,
        {key: [value, model]},
        {key: value},
        {"data": [{"id": "m", **model}]},
        {"groq": {"models": {"m": model}, "env": value, "api": value}},
        {"models": [{**feeds.a_route(), **model}], "quirks": [{"title": "account-wide", **model}, value]},
    )
    for body in map(as_json, documents):
        for read in (*READERS, models_dev.providers, freellmapi.account_limits):
            try:
                found = read(body)
            except SourceError as error:
                assert len(str(error)) <= 500
                continue
            for entry in found.entries if isinstance(found, Listing) else (found,) if isinstance(found, Entry) else ():
                assert in_range(entry)


def in_range(entry: Entry) -> bool:
    """Whether the entry fits its row: every text within its column, every number one that can be meant."""
    for column in fields(Entry):
        value, field = getattr(entry, column.name), CatalogEntry._meta.get_field(column.name)
        if isinstance(value, str):
            assert len(value) <= (field.max_length or 0), column.name
            assert value.isprintable(), column.name
        elif isinstance(value, float):
            assert math.isfinite(value), column.name
            assert 0 <= value <= MOST_DOLLARS, column.name
        elif isinstance(value, int) and not isinstance(value, bool):
            assert 0 < value <= MOST_TOKENS, column.name
    return entry.kind in CatalogEntry.Kind.values and entry.free in CatalogEntry.Free.values
