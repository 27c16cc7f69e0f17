"""A request's key, judged: whose it is, or which of five reasons it is refused for, in words that tell what to do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import Collection
from keys.errors import KeyExpired, KeyMalformed, KeyMissing, KeyRefused, KeyRevoked, KeyUnknown
from keys.key_text import draw_key
from keys.models import GatewayKey
from keys.services import LOCAL, Caller, admit, keys_are_required, note_use, restore, revoke, sent_key, set_collections
from keys.tests.making import make_key

NOW = timezone.now()
THREADS = 20


@pytest.fixture(autouse=True)
def keys_required(settings):
    settings.BENCHWARMERS_REQUIRE_KEYS = True


def stored(name="app"):
    return GatewayKey.objects.get(name=name)


def refused(sent):
    with pytest.raises(KeyRefused) as refusal:
        admit(sent)
    return refusal.value


@pytest.mark.django_db
def test_it_tells_whose_key_was_sent():
    key = make_key("app", "core", "review", rpm=60, bench_field=False)
    caller = admit(sent_key({"authorization": f"Bearer {key}"}))
    assert caller == Caller("app", stored().pk, frozenset({"core", "review"}), 60, bench_field=False)
    assert (caller.may_ask("core"), caller.may_ask("other")) == (True, False)


@pytest.mark.django_db
def test_a_key_for_no_collection_in_particular_asks_every_one():
    caller = admit(make_key())
    assert caller == Caller("app", stored().pk)
    assert caller.may_ask("anything")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "which", "words"),
    [
        ({"revoked_at": datetime(2026, 1, 2, tzinfo=UTC)}, KeyRevoked, '"app" was revoked on 2026-01-02'),
        ({"expires_at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC)}, KeyExpired, '"app" expired on 2026-01-02 at 03:04 UTC'),
        ({"revoked_at": NOW, "expires_at": NOW}, KeyRevoked, "was revoked"),
    ],
)
def test_an_ended_key_is_refused_with_when(changed, which, words):
    key = make_key()
    GatewayKey.objects.update(**changed)
    refusal = refused(key)
    assert (type(refusal), refusal.status_code, refusal.headers) == (which, 401, {"WWW-Authenticate": "Bearer"})
    assert words in str(refusal.detail)
    assert key not in str(refusal.detail)
    assert stored().last_used_at is None


@pytest.mark.django_db
def test_a_key_expires_at_the_moment_it_states(monkeypatch):
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    key = make_key(expires_at=moment)
    monkeypatch.setattr("keys.services.timezone.now", lambda: moment - timedelta(microseconds=1))
    assert admit(key).name == "app"
    monkeypatch.setattr("keys.services.timezone.now", lambda: moment)
    assert isinstance(refused(key), KeyExpired)


@pytest.mark.django_db
def test_an_unknown_key_is_refused():
    key = make_key()
    other = draw_key()
    refusal = refused(other)
    assert (type(refusal), refusal.status_code, refusal.headers) == (KeyUnknown, 401, {"WWW-Authenticate": "Bearer"})
    assert other not in str(refusal.detail)
    # Neither a part of a key nor its case is the key.
    assert isinstance(refused(key[:-1]), KeyUnknown)
    assert isinstance(refused(key.swapcase().replace("BWK", "bwk")), KeyUnknown)


# No database mark: these are told without asking it.
@pytest.mark.parametrize("nothing", [None, ""])
def test_a_missing_key_is_refused_with_how_to_send_one(nothing):
    refusal = refused(nothing)
    assert (type(refusal), refusal.status_code, refusal.headers) == (KeyMissing, 401, {"WWW-Authenticate": "Bearer"})
    assert "Authorization: Bearer" in str(refusal.detail)
    assert "create_key" in str(refusal.detail)


@pytest.mark.parametrize(
    "sent",
    [
        "sk-proj-1234567890123456789012345678901234567890",
        "bwk_",
        "bwk_short",
        "BWK_" + "a" * 43,
        "bwk_" + "a" * 42 + "\n" + "a" * 10,
        "bwk_" + "a" * 43 + "\n",
        "bwk_" + "a" * 43 + "\x00",
        "bwk_" + "a" * 21 + "\u202e" + "a" * 21,
        "bwk_" + "\u0430" * 43,
        "bwk_" + "\uff41" * 43,
        "bwk_" + "\ud800" * 43,
        "bwk_" + "a" * 1_000_000,
        "<script>alert(1)</script>",
        "bwk_" + "a" * 43 + ", Bearer bwk_" + "a" * 43,
        "' OR 1=1 --",
    ],
)
def test_a_malformed_key_is_told_without_a_look_into_the_database(sent):
    refusal = refused(sent)
    assert (type(refusal), refusal.status_code, refusal.headers) == (KeyMalformed, 401, {"WWW-Authenticate": "Bearer"})
    # The same words whatever was sent: none of it comes back.
    assert str(refusal.detail).startswith("What was sent is malformed: no gateway key looks like that.")
    assert refusal.detail == KeyMalformed().detail


@pytest.mark.parametrize(
    ("headers", "query", "key"),
    [
        ({}, None, None),
        ({"authorization": "Bearer one"}, None, "one"),
        ({"authorization": "bearer  one "}, None, "one"),
        ({"authorization": "BEARER one", "x-api-key": "two", "x-goog-api-key": "three"}, "four", "one"),
        ({"x-api-key": "two", "x-goog-api-key": "three"}, "four", "two"),
        ({"x-goog-api-key": "three"}, "four", "three"),
        ({}, "four", "four"),
        ({"authorization": "Basic bG9jYWw6bG9jYWw=", "x-api-key": "two"}, None, "two"),
        ({"authorization": "Bearer", "x-api-key": " "}, "", None),
        ({"authorization": "one"}, None, None),
        ({"authorization": "Bearer one two"}, None, "one two"),
        ({"cookie": "key=five", "x-key": "six"}, None, None),
    ],
)
def test_the_first_key_sent_is_judged(headers, query, key):
    assert sent_key(headers, query) == key


@pytest.mark.parametrize(("switch", "token", "required"), [(False, "", False), (True, "", True), (False, "t" * 16, True)])
def test_keys_are_asked_for_where_the_site_says_so(settings, switch, token, required):
    settings.BENCHWARMERS_REQUIRE_KEYS, settings.BENCHWARMERS_ADMIN_TOKEN = switch, token
    assert keys_are_required() is required


def test_as_installed_every_caller_is_local_whatever_it_sends(settings):
    settings.BENCHWARMERS_REQUIRE_KEYS = False
    assert admit("bwk_nonsense") is admit(None) is LOCAL
    assert Caller("local") == LOCAL
    assert LOCAL.may_ask("anything")


@pytest.mark.django_db
def test_the_admin_token_opens_no_gateway_route(settings):
    settings.BENCHWARMERS_ADMIN_TOKEN = "bwk_" + "t" * 43
    assert isinstance(refused(settings.BENCHWARMERS_ADMIN_TOKEN), KeyUnknown)


@pytest.mark.django_db
def test_revoking_and_restoring_count_from_the_next_request_on():
    key = make_key()
    assert (revoke([stored()]), revoke([stored()])) == (1, 0)
    assert isinstance(refused(key), KeyRevoked)
    assert (restore([stored()]), restore([stored()])) == (1, 0)
    assert admit(key).name == "app"


@pytest.mark.django_db
def test_a_key_whose_collections_are_gone_asks_nothing():
    key = make_key("app", "core", "review")
    Collection.objects.get(name="core").delete()
    assert admit(key).collections == frozenset({"review"})
    Collection.objects.get(name="review").delete()
    assert admit(key).collections == frozenset()
    set_collections(stored(), [])
    assert admit(key).collections is None


@pytest.mark.django_db
def test_a_renamed_collection_is_the_same_one():
    key = make_key("app", "core")
    Collection.objects.update(name="kernel")
    assert admit(key).collections == frozenset({"kernel"})


@pytest.mark.django_db
def test_judging_a_key_is_one_query():
    key = make_key("app", "core", "review", "third")
    admit(key)
    with CaptureQueriesContext(connection) as asked:
        admit(key)
    assert len(asked) == 1
    assert key not in asked.captured_queries[0]["sql"]


@pytest.mark.django_db
def test_its_use_is_noted_once_a_minute(monkeypatch):
    key, start = make_key(), NOW
    seen = []
    for seconds in (0, 1, 59, 60, 61, 300):
        monkeypatch.setattr("keys.services.timezone.now", lambda now=start + timedelta(seconds=seconds): now)
        admit(key)
        seen.append((stored().last_used_at - start).total_seconds())
    assert seen == [0, 0, 0, 60, 60, 300]


@pytest.mark.django_db(transaction=True)
def test_twenty_threads_with_one_key_note_its_use_once():
    key = make_key("app", "core")
    start = Barrier(THREADS)

    def ask(_):
        start.wait(10)
        try:
            return admit(key), note_use(stored().pk, None, NOW + timedelta(hours=1))
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        callers, noted = zip(*pool.map(ask, range(THREADS)), strict=True)
    assert set(callers) == {Caller("app", stored().pk, frozenset({"core"}))}
    assert noted.count(True) == 1
    assert stored().last_used_at == NOW + timedelta(hours=1)
