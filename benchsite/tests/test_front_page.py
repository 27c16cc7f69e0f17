"""The bare address is the dashboard for people, and a sign of life for clients of Ollama."""

import pytest
from django.test import Client

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.django_db
def test_a_browser_is_taken_to_the_dashboard(client: Client) -> None:
    assert client.get("/", headers={"Accept": BROWSER}, follow=True).redirect_chain == [("/admin/", 302)]


@pytest.mark.parametrize("accepted", [{}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept": ""}])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_client_hears_that_it_runs(client: Client, accepted: dict[str, str], method: str) -> None:
    reply = client.generic(method, "/", headers=accepted)
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "text/plain"
    assert "Accept" in reply.headers["Vary"]
    assert reply.content == (b"Ollama is running" if method == "GET" else b"")


def test_nothing_can_be_sent_there(client: Client) -> None:
    assert client.post("/").status_code == 405
