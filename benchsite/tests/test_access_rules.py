"""Every address has a stated access rule, and keeps to it.

A new pattern that no line of RULES covers fails here; so does one that answers a stranger otherwise than its line says.
Static files are no pattern: they are the theme's and ours, the same for everybody, and open.
"""

import re

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import get_resolver

from benchsite.log.routes import patterns_of
from gateway.edge import URLCONF
from gateway.tests.running_server import running_server

TOKEN = "a-token-of-this-test-alone"
# What a stranger may do, by the beginning of the address; the first that fits counts.
#   open        anybody whom the edge lets in (Host, cross-site)
#   link        whoever holds a link that this server has signed: to look is free, to confirm gives its one verdict, once
#   numbers     this machine while no token is set, else whoever sends the metrics token or the admin token
#   dashboard   this machine while no admin token is set, else whoever has logged in
#   key         anybody while no keys are asked for, else a gateway key that is good; what it may see is its scope's matter
RULES = (
    ("open", ("$", "favicon.ico$", "healthz$", "readyz$", "api-schema$", "api-docs$", "admin/login/$")),
    ("link", ("verdict/<str:token>/$",)),
    ("numbers", ("metrics$",)),
    ("dashboard", ("admin/",)),
    ("key", ("v1/", "v1beta/", "api/", "bench/", "mcp$")),
    # Those of OpenAI's and Anthropic's that answer without /v1 too.
    ("key", ("chat/completions$", "completions$", "messages", "models", "responses")),
)
SAMPLES = {"<id>": "1", "(?P<url>.*)$": "nowhere/", "<path:model>": "bench/pair", "<path:content_type_id>": "1"}


def every_pattern(urlconf):
    return sorted(set(patterns_of(get_resolver(urlconf))))


GATEWAY, SITE = every_pattern(URLCONF), every_pattern(settings.ROOT_URLCONF)


def rule_of(pattern):
    """The stated rule, or None."""
    return next((rule for rule, starts in RULES if any(re.match(start, pattern) for start in starts)), None)


def sample_of(pattern):
    """An address that a pattern matches, in the admin's own case of regular expressions too."""
    for wild, sample in SAMPLES.items():
        pattern = pattern.replace(wild, sample)
    pattern = re.sub(r"\^\(\?P<app_label>(\w+)[^)]*\)/\$", r"\1/", pattern)
    return "/" + re.sub(r"<[^>]+>", "1", pattern)


def test_every_pattern_has_a_rule():
    assert [pattern for pattern in GATEWAY + SITE if rule_of(pattern) is None] == []
    # A list that nothing was found for would pass.
    assert len(GATEWAY) > 40 and len(SITE) > 50


def test_the_gateways_patterns_ask_for_a_key_and_the_sites_never_do():
    assert {rule_of(pattern) for pattern in GATEWAY} == {"key"}
    assert {rule_of(pattern) for pattern in SITE} == {"open", "link", "numbers", "dashboard"}


def test_no_rule_is_stated_for_nothing():
    used = {start for pattern in GATEWAY + SITE for _, starts in RULES for start in starts if re.match(start, pattern)}
    assert {start for _, starts in RULES for start in starts} == used


@pytest.fixture(scope="module")
def keyed_server(loud_bench, tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("rules"), loud_bench, BENCHWARMERS_ADMIN_TOKEN=TOKEN) as server:
        yield server


@pytest.mark.parametrize("pattern", GATEWAY)
def test_a_stranger_needs_a_key(keyed_server, pattern):
    replies = {method: keyed_server.request(method, sample_of(pattern), {}) for method in ("GET", "POST", "PUT", "DELETE")}
    # Another method than the route's is refused before anybody is asked who they are.
    assert {reply.status for reply in replies.values()} == {401, 405}
    for reply in replies.values():
        assert (reply.headers.get("www-authenticate") == "Bearer") == (reply.status == 401)


@pytest.mark.django_db
@pytest.mark.parametrize("pattern", [pattern for pattern in SITE if rule_of(pattern) == "dashboard"])
@pytest.mark.parametrize(("token", "address"), [(TOKEN, "127.0.0.1"), ("", "192.0.2.7")])
def test_a_stranger_is_sent_to_the_login(pattern, token, address):
    path = sample_of(pattern)
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=token):
        replies = [Client(REMOTE_ADDR=address).generic(method, path) for method in ("GET", "POST", "PUT", "DELETE")]
    for reply in replies:
        assert reply.status_code == 302
        # Whoever is not logged in cannot log out, and is sent to the first page, which sends them on.
        assert reply.headers["Location"].startswith("/admin/" if path == "/admin/logout/" else "/admin/login/?next=")


@pytest.mark.django_db
@pytest.mark.parametrize("pattern", [pattern for pattern in SITE if rule_of(pattern) == "numbers"])
@pytest.mark.parametrize(("token", "status"), [(TOKEN, 401), ("", 403)])
def test_a_stranger_is_shown_no_numbers(pattern, token, status):
    client = Client(REMOTE_ADDR="192.0.2.7")
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=token):
        replies = [client.generic(method, sample_of(pattern)) for method in ("GET", "POST", "PUT", "DELETE")]
    assert [reply.status_code for reply in replies] == [status, 405, 405, 405]
    assert all(b"bench_" not in reply.content for reply in replies)


@pytest.mark.django_db
@pytest.mark.parametrize("pattern", [pattern for pattern in SITE if rule_of(pattern) == "open"])
def test_what_is_open_tells_a_stranger_nothing_of_the_bench(pattern):
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=TOKEN):
        reply = Client(REMOTE_ADDR="192.0.2.7").get(sample_of(pattern))
    # An icon is a static file, and asked for where it is.
    assert reply.status_code == (302 if "favicon" in pattern else 200)
    assert b"collections_app/collection" not in reply.content


@pytest.mark.django_db
@pytest.mark.parametrize("pattern", [pattern for pattern in SITE if rule_of(pattern) == "link"])
def test_without_a_link_of_this_server_nothing_is_told_and_nothing_written(pattern):
    client = Client(REMOTE_ADDR="192.0.2.7")
    replies = [client.generic(method, sample_of(pattern)) for method in ("GET", "POST")]
    assert [reply.status_code for reply in replies] == [404, 404]
    assert all(b"no link of this server" in reply.content for reply in replies)
