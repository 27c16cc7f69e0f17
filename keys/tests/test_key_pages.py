"""Keys in the dashboard: made and shown once, listed, narrowed, revoked and restored; names shown as text, hashes never."""

import re
from datetime import datetime, timedelta
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import Change, Collection
from keys.key_text import digest_of
from keys.models import GatewayKey
from keys.services import admit, revoke
from keys.tests.making import make_key

pytestmark = pytest.mark.django_db

LIST = "/admin/keys/gatewaykey/"
KEY = re.compile(r"bwk_[A-Za-z0-9_-]{43}")


@pytest.fixture(autouse=True)
def keys_required(settings):
    settings.BENCHWARMERS_REQUIRE_KEYS = True


def page(client, path="", **query):
    reply = client.get(f"{LIST}{path}", query, follow=True)
    assert reply.status_code == 200, path
    return unescape(reply.content.decode())


def form(name="app", *collections, **fields):
    ticked = [Collection.objects.get_or_create(name=one)[0].pk for one in collections]
    return {
        "name": name,
        "collections": ticked,
        "rpm": "",
        "bench_field": "on",
        "expires_at_0": "",
        "expires_at_1": "",
    } | fields


def add(client, *arguments, **fields):
    return client.post(f"{LIST}add/", form(*arguments, **fields))


def change(client, *collections, **fields):
    row = stored()
    reply = client.post(f"{LIST}{row.pk}/change/", form("renamed", *collections, **fields))
    assert reply.status_code == 302, reply.content.decode()
    return stored()


def act(client, action, *rows):
    sent = {"action": action, "_selected_action": [row.pk for row in rows]}
    return unescape(client.post(LIST, sent, follow=True).content.decode())


def stored(name="app"):
    return GatewayKey.objects.get(name=name)


def test_a_key_is_made_shown_once_and_works(client):
    reply = add(client, "app", "core", rpm="60", expires_at_0="2199-01-31", expires_at_1="12:00:00")
    shown = reply.content.decode()
    (key,) = set(KEY.findall(shown))
    assert "shown this once" in shown
    assert "no-store" in reply["Cache-Control"]
    caller = admit(key)
    assert (caller.name, caller.collections, caller.rpm, caller.bench_field) == ("app", {"core"}, 60, True)
    assert f"{stored().expires_at:%Y-%m-%d %H:%M}" == "2199-01-31 12:00"
    row = stored()
    later = [page(client), page(client, f"{row.pk}/change/"), page(client, f"{row.pk}/history/"), page(client, "add/")]
    later.append(unescape(client.get("/admin/").content.decode()))
    for text in later:
        assert key not in text
        assert row.digest not in text
    assert f"••••{key[-4:]}" in later[0]


def test_nothing_keeps_the_text_of_a_new_key(client):
    reply = add(client, "app", "core")
    (key,) = set(KEY.findall(reply.content.decode()))
    assert "messages" not in reply.cookies
    assert key not in str(reply.cookies) + str(reply.headers)
    for kept in (Session, LogEntry, Change, GatewayKey):
        assert key not in str(list(kept.objects.values()))
    assert all(key not in session.get_decoded().__str__() for session in Session.objects.all())
    # Its hash is the row's alone.
    for kept in (LogEntry, Change):
        assert digest_of(key) not in str(list(kept.objects.values()))


def test_the_page_of_a_new_key_runs_no_inline_script(client):
    shown = add(client).content.decode()
    section = shown[shown.index('<section class="new-key"') : shown.index("</section>")]
    assert "<script" not in section
    assert not re.search(r"\son\w+=", section)
    assert '<script src="/static/keys/copy_key.js" defer></script>' in shown
    assert client.get("/static/keys/copy_key.js").status_code == 200


@pytest.mark.parametrize("button", ["_continue", "_addanother", "_popup"])
def test_whatever_button_was_pressed_the_key_is_shown(client, button):
    reply = add(client, **{button: "1"})
    assert KEY.search(reply.content.decode())


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "<script>alert(1)</script>"}, "1 to 64 letters"),
        ({"name": "Local"}, "a key needs another name"),
        ({"name": "nul\x00"}, "Null characters are not allowed"),
        ({"name": "gro\u202etini"}, "1 to 64 letters"),
        ({"name": "x" * 100_000}, "at most 64 characters"),
        ({"name": ""}, "This field is required"),
        ({"name": "TAKEN"}, "A key of this name exists"),
        ({"rpm": "0"}, "greater than or equal to 1"),
        ({"rpm": "1" * 50}, "less than or equal to 100000"),
        ({"rpm": "many"}, "whole number"),
        ({"expires_at_0": "soon", "expires_at_1": "x"}, "Enter a valid date"),
        ({"collections": ["999"]}, "is not one of the available choices"),
    ],
)
def test_what_cannot_be_is_refused_and_no_key_is_shown(client, fields, words):
    make_key("taken")
    reply = add(client, **({"name": "app"} | fields))
    text = reply.content.decode()
    assert words in unescape(text)
    assert not KEY.search(text)
    assert "<script>alert(1)" not in text
    assert GatewayKey.objects.count() == 1


def test_a_form_sends_neither_hash_nor_name_nor_use(client):
    key = make_key("app", "core")
    row = stored()
    forged = {"digest": "0" * 64, "last_four": "evil", "limited": "", "last_used_at": "", "created_at": ""}
    changed = change(client, "core", rpm="5", **forged)
    kept = ("name", "digest", "last_four", "limited", "created_at")
    assert [getattr(changed, name) for name in kept] == [getattr(row, name) for name in kept]
    assert changed.rpm == 5
    assert admit(key).name == "app"


def test_scope_rate_and_field_change_from_the_next_request_on(client):
    key = make_key("app", "core", rpm=5)
    change(client, "review", "core", rpm="9", bench_field="")
    caller = admit(key)
    assert (caller.collections, caller.rpm, caller.bench_field) == ({"core", "review"}, 9, False)
    change(client)
    assert admit(key).collections is None
    logged = Change.objects.filter(content_type__model="gatewaykey").order_by("-id").values_list("changes", flat=True)
    assert {"collections": ["bench/core, bench/review", ""]} in logged


def test_a_key_whose_collections_are_gone_stays_a_key_for_nothing(client):
    key = make_key("app", "core")
    Collection.objects.all().delete()
    assert "nothing: its collections are gone" in page(client)
    change(client, rpm="7")
    assert admit(key).collections == frozenset()


def test_keys_are_revoked_and_restored_from_the_list(client):
    key = make_key()
    assert "1 of 1 revoked." in act(client, "revoke", stored())
    assert stored().revoked_at
    assert "0 of 1 revoked." in act(client, "revoke", stored())
    assert "1 of 1 restored." in act(client, "restore", stored())
    assert admit(key).name == "app"


def test_keys_are_never_deleted(client):
    make_key()
    row = stored()
    assert client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    act(client, "delete_selected", row)
    assert stored() == row


def test_no_list_is_narrowed_by_hashes(client):
    make_key()
    assert client.get(LIST, {"digest__startswith": stored().digest[:4]}).status_code == 400
    assert client.get("/admin/collections_app/collection/", {"gateway_keys__digest__gt": "0"}).status_code == 400


def test_the_list_tells_where_each_key_stands(client):
    now = timezone.now()
    make_key("alive", "core", "review", rpm=1200, expires_at=now + timedelta(days=2))
    make_key("late", expires_at=now - timedelta(days=1))
    make_key("gone", expires_at=now - timedelta(days=1))
    revoke([stored("gone")])
    GatewayKey.objects.filter(name="alive").update(last_used_at=datetime(2026, 3, 4, 5, 6, tzinfo=now.tzinfo))
    text = page(client)
    for shown in ("bench/core", "bench/review", "1,200", "no limit", "2026-03-04 05:06", "never", "every collection"):
        assert shown in text, shown
    for shown in ("active until", "expired 20", "revoked 20"):
        assert shown in text, shown
    for status, name in (("active", "alive"), ("expired", "late"), ("revoked", "gone")):
        narrowed = page(client, status=status)
        names = {one for one in ("alive", "late", "gone") if f">{one}</a>" in narrowed}
        assert names == {name}, status


def test_a_list_costs_the_same_however_long_it_is(client):
    make_key("key-0", "core")
    page(client)
    with CaptureQueriesContext(connection) as few:
        page(client)
    for n in range(1, 8):
        make_key(f"key-{n}", "core", "review")
    with CaptureQueriesContext(connection) as many:
        page(client)
    assert len(many) == len(few)


def test_names_that_got_past_every_rule_are_shown_as_text(client):
    row = GatewayKey(name="<script>alert(1)</script>", digest="d", last_four="<b>x")
    with pytest.raises(ValidationError):
        row.full_clean()
    row.save()
    for path in ("", f"{row.pk}/change/", f"{row.pk}/history/"):
        text = client.get(f"{LIST}{path}", follow=True).content.decode()
        assert "<script>alert(1)" not in text, path
        assert "••••<b>" not in text, path
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in client.get(LIST).content.decode()


def test_the_first_page_and_the_log_lead_to_keys(client):
    make_key()
    assert f'href="{LIST}"' in client.get("/admin/").content.decode()
    assert f'href="{LIST}{stored().pk}/change/"' in client.get("/admin/collections_app/change/").content.decode()


@pytest.mark.parametrize("path", ["", "add/", "1/change/"])
def test_no_gateway_key_opens_these_pages(path):
    key = make_key()
    foreign = Client(REMOTE_ADDR="10.1.2.3", headers={"authorization": f"Bearer {key}", "x-api-key": key})
    reply = foreign.get(f"{LIST}{path}")
    assert reply.status_code == 302
    assert reply["Location"].startswith("/admin/login/")


def test_a_form_without_its_token_is_refused():
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(f"{LIST}add/", form()).status_code == 403
    assert not GatewayKey.objects.exists()
