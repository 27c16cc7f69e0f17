"""With an admin token set the dashboard asks who is there: the token's holder, or staff by name and password."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib import admin
from django.contrib.auth import authenticate, get_user_model
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client, override_settings
from django.utils import timezone
from pytest_django import Settings

from benchsite.dashboard import login_tries as counting
from benchsite.dashboard.login_tries import LoginTries, login_tries, network_of

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-24-characters"
LOGIN = "/admin/login/"
COOKIE, CSRF = "bench_session", "bench_csrf"


@pytest.fixture(autouse=True)
def guarded(settings: Settings) -> Iterator[None]:
    settings.BENCHWARMERS_ADMIN_TOKEN = TOKEN
    settings.SESSION_COOKIE_NAME = COOKIE
    settings.CSRF_COOKIE_NAME = CSRF
    # The real one takes its time, on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    counting._made.cache_clear()
    yield
    counting._made.cache_clear()


def log_in(client: Client, token: str = TOKEN, address: str = "203.0.113.7") -> HttpResponse:
    return client.post(LOGIN, {"token": token}, REMOTE_ADDR=address)  # type: ignore[return-value]


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def staff(name: str = "ada", **fields: bool) -> None:
    get_user_model().objects.create_user(name, password="correct horse battery", is_staff=True, is_superuser=True, **fields)


def test_the_token_opens_the_dashboard(client: Client) -> None:
    assert client.get("/admin/").headers["Location"] == "/admin/login/?next=/admin/"
    page = client.get(LOGIN)
    assert page.status_code == 200
    assert re.findall(rb'name="(\w+)"[^>]* required', page.content) == [b"token", b"username", b"password"]
    reply = client.post(f"{LOGIN}?next=/admin/auth/user/", {"token": TOKEN, "next": "/admin/auth/user/"})
    assert (reply.status_code, reply.headers["Location"]) == (302, "/admin/auth/user/")
    assert is_in(client)
    operator = get_user_model().objects.get()
    assert (operator.get_username(), operator.has_usable_password()) == ("operator", False)


def test_staff_log_in_by_name_and_password(client: Client) -> None:
    staff()
    assert client.post(LOGIN, {"username": "ada", "password": "correct horse battery"}).status_code == 302
    assert client.get("/admin/").context["user"].get_username() == "ada"


@pytest.mark.parametrize(
    "sent",
    [
        {"token": "a-token-of-24-characterS"},
        {"token": TOKEN[:-1]},
        {"token": TOKEN + "x"},
        {"token": ""},
        {"token": "\x00"},
        {"token": "é" * 24},
        {"token": "x" * 100_000},
        {"username": "ada", "password": "wrong"},
        {"username": "ada", "password": TOKEN},
        {"username": "ada"},
        {"username": "", "password": ""},
        {"username": "operator", "password": TOKEN},
        {"password": TOKEN},
        {},
        {"token": "wrong", "username": "ada", "password": "correct horse battery"},
    ],
)
def test_nothing_else_opens_it(client: Client, sent: dict[str, str]) -> None:
    staff()
    reply = client.post(LOGIN, sent)
    assert reply.status_code == 200
    assert reply.context["form"].errors
    assert TOKEN.encode() not in reply.content
    assert not is_in(client)
    assert not Session.objects.exists()


def test_who_is_no_staff_or_switched_off_stays_out(client: Client) -> None:
    get_user_model().objects.create_user("guest", password="correct horse battery")
    get_user_model().objects.create_user("operator", is_staff=True, is_active=False)
    assert client.post(LOGIN, {"username": "guest", "password": "correct horse battery"}).status_code == 200
    assert log_in(client).status_code == 200
    assert not is_in(client)


def test_the_token_logs_in_nobody_who_is_switched_off_and_no_token_is_no_token(settings: Settings) -> None:
    assert authenticate(None, admin_token=TOKEN) is not None
    get_user_model().objects.update(is_active=False)
    assert authenticate(None, admin_token=TOKEN) is None
    get_user_model().objects.update(is_active=True)
    settings.BENCHWARMERS_ADMIN_TOKEN = ""
    assert authenticate(None, admin_token="") is None


def test_without_a_token_another_machine_sees_the_staff_login_alone(client: Client, settings: Settings) -> None:
    settings.BENCHWARMERS_ADMIN_TOKEN = ""
    staff()
    far = {"REMOTE_ADDR": "203.0.113.7"}
    page = client.get(LOGIN, **far)
    assert b'name="token"' not in page.content and b'name="username"' in page.content
    for sent in ({"token": ""}, {"token": TOKEN}, {}):
        assert client.post(LOGIN, sent, **far).status_code == 200
    assert client.post(LOGIN, {"username": "ada", "password": "correct horse battery"}, **far).status_code == 302


def test_sessions_end_when_the_token_changes(client: Client) -> None:
    by_name = Client()
    staff()
    log_in(client)
    by_name.post(LOGIN, {"username": "ada", "password": "correct horse battery"})
    assert is_in(client) and is_in(by_name)
    with override_settings(BENCHWARMERS_ADMIN_TOKEN="another-of-24-characters"):
        assert not is_in(client) and not is_in(by_name)
    assert not is_in(client) and not is_in(by_name)
    assert not Session.objects.exists()


def test_a_session_from_before_there_was_a_token_ends_with_it(client: Client) -> None:
    staff()
    with override_settings(BENCHWARMERS_ADMIN_TOKEN=""):
        client.post(LOGIN, {"username": "ada", "password": "correct horse battery"}, REMOTE_ADDR="203.0.113.7")
        assert client.get("/admin/", REMOTE_ADDR="203.0.113.7").status_code == 200
    assert not is_in(client)


def test_a_session_holds_no_token(client: Client) -> None:
    log_in(client)
    assert TOKEN not in str(Session.objects.get().get_decoded())


def test_a_login_begins_a_session_of_its_own(client: Client) -> None:
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    planted = session.session_key
    log_in(client)
    assert client.cookies[COOKIE].value != planted
    stranger = Client()
    stranger.cookies[COOKIE] = planted
    assert not is_in(stranger)


def test_another_users_login_keeps_nothing_of_the_session_before(client: Client) -> None:
    staff()
    client.post(LOGIN, {"username": "ada", "password": "correct horse battery"})
    session = client.session
    session["noted"] = "for ada"
    session.save()
    log_in(client)
    assert "noted" not in client.session


def test_logging_out_ends_the_session_everywhere(client: Client) -> None:
    log_in(client)
    copied = Client()
    copied.cookies[COOKIE] = client.cookies[COOKIE].value
    assert is_in(copied)
    assert client.get("/admin/logout/").status_code == 405
    assert client.post("/admin/logout/").status_code == 200
    assert not is_in(client) and not is_in(copied)
    assert not Session.objects.exists()


def test_sessions_that_are_over_are_cleared_away(client: Client) -> None:
    log_in(client)
    Session.objects.update(expire_date=timezone.now() - timezone.timedelta(days=1))
    log_in(Client())
    assert Session.objects.count() == 1


def test_a_login_leads_to_no_other_site(client: Client) -> None:
    for target in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"):
        reply = Client().post(LOGIN, {"token": TOKEN, "next": target})
        assert reply.headers["Location"] == "/admin/", target


def test_a_form_of_another_site_logs_nobody_in_or_out() -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(LOGIN, {"token": TOKEN}).status_code == 403
    strict.get(LOGIN)
    sent = {"token": TOKEN, "csrfmiddlewaretoken": strict.cookies[CSRF].value}
    assert strict.post(LOGIN, sent, headers={"Origin": "https://evil.example"}).status_code == 403
    assert strict.post(LOGIN, sent, headers={"Origin": "http://testserver"}).status_code == 302
    assert strict.post("/admin/logout/").status_code == 403
    assert is_in(strict)


@override_settings(CSRF_TRUSTED_ORIGINS=["https://bench.example"])
def test_a_form_of_the_public_url_is_taken_from_a_proxy_that_ends_tls() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.get(LOGIN)
    sent = {"token": TOKEN, "csrfmiddlewaretoken": strict.cookies[CSRF].value}
    assert strict.post(LOGIN, sent, headers={"Origin": "https://bench.example"}).status_code == 302


def test_cookies_are_for_this_site_and_for_no_script(client: Client) -> None:
    client.get(LOGIN)
    log_in(client)
    for name in (COOKIE, CSRF):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")


def test_after_five_wrong_tries_an_address_waits_and_is_told_how_long(client: Client) -> None:
    for _ in range(5):
        assert log_in(client, "wrong").status_code == 200
    reply = log_in(client)
    assert reply.status_code == 429
    wait = int(reply.headers["Retry-After"])
    assert 1 <= wait <= 60
    assert f"in {wait} second" in reply.content.decode()
    assert not is_in(client)
    assert log_in(Client(), address="203.0.113.8").status_code == 302
    assert client.get(LOGIN).status_code == 200


def test_names_and_tokens_are_tried_from_one_count(client: Client) -> None:
    for _ in range(5):
        client.post(LOGIN, {"username": "ada", "password": "wrong"})
    assert client.post(LOGIN, {"token": TOKEN}).status_code == 429


def test_getting_in_costs_no_try_and_forgives_no_wrong_one(client: Client) -> None:
    for _ in range(4):
        assert log_in(client, "wrong").status_code == 200
    for _ in range(10):
        assert log_in(Client()).status_code == 302
    assert log_in(client, "wrong").status_code == 200
    assert log_in(Client()).status_code == 429


def test_guesses_through_a_proxy_do_not_keep_this_machines_owner_out(client: Client) -> None:
    for _ in range(6):
        reply = client.post(LOGIN, {"token": "wrong"}, headers={"X-Forwarded-For": "203.0.113.7"})
    assert reply.status_code == 429
    assert log_in(Client(), address="127.0.0.1").status_code == 302


def test_a_login_that_breaks_counts_as_a_wrong_try(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the database is away")

    with monkeypatch.context() as breaking:
        breaking.setattr(admin.site, "login", broken)
        for _ in range(5):
            with pytest.raises(RuntimeError):
                log_in(client)
    assert log_in(client).status_code == 429


def test_a_session_that_is_in_already_forgives_no_wrong_tries(client: Client) -> None:
    log_in(client)
    for _ in range(5):
        log_in(client, "wrong")
    assert log_in(client).status_code == 429


def test_tries_from_everywhere_are_counted_together_but_never_keep_this_machine_out() -> None:
    tries = LoginTries()
    waits = [tries.take(f"203.0.113.{number}") for number in range(101)]
    assert waits[:100] == [0] * 100
    assert 1 <= waits[100] <= 60
    assert tries.take("127.0.0.1") == 0


def test_one_address_cannot_use_up_everybodys_tries() -> None:
    tries = LoginTries()
    for _ in range(300):
        if not tries.take("203.0.113.7"):
            tries.judged("203.0.113.7", right=False)
    assert tries.take("203.0.113.8") == 0


def test_many_at_once_get_no_more_tries_than_few() -> None:
    tries = LoginTries()
    with ThreadPoolExecutor(20) as pool:
        waits = list(pool.map(lambda _: tries.take("203.0.113.7"), range(100)))
    assert waits.count(0) == 5


def test_the_first_tries_of_a_process_are_counted_together_too() -> None:
    start = Barrier(20)

    def tried(_: int) -> int:
        start.wait(10)
        return login_tries().take("203.0.113.7")

    with ThreadPoolExecutor(20) as pool:
        waits = list(pool.map(tried, range(20)))
    assert waits.count(0) == 5


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("203.0.113.7", "203.0.113.8", False),
        ("127.0.0.1", "::1", True),
        ("", "nonsense", True),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.8", False),
        ("::ffff:127.0.0.1", "127.0.0.1", True),
    ],
)
def test_tries_are_counted_by_what_one_caller_can_have(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) is same
