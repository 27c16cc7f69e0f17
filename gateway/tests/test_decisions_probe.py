"""Where a decision model answers is found by asking: each place in turn, each type of question once, one server alone."""

from typing import Any

import pytest
from django.test import Client

from collections_app.models import DecisionModel, Endpoint
from gateway.tests.fake_decisions import FakeDecisions
from gateway.tests.fake_upstream import FakeUpstream
from gateway.tests.test_decisions import endpoint
from gateway.upstream.decisions import probe as probing
from gateway.upstream.decisions.probe import Probed, probe

SYSTEM_ONE = ("choice", "noul", "score")


def test_system_ones_own_path_is_tried_first_and_each_type_asked_once() -> None:
    with FakeDecisions({"/v1/systemone": "systemone", "/v1/decisions": "systemone"}) as fake:
        found = probe(endpoint(fake.base_url, "jev"))
        assert found == Probed(dialect="systemone", url=f"{fake.base_url}/systemone", types=SYSTEM_ONE)
        assert fake.asked == ["/v1/systemone"] * 3


@pytest.mark.parametrize(("dialect", "types"), [("systemone", SYSTEM_ONE), ("openai", ("choice", "predicate", "score"))])
def test_the_other_path_is_tried_in_both_dialects(dialect: str, types: tuple[str, ...]) -> None:
    with FakeDecisions({"/v1/decisions": dialect}) as fake:
        found = probe(endpoint(fake.base_url, "jev"))
        assert (found.url, found.dialect, found.types) == (f"{fake.base_url}/decisions", dialect, types)


def test_a_base_url_without_a_version_has_its_decisions_under_one() -> None:
    with FakeDecisions({"/v1/systemone": "systemone"}) as fake:
        assert probe(endpoint(fake.host, "nimble")).url == f"{fake.host}/v1/systemone"


def test_openrouters_two_places_are_tried_whatever_its_base_url() -> None:
    places = [url for url, _ in probing._places("https://openrouter.ai/api/v1")]
    assert places.count("https://openrouter.ai/api/v1/systemone") == 1
    assert "https://openrouter.ai/api/alpha/decisions" in places
    assert all(url.startswith("https://openrouter.ai/") for url in places)
    assert not any("alpha" in url for url, _ in probing._places("https://api.inceptionlabs.ai/v1"))


def test_types_that_are_refused_are_left_out_and_told() -> None:
    with FakeDecisions({"/v1/systemone": "systemone"}) as fake:
        found = probe(endpoint(fake.base_url, "choice-only"))
    assert found.types == ("choice",)
    assert "noul" in found.error and "score" in found.error


@pytest.mark.parametrize(("model", "most"), [("err-401", 1), ("err-402", 1), ("err-429-9", 1), ("err-503", 1), ("err-404", 2)])
def test_what_is_hopeless_is_not_asked_on(model: str, most: int) -> None:
    with FakeDecisions({"/v1/systemone": "systemone", "/v1/decisions": "systemone"}) as fake:
        found = probe(endpoint(fake.base_url, model))
        assert (found.types, found.url) == ((), "")
        assert found.error
        assert len(fake.requests) <= most


def test_a_server_that_is_not_there_is_asked_once() -> None:
    found = probe(endpoint("http://127.0.0.1:9/v1", "jev"))
    assert "refused the connection" in found.error
    assert found.error.count("refused") == 1


@pytest.fixture
def model(db: Any) -> Any:
    with FakeDecisions({"/v1/systemone": "systemone"}) as fake:
        host = Endpoint.objects.create(name="host", base_url=fake.base_url)
        yield DecisionModel.objects.create(alias="jev", endpoint=host, served_id="jev")


def press(client: Client, model: DecisionModel) -> str:
    page = f"/admin/collections_app/decisionmodel/{model.pk}"
    assert client.get(f"{page}/probe/").status_code == 405
    shown = client.get(f"{page}/change/").content.decode()
    assert f'action="{page}/probe/"' in shown and "Probe" in shown
    return client.post(f"{page}/probe/", follow=True).content.decode()


def test_the_button_keeps_what_was_found_and_says_so(client: Client, model: DecisionModel) -> None:
    shown = press(client, model)
    assert "It can pick shapes" in shown and "choice" in shown
    model.refresh_from_db()
    assert (model.url, model.dialect, model.question_types) == (
        f"{model.endpoint.base_url}/systemone",
        "systemone",
        [*SYSTEM_ONE],
    )
    assert model.probed_at and model.picks_shapes


def test_a_probe_that_fails_says_why_and_keeps_what_was_known(client: Client, model: DecisionModel) -> None:
    press(client, model)
    DecisionModel.objects.update(served_id="err-429-30")
    shown = press(client, model)
    assert "It answered nowhere" in shown
    model.refresh_from_db()
    assert model.question_types == [*SYSTEM_ONE]
    assert "429" in model.last_error


def test_another_model_under_the_same_alias_has_to_be_probed_again(client: Client, model: DecisionModel) -> None:
    press(client, model)
    model.refresh_from_db()
    form = {"alias": "jev", "endpoint": model.endpoint_id, "status": "active", "dialect": "systemone", "url": model.url}
    client.post(f"/admin/collections_app/decisionmodel/{model.pk}/change/", form | {"served_id": "other"}, follow=True)
    model.refresh_from_db()
    assert (model.served_id, model.question_types, model.url, model.picks_shapes) == ("other", [], "", False)


def test_a_chat_model_is_asked_only_where_a_row_says_so(client: Client, db: Any) -> None:
    with FakeUpstream() as chat:
        host = Endpoint.objects.create(name="chat", base_url=chat.url)
        says = 'say-{"choice":"good","confidence":1}'
        model = DecisionModel.objects.create(alias="chatty", endpoint=host, served_id=says, dialect="chat")
        assert "It can pick shapes" in press(client, model)
        model.refresh_from_db()
        assert (model.dialect, model.url, model.question_types) == ("chat", "", ["choice"])
        DecisionModel.objects.update(served_id="say-good")
        assert "no choice in it" in press(client, model)
