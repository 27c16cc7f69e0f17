"""The catalog's door: what a place sends is taken within bytes and seconds, and by its rules, or told why not."""

import gzip
import time
import tracemalloc
from typing import Any

import pytest

from collections_app.catalog.entry import SourceError
from collections_app.catalog.fetch import Fetched, Request, StatusError, fetch
from collections_app.tests.places import Places, Script, bomb, endless, sending, tagged

LISTING = b'{"data": [{"id": "one"}]}'


def get(places: Places, path: str = "/models", **settings: Any) -> Fetched:
    return fetch(Request(f"{places.url}{path}", **{"largest": 1_000_000, "seconds": 5, **settings}))


def refused(places: Places, script: Script, **settings: Any) -> str:
    places.scripts["/models"] = script
    with pytest.raises(SourceError) as refusal:
        get(places, **settings)
    # For people, and about the host alone.
    assert "/models" not in str(refusal.value)
    return str(refusal.value).replace(places.url.removeprefix("http://"), "HOST")


def test_a_listing_is_fetched_and_the_next_request_is_conditional(places: Places) -> None:
    places.scripts["/models"] = tagged(LISTING)
    first = get(places)
    assert (first.body, first.etag) == (LISTING, '"one"')
    again = get(places, etag=first.etag)
    assert (again.body, again.etag) == (None, '"one"')
    assert [headers.get("If-None-Match") for _, headers, _ in places.asked] == [None, '"one"']


def test_a_compressed_listing_is_read(places: Places) -> None:
    places.scripts["/models"] = sending(gzip.compress(LISTING), Content_Encoding="gzip")
    assert get(places).body == LISTING


def test_json_is_posted_with_the_headers_of_a_key(places: Places) -> None:
    places.scripts["/api/show"] = sending(LISTING)
    assert get(places, "/api/show", body=b'{"model": "one"}', key={"Authorization": "Bearer k"}).body == LISTING
    ((_, headers, body),) = places.asked
    assert (headers["Authorization"], headers["Content-Type"], body) == ("Bearer k", "application/json", b'{"model": "one"}')


def test_no_more_than_the_largest_size_is_read_or_held(places: Places) -> None:
    scripts = endless(b" " * 65_536, 200_000_000), bomb(200_000_000)
    tracemalloc.start()
    try:
        for script in scripts:
            assert refused(places, script) == "HOST sends more than 1,000,000 bytes"
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("block", [b" ", b"HTTP header"])
def test_a_slow_drip_ends_when_its_seconds_are_over(places: Places, block: bytes) -> None:
    started = time.monotonic()
    told = refused(places, endless(block, 600 * len(block), pause=0.05), seconds=0.4)
    assert told == "HOST did not answer in whole within 0.4 s"
    assert time.monotonic() - started < 10


def test_headers_that_drip_end_too(places: Places) -> None:
    def script(handler: Any) -> None:
        for _ in range(600):
            handler.wfile.write(b"H")
            time.sleep(0.05)

    started = time.monotonic()
    assert refused(places, script, seconds=0.4) == "HOST did not answer in whole within 0.4 s"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (sending(b"<html>Sign in</html>"), "HOST sent a web page where a listing should be"),
        (sending(LISTING, Content_Type="text/html; charset=utf-8"), "HOST sent a web page where a listing should be"),
        (sending(LISTING, Content_Type="image/png"), "HOST sent image/png where a listing should be"),
        (sending(LISTING, Content_Encoding="br"), "HOST compresses in a way that was not asked for"),
        (sending(LISTING, Content_Encoding="gzip"), "the answer of HOST is compressed in a way that cannot be read"),
        (sending(gzip.compress(LISTING)[:-12], Content_Encoding="gzip"), "the answer of HOST was cut off"),
        (sending(LISTING, Content_Length="100"), "the answer of HOST was cut off"),
        (sending(b"", 304), "HOST answers 304 where a listing should be"),
        (sending(b"secret", 500), "HOST answers 500 where a listing should be"),
        (sending(b"", 401), "HOST answers 401: it asks for a key"),
        (sending(b"", 429), "HOST answers 429: it was asked too often"),
    ],
)
def test_what_is_no_listing_is_told_in_words(places: Places, script: Script, told: str) -> None:
    assert refused(places, script) == told


def test_a_status_can_be_told_apart(places: Places) -> None:
    places.scripts["/models"] = sending(b"", 403)
    with pytest.raises(StatusError) as refusal:
        get(places, key={"Authorization": "Bearer k"})
    assert (refusal.value.status, str(refusal.value).partition(": ")[2]) == (403, "it does not accept the key")


def test_a_redirect_is_followed_on_its_own_host_and_without_a_key(places: Places) -> None:
    places.scripts.update({"/models": sending(b"", 302, Location="/moved?page=2"), "/moved": sending(LISTING)})
    assert get(places).body == LISTING
    assert places.paths() == ["/models", "/moved?page=2"]
    told = refused(places, sending(b"", 302, Location="/moved"), key={"Authorization": "Bearer k"})
    assert told == "HOST redirects, which a key is not sent along"
    assert places.paths()[2:] == ["/models"]


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://10.0.0.1/latest/meta-data",
        "http://169.254.169.254/",
        "https://127.0.0.1/",
        "//other.example/x",
        "http://127.0.0.1:9/",
        "file:///etc/passwd",
        "",
    ],
)
def test_no_redirect_leads_to_another_host_or_scheme(places: Places, elsewhere: str) -> None:
    told = refused(places, sending(b"", 301, Location=elsewhere))
    assert told == "HOST redirects, and another host is not asked in its place"


def test_circles_end(places: Places) -> None:
    assert refused(places, sending(b"", 307, Location="/models")) == "HOST redirects in circles"


@pytest.mark.parametrize(
    "url",
    ["http://models.example/api.json", "ftp://models.example/", "https://169.254.169.254/", "https://u:p@models.example/"],
)
def test_a_url_that_nothing_may_be_asked_at_is_not_asked(url: str) -> None:
    with pytest.raises(SourceError, match="the URL is not one to be asked"):
        fetch(Request(url, largest=1_000, seconds=1))


def test_nobody_there_is_told() -> None:
    with pytest.raises(SourceError, match=r"^127\.0\.0\.1:9 refused the connection$"):
        fetch(Request("http://127.0.0.1:9/models", largest=1_000, seconds=1))


def test_no_proxy_of_the_environment_is_used(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    places.scripts["/models"] = sending(LISTING)
    assert get(places).body == LISTING


def test_a_key_that_no_header_can_hold_is_told_without_it(places: Places) -> None:
    told = refused(places, sending(LISTING), key={"Authorization": "Bearer s3cr\net"})
    assert told == "the key holds characters that no key has"
    assert not places.asked
