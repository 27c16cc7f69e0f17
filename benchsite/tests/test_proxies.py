"""Behind a proxy: a trusted one tells who asked, and nobody else does."""

import pytest

from benchsite.proxies import networks, seen_through

TRUSTED = networks(("127.0.0.1", "10.0.0.0/8", "2001:db8::/32"))
Headers = list[tuple[str, str]]


def scope_of(peer: str | None, headers: Headers) -> dict:
    return {
        "type": "http",
        "scheme": "http",
        "client": [peer, 50000] if peer is not None else None,
        "headers": [(b"host", b"inner:8123"), *((name.encode(), value.encode("latin-1")) for name, value in headers)],
    }


def told(peer: str | None, *headers: tuple[str, str]) -> tuple[str, str, list[bytes]]:
    """Client, scheme and Hosts as the site sees them."""
    scope = seen_through(scope_of(peer, list(headers)), TRUSTED)
    return scope["client"][0], scope["scheme"], [value for name, value in scope["headers"] if name == b"host"]


ALL = (("x-forwarded-for", "203.0.113.7"), ("x-forwarded-proto", "https"), ("x-forwarded-host", "bench.example"))


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.1.2.3", "2001:db8::5", "::ffff:10.1.2.3"])
def test_a_trusted_proxy_tells_who_asked(peer: str) -> None:
    assert told(peer, *ALL) == ("203.0.113.7", "https", [b"bench.example"])


@pytest.mark.parametrize("peer", ["203.0.113.9", "11.0.0.1", "::1", "127.0.0.2", "", "localhost", None])
def test_from_anybody_else_nothing_is_believed(peer: str | None) -> None:
    scope = scope_of(peer, list(ALL))
    assert seen_through(scope, TRUSTED) is scope


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7, 10.0.0.9", "203.0.113.7"),
        ("127.0.0.1, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.7", "10.0.0.7"),
        ("10.0.0.8, 10.0.0.7", "10.0.0.8"),
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:4860::1]:4711", "2001:4860::1"),
        ("2001:4860::1", "2001:4860::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, unknown, 10.0.0.9", "10.0.0.9"),
        ("nonsense", "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_the_nearest_address_that_is_no_proxy_is_the_client(chain: str, client: str) -> None:
    assert told("10.0.0.1", ("x-forwarded-for", chain))[0] == client


def test_a_caller_that_names_itself_is_not_believed_through_a_proxy_that_appends() -> None:
    mine, added = ("x-forwarded-for", "127.0.0.1"), ("x-forwarded-for", "203.0.113.7")
    assert told("10.0.0.1", mine, added)[0] == "203.0.113.7"


@pytest.mark.parametrize("scheme", ["ftp", "", "https\x00", "javascript"])
def test_a_scheme_that_is_none_changes_nothing(scheme: str) -> None:
    assert told("10.0.0.1", ("x-forwarded-proto", scheme))[1] == "http"


def test_the_last_proxys_word_counts_for_scheme_and_host() -> None:
    headers = (("x-forwarded-proto", "https, http"), ("x-forwarded-host", "evil.example, bench.example"))
    assert told("10.0.0.1", *headers)[1:] == ("http", [b"bench.example"])


def test_without_their_headers_everything_stays() -> None:
    assert told("10.0.0.1", ("x-real-ip", "203.0.113.7"), ("forwarded", "for=203.0.113.7;proto=https")) == (
        "10.0.0.1",
        "http",
        [b"inner:8123"],
    )


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "proxy.example", "", "*", "10.0.0.0/33"])
def test_no_address_and_no_range_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        networks((entry,))
