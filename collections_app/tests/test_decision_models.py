"""Decision models on the bench: an id either sits or decides, a URL is the endpoint's own, and a bench file holds them."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from collections_app.models import DecisionModel, LanguageModel
from collections_app.services.bench_dump import dump_bench
from collections_app.services.bench_file import BenchFileError, parse_bench, write_bench
from collections_app.services.bench_load import load_bench
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

BENCH: dict[str, Any] = {
    "endpoints": {"host": {"base_url": "https://host.example/api/v1"}},
    "decision_models": {
        "jev": {
            "endpoint": "host",
            "model": "jev-1",
            "url": "https://host.example/api/alpha/decisions",
            "questions": ["choice", "noul"],
        }
    },
}


def decider(**fields: Any) -> DecisionModel:
    return DecisionModel(**{"alias": "jev", "endpoint": make_endpoint(), "served_id": "jev-1", **fields})


def test_a_bench_file_brings_one_and_takes_it_along() -> None:
    assert load_bench(BENCH)
    assert load_bench(BENCH) == []
    jev = DecisionModel.objects.get()
    assert (jev.served_id, jev.status, jev.picks_shapes) == ("jev-1", "active", True)
    dumped = dump_bench()
    assert dumped["decision_models"]["jev"] == BENCH["decision_models"]["jev"] | {"status": "active", "dialect": "systemone"}
    assert load_bench(parse_bench(write_bench(dumped, "toml"), "toml")) == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"url": "https://other.example/api/v1/systemone"}, "endpoint's own server"),
        ({"url": "https://host.example@evil.example/x"}, "user name"),
        ({"url": "http://host.example/systemone"}, "https"),
        ({"questions": ["choice", "box"]}, "Types of question"),
        ({"questions": ["choice", "choice"]}, "each once"),
        ({"dialect": "esperanto"}, "esperanto"),
        ({"endpoint": "nowhere"}, "nowhere"),
        ({"status": "retired"}, "retired"),
    ],
)
def test_a_bench_file_with_a_wrong_one_is_refused(fields: dict[str, Any], problem: str) -> None:
    bench = BENCH | {"decision_models": {"jev": BENCH["decision_models"]["jev"] | fields}}
    with pytest.raises(BenchFileError, match=problem):
        load_bench(bench)
    assert not DecisionModel.objects.exists()


@pytest.mark.parametrize("known", [{}, {"decision_models": BENCH["decision_models"]}, {"models": True}])
def test_a_file_cannot_seat_what_decides_whichever_was_there_first(known: dict[str, Any]) -> None:
    seat = {"seat": {"endpoint": "host", "model": "jev-1"}}
    known = {"endpoints": BENCH["endpoints"], **known} | ({"models": seat} if "models" in known else {})
    load_bench(known)
    with pytest.raises(BenchFileError, match="never sits"):
        load_bench(BENCH | {"models": seat})
    load_bench(BENCH | {"models": {"seat": seat["seat"] | {"status": "retired"}}})
    load_bench(BENCH | {"models": {"seat": seat["seat"] | {"model": "jev-2"}}})


def test_no_form_seats_what_decides_nor_has_decide_what_sits() -> None:
    decider().save()
    with pytest.raises(ValidationError, match="never sits"):
        LanguageModel(alias="seat", endpoint=make_endpoint(), served_id="jev-1").full_clean()
    make_model("seat", served_id="chat-1")
    with pytest.raises(ValidationError, match="as the model seat"):
        decider(alias="other", served_id="chat-1").full_clean()
    make_model("gone", served_id="chat-2", status="retired")
    decider(alias="other", served_id="chat-2").full_clean()
    decider(alias="another", served_id="chat-1", endpoint=make_endpoint("elsewhere")).full_clean()


def test_its_pages_open_and_escape_what_a_server_said(client: Client) -> None:
    decider(last_error="<script>alert(1)</script>", question_types=["choice"]).save()
    page = f"/admin/collections_app/decisionmodel/{DecisionModel.objects.get().pk}/change/"
    for path in ("/admin/collections_app/decisionmodel/", "/admin/collections_app/decisionmodel/add/", page):
        text = client.get(path).content.decode()
        assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in client.get(page).content.decode()


def test_the_form_refuses_a_url_of_another_server(client: Client) -> None:
    form = {"alias": "jev", "endpoint": make_endpoint().pk, "served_id": "jev-1", "status": "active", "dialect": "systemone"}
    text = client.post("/admin/collections_app/decisionmodel/add/", form | {"url": "https://evil.example/x"}).content.decode()
    assert "own server" in text
    assert not DecisionModel.objects.exists()
    client.post("/admin/collections_app/decisionmodel/add/", form | {"url": ""}, follow=True)
    assert DecisionModel.objects.exists()
