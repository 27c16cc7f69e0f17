"""As installed the dashboard is open to this machine, and to nobody else."""

import asyncio

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.test import AsyncClient, Client, override_settings

pytestmark = pytest.mark.django_db


def test_the_dashboard_opens_on_this_machine(client: Client) -> None:
    reply = client.get("/admin/")
    assert reply.status_code == 200
    local = get_user_model().objects.get()
    assert (local.get_username(), local.is_superuser, local.has_usable_password()) == ("local", True, False)


def test_nothing_is_kept_per_request(client: Client) -> None:
    for _ in range(3):
        Client().get("/admin/")
    assert get_user_model().objects.count() == 1
    assert not Session.objects.exists()
    assert settings.SESSION_COOKIE_NAME not in client.get("/admin/").cookies


@pytest.mark.parametrize("address", ["127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_this_machine_however_it_is_written(client: Client, address: str) -> None:
    assert client.get("/admin/", REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize(
    "address", ["192.168.1.20", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1", "", "localhost", "127.0.0.1, 8.8.8.8"]
)
def test_another_machine_is_asked_to_log_in(client: Client, address: str) -> None:
    reply = client.get("/admin/", REMOTE_ADDR=address)
    assert reply.status_code == 302
    assert reply.headers["Location"].startswith("/admin/login/")
    assert not get_user_model().objects.exists()


@pytest.mark.parametrize(
    "header",
    [
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Port",
        "Forwarded",
        "X-Real-IP",
        "X-Client-IP",
        "True-Client-IP",
        "CF-Connecting-IP",
        "Via",
    ],
)
def test_a_proxy_on_this_machine_does_not_lend_its_address(client: Client, header: str) -> None:
    assert client.get("/admin/", headers={header: "for=203.0.113.7"}).status_code == 302


@override_settings(BENCHWARMERS_ADMIN_TOKEN="sixteen-characters")
def test_with_an_admin_token_this_machine_logs_in_too(client: Client) -> None:
    assert client.get("/admin/").status_code == 302


def test_a_staff_login_is_kept(client: Client) -> None:
    client.force_login(get_user_model().objects.create_superuser("ada"))
    assert client.get("/admin/").context["user"].get_username() == "ada"


def test_a_local_user_switched_off_stays_off(client: Client) -> None:
    client.get("/admin/")
    get_user_model().objects.update(is_active=False)
    assert client.get("/admin/").status_code == 302


def test_the_login_page_is_never_needed(client: Client) -> None:
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == "/admin/"


def test_pages_outside_the_dashboard_sign_nobody_in(client: Client) -> None:
    for accepted in ("text/html", "*/*"):
        client.get("/", headers={"Accept": accepted})
    assert not get_user_model().objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_opens_under_asgi_and_for_several_at_once() -> None:
    async def open_together() -> list[int]:
        # The test client's scope has no REMOTE_ADDR of its own accord.
        pages = [AsyncClient().get("/admin/", REMOTE_ADDR="127.0.0.1") for _ in range(4)]
        return [reply.status_code for reply in await asyncio.gather(*pages)]

    assert asyncio.run(open_together()) == [200] * 4
    assert get_user_model().objects.count() == 1
