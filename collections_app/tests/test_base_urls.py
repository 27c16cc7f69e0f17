"""Where prompts and keys may be sent: https to the world, http at home, and nothing that is read in two ways."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from collections_app.models.base_url import check_base_url, is_near, origin_of


def refusal(url: str) -> str:
    try:
        check_base_url(url)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""


@pytest.mark.parametrize(
    "url",
    [
        "https://openrouter.ai/api/v1",
        "https://API.Example.com:8443/v1/",
        "https://xn--bcher-kva.example/v1",
        "https://8.8.8.8/v1",
        "https://[2001:db8::1]:8443/v1",
        "http://127.0.0.1:11434",
        "http://127.9.9.9",
        "http://localhost:8080/v1",
        "http://[::1]:8080/v1",
        "http://[::ffff:127.0.0.1]:8080/v1",
        "http://10.0.0.7/v1",
        "http://172.16.0.1:1234",
        "http://172.31.255.255",
        "http://192.168.1.20:8000/v1",
        "http://[fd12:3456::1]/v1",
        "http://ollama:11434",
        "http://my_box:11434",
        "http://studio.local:1234/v1",
        "http://vllm.models.svc.cluster.local/v1",
        "http://host.docker.internal:11434",
        "http://nas.home.arpa",
        "http://ollama.localhost",
    ],
)
def test_a_place_that_may_be_called(url: str) -> None:
    assert refusal(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "http://8.8.8.8/v1",
        "http://172.32.0.1",
        "http://172.15.0.1",
        "http://192.169.0.1",
        "http://11.0.0.1",
        "http://100.64.0.1",
        "http://[2001:db8::1]/v1",
        "http://[fe00::1]/v1",
        "http://[::ffff:8.8.8.8]/v1",
        "http://local.example.com",
        "http://evil.example.",
        "http://evillocal.example",
        "http://x.internal.example.com",
    ],
)
def test_the_world_is_called_over_https_alone(url: str) -> None:
    assert "over https:// alone" in refusal(url)
    assert refusal(url.replace("http:", "https:")) == ""


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://a.example", "An http:// or https:// URL"),
        ("file:///etc/passwd", "An http:// or https:// URL"),
        ("a.example/v1", "An http:// or https:// URL"),
        ("", "An http:// or https:// URL"),
        ("https://", "An http:// or https:// URL"),
        ("https:///v1", "An http:// or https:// URL"),
        ("https://a.example:0/v1", "An http:// or https:// URL"),
        ("https://a.example:99999", "Not a URL"),
        ("https://a.example:port", "Not a URL"),
        ("https://[::1", "Not a URL"),
        ("https://ada:secret@a.example", "No user name or password"),
        ("https://ada@a.example", "No user name or password"),
        ("https://@a.example", "No user name or password"),
        ("https://:@a.example", "No user name or password"),
        ("https://a.example/v1?key=x", "No query"),
        ("https://a.example/v1?", "No query"),
        ("https://a.example/v1#x", "No query and no fragment"),
        ("https://a.example/v1#", "No query and no fragment"),
        ("https://evil.example\\.a.example/v1", "No backslash"),
        ("https://a.example/\\evil.example", "No backslash"),
        ("https://a.example /v1", "white space"),
        (" https://a.example/v1", "white space"),
        ("https://a.example/v 1", "white space"),
        ("https://bücher.example", "ASCII letters"),
        ("https://a.example%2eevil.example", "ASCII letters"),
        ("https://a..example", "ASCII letters"),
        ("https://-a.example", "ASCII letters"),
        ("http://2130706433/v1", "four decimal numbers"),
        ("http://0x7f000001", "four decimal numbers"),
        ("http://127.1", "four decimal numbers"),
        ("http://134744072", "four decimal numbers"),
        ("https://0x8.8.8.0x8", "four decimal numbers"),
        ("http://8.8.8.8.", "four decimal numbers"),
        ("http://0.0.0.0:11434", "no server's address"),
        ("http://[::]:11434", "no server's address"),
        ("http://224.0.0.1", "no server's address"),
        ("http://169.254.169.254/latest", "Link-local"),
        ("https://169.254.169.254/latest", "Link-local"),
        ("http://[fe80::1]", "Link-local"),
        ("http://[::ffff:169.254.169.254]", "Link-local"),
    ],
)
def test_what_is_no_place_to_call_is_refused_with_why(url: str, why: str) -> None:
    assert why in refusal(url)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.example.com/v1", "https://api.example.com"),
        ("https://api.example.com:443/other", "https://api.example.com"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://127.0.0.1:443", "http://127.0.0.1:443"),
        ("https://[2001:DB8::1]:8443/v1", "https://[2001:db8::1]:8443"),
        ("nowhere", ""),
        ("http://[::1", ""),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "other", ["http://api.example.com/v1", "https://api.example.com:8443", "https://api.example.co", "https://api.example.com."]
)
def test_another_scheme_port_or_name_is_another_origin(other: str) -> None:
    assert origin_of("https://api.example.com/v1") != origin_of(other)


pieces = st.sampled_from(
    [
        "https://",
        "http://",
        "a.example",
        "evil.example",
        "127.0.0.1",
        "[::1]",
        "@",
        "\\",
        "/",
        ":",
        "8080",
        ".",
        "?",
        "#",
        "%2f",
        "x",
        " ",
    ]
)


@given(url=st.lists(pieces, min_size=2, max_size=9).map("".join) | st.text(max_size=40).map("https://".__add__))
@example("https://evil.example\\@a.example/")
@example("https://a.example\\.evil.example/")
def test_whoever_calls_it_reads_the_same_host(url: str) -> None:
    """The library that connects reads URLs by its own rules: what it would call is what was checked."""
    if refusal(url):
        return
    try:
        called = parse_url(url)
    except LocationParseError:
        return
    assert called.auth is None
    port = f":{called.port}" if called.port else ""
    assert origin_of(f"{called.scheme}://{called.host}{port}") == origin_of(url)


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080", True),
        ("https://192.168.1.7/v1", True),
        ("http://llama.local", True),
        ("https://openrouter.ai/api/v1", False),
        ("https://8.8.8.8", False),
        ("https://[", False),
        ("nothing", False),
    ],
)
def test_what_is_near_is_this_machine_or_a_private_network(url: str, near: bool) -> None:
    assert is_near(url) is near
