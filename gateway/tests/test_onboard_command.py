"""`onboard`: from keys and local servers to models that answer, at a terminal, in a script, as JSON; its page as it goes."""

import http.client
import io
import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command

from collections_app.models import Change, Endpoint, LanguageModel
from collections_app.selectors import typed_key
from collections_app.tests.listed import list_model, no_keys  # noqa: F401 - a fixture
from collections_app.tests.places import Places, sending
from collections_app.tests.rosters import make_endpoint
from gateway.management import terminal
from gateway.tests.running_server import RunningServer

pytestmark = pytest.mark.usefixtures("no_keys")

SECRET = "sk-0123456789-a-secret-of-mine"
HOSTILE = "\u202egpj\x1b[2J\x07"


@pytest.fixture
def place() -> Iterator[Places]:
    """A model server that lists some models and answers as their names say."""
    with Places() as serving:
        serving.scripts = {
            "/v1/models": listing("good", "bad"),
            "/v1/chat/completions": lambda call: chat(serving, call),
        }
        yield serving


def listing(*served_ids: str) -> Any:
    return sending(json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in served_ids]}).encode())


def chat(place: Places, call: BaseHTTPRequestHandler) -> None:
    model = json.loads(place.asked[-1][2])["model"]
    if model.startswith("bad"):
        return sending(b'{"error": {"message": "The model does not exist", "code": "model_not_found"}}', 404)(call)
    if model.startswith("slow"):
        time.sleep(1.0)
    if model.startswith("locked"):
        return sending(b'{"error": {"message": "Incorrect API key provided: sk-0123456789-a-secret-of-mine"}}', 401)(call)
    answer = {"choices": [{"message": {"content": f"ready, {model} {HOSTILE}"}, "finish_reason": "stop"}], "model": model}
    return sending(json.dumps(answer).encode())(call)


def port_of(place: Places) -> str:
    return place.url.rpartition(":")[2]


def onboard(*arguments: str) -> str:
    out = io.StringIO()
    call_command("onboard", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def as_json(*arguments: str) -> Any:
    return json.loads(onboard(*arguments, "--json"))


@pytest.mark.django_db
def test_a_local_server_is_found_its_models_are_added_and_each_is_tried(place: Places) -> None:
    said = onboard("--local", port_of(place))
    assert f"OpenAI form at http://127.0.0.1:{port_of(place)}/v1" in said
    assert re.search(r"good +answered +\d+\.\d +ready, good", said)
    assert re.search(r"bad +failed +\d+\.\d +.*does not exist.* retire it", said)
    assert set(LanguageModel.objects.values_list("alias", flat=True)) == {"good", "bad"}
    assert Change.objects.filter(object_repr="good").first().made_by == "onboard"
    assert "\x1b" not in said
    assert "\u202e" not in said
    again = onboard("--local", port_of(place))
    assert "Added" not in again
    assert "ready, good" in again
    assert Endpoint.objects.count() == 1


@pytest.mark.django_db
def test_of_several_servers_each_gets_those_named_that_it_lists(place: Places) -> None:
    with Places() as other:
        other.scripts = {"/v1/models": listing("elsewhere"), "/v1/chat/completions": lambda call: chat(other, call)}
        onboard("--local", port_of(place), port_of(other), "--add", "good", "elsewhere")
    added = set(LanguageModel.objects.values_list("endpoint__name", "served_id"))
    assert added == {(f"local-{port_of(place)}", "good"), (f"local-{port_of(other)}", "elsewhere")}


@pytest.mark.django_db
def test_a_script_is_asked_nothing_and_adds_what_it_names(place: Places) -> None:
    make_endpoint("mine", base_url=f"{place.url}/v1")
    listed = onboard("mine")
    assert "2 chat models" in listed
    assert "--add ID" in listed
    assert not LanguageModel.objects.exists()
    done = as_json("mine", "--add", "good", "not-in-its-list")
    (at,) = done["endpoints"]
    assert [model["id"] for model in at["models"]] == ["bad", "good"]
    assert [(model["alias"], model["role"], model["context_window"]) for model in at["added"]] == [
        ("good", "general", None),
        ("not-in-its-list", "general", None),
    ]
    assert {(one["alias"], one["outcome"]) for one in at["tried"]} == {("good", "answered"), ("not-in-its-list", "answered")}


@pytest.mark.django_db
def test_all_that_is_free_is_added_with_what_catalogs_know(place: Places) -> None:
    make_endpoint("mine", base_url=f"{place.url}/v1", provider="groq")
    list_model("good", free="quota", context_window=8192)
    list_model("bad", price_in=1.0, price_out=1.0)
    (at,) = as_json("mine", "--all-free")["endpoints"]
    assert [(model["id"], model["context_window"], model["context_window_by"]) for model in at["added"]] == [
        ("good", 8192, "models.dev")
    ]


@pytest.mark.django_db
def test_who_says_yes_to_everything_gets_what_is_free(place: Places) -> None:
    make_endpoint("mine", base_url=f"{place.url}/v1", provider="groq")
    list_model("good", free="zero")
    list_model("bad", price_in=1.0, price_out=1.0)
    assert "ready, good" in onboard("mine", "--yes")
    assert LanguageModel.objects.get().served_id == "good"


@pytest.mark.django_db
def test_keys_found_are_told_by_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", SECRET)
    said = onboard()
    assert re.search(r"groq +GROQ_API_KEY +\d+ free +new", said)
    assert "onboard groq --all-free" in said
    assert not Endpoint.objects.exists()
    assert SECRET not in said + json.dumps(as_json())
    monkeypatch.delenv("GROQ_API_KEY")
    assert "No provider's key is in the environment" in onboard()


@pytest.mark.django_db
def test_a_list_that_anybody_gets_proves_no_key_and_the_trial_does(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_KEY", SECRET)
    make_endpoint("mine", base_url=f"{place.url}/v1", api_key_env="MINE_KEY")
    place.scripts["/v1/models"] = listing("locked-one", "locked-two")
    out = io.StringIO()
    with pytest.raises(CommandError, match="no model answered"):
        call_command("onboard", "mine", "--add", "locked-one", "locked-two", stdout=out, stderr=io.StringIO())
    said = out.getvalue()
    assert re.search(r"locked-one +failed", said)
    assert re.search(r"locked-two +not tried", said)
    assert "Check the key" in said
    assert SECRET not in said
    assert place.paths().count("/v1/chat/completions") == 1
    assert LanguageModel.objects.count() == 2


@pytest.mark.django_db
def test_a_list_that_cannot_be_had_leaves_ids_to_be_named(place: Places) -> None:
    place.scripts["/v1/models"] = sending(b"not found", 404)
    make_endpoint("mine", base_url=f"{place.url}/v1")
    assert "could not be asked for its models" in onboard("mine")
    assert "ready, good" in onboard("mine", "--add", "good")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nobody"], "there is no provider 'nobody'"),
        (["grok"], "did you mean groq"),
        (["github-models"], "there is no provider"),
        (["groq", "--local"], "not both"),
        (["--add", "x"], "--add goes with"),
        (["cloudflare-workers-ai", "--yes"], "CLOUDFLARE_ACCOUNT_ID"),
        (["cloudflare-workers-ai", "--set", "CLOUDFLARE_ACCOUNT_ID=../x"], "cannot be part of a URL"),
        (["--local", "9"], "no model server answered on 127.0.0.1 at 9"),
        (["--local", "99999"], "a port is a number"),
    ],
)
def test_what_cannot_be_is_refused_with_why(arguments: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=re.escape(why)):
        onboard(*arguments)
    assert not Endpoint.objects.exists()


class Somebody:
    """Who sits at the terminal: answers questions in their order, and secrets unseen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str, secret: str = "") -> None:
        self.asked: list[str] = []
        self._answers = list(answers)
        monkeypatch.setattr("gateway.management.commands.onboard.somebody_is_there", lambda: True)
        monkeypatch.setattr("builtins.input", self._answer)
        monkeypatch.setattr(terminal, "getpass", lambda question: self.asked.append(question) or secret)

    def _answer(self, question: str) -> str:
        self.asked.append(question)
        return self._answers.pop(0)


@pytest.mark.django_db
def test_at_a_terminal_models_are_chosen_by_number_or_id(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    make_endpoint("mine", base_url=f"{place.url}/v1")
    somebody = Somebody(monkeypatch, "2 another")
    assert "ready, another" in onboard("mine")
    assert somebody.asked[0].startswith("Which?")
    assert set(LanguageModel.objects.values_list("served_id", flat=True)) == {"good", "another"}
    Somebody(monkeypatch, "")
    onboard("mine")
    assert LanguageModel.objects.count() == 2


@pytest.mark.django_db
def test_at_a_terminal_a_server_that_is_not_wanted_is_left_alone(place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    somebody = Somebody(monkeypatch, "n")
    onboard("--local", port_of(place))
    assert somebody.asked == [f"Add OpenAI form at port {port_of(place)}? [Y/n] "]
    assert not Endpoint.objects.exists()


@pytest.mark.django_db
def test_at_a_terminal_what_a_url_needs_and_a_key_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.management.at_endpoint.list_models", lambda endpoint: "it is far away")
    somebody = Somebody(monkeypatch, "0123abc", "", secret=SECRET)
    said = onboard("cloudflare-workers-ai")
    endpoint = Endpoint.objects.get()
    assert "/accounts/0123abc/" in endpoint.base_url
    assert typed_key(str(endpoint.typed_key_id), endpoint.base_url) == SECRET
    assert [question.split()[0] for question in somebody.asked] == ["CLOUDFLARE_ACCOUNT_ID,", "Cloudflare", "Which?"]
    assert SECRET not in said + "".join(somebody.asked)


@pytest.mark.django_db
def test_what_is_under_way_is_told_on_a_terminals_standard_error(place: Places) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    err = Terminal()
    call_command("onboard", "--local", port_of(place), stdout=io.StringIO(), stderr=err)
    told = err.getvalue()
    assert "Looking for model servers on this machine" in told
    assert "Tried 1 of 2" in told
    assert told.endswith("\r\x1b[K"), "the last line is taken away again"


def test_the_page_tells_of_each_model_when_it_ends(place: Places, tmp_path: Path) -> None:
    place.scripts["/v1/models"] = listing("first", "slow-second")
    server = RunningServer(tmp_path)
    server.load(f'[endpoints.mine]\nbase_url = "{place.url}/v1"\nprotocol = "openai_chat"\n')
    server.start()
    try:
        arrived = lines_of_a_trial(server, "first", "slow-second")
    finally:
        server.stop()
    moments = {name: moment for moment, line in arrived for name in ("ready, first", "ready, slow-second") if name in line}
    assert moments["ready, slow-second"] - moments["ready, first"] > 0.7
    assert any("The trial has ended." in line for _, line in arrived)


def lines_of_a_trial(server: RunningServer, *served_ids: str) -> list[tuple[float, str]]:
    """Have the list asked for and post a choice, as a browser does; each line of the page with the second in which it came."""
    path = "/admin/collections_app/catalogentry/onboarding/endpoint/mine/"
    shown = server.request("GET", path)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', shown.body.decode())
    assert token
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": shown.headers["set-cookie"].partition(";")[0],
        "Origin": server.base_url,
    }
    asked = urlencode({"csrfmiddlewaretoken": token.group(1), "list": "1"}).encode()
    assert server.request("POST", path, headers=headers, raw=asked).status == 302
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    body = urlencode([("csrfmiddlewaretoken", token.group(1)), *(("model", name) for name in served_ids)])
    connection.request("POST", path, body=body, headers=headers)
    reply = connection.getresponse()
    assert reply.status == 200
    arrived = []
    while line := reply.readline():
        arrived.append((time.monotonic(), line.decode()))
    connection.close()
    return arrived
