"""python manage.py refresh_catalog: what was read in lines for people or as JSON, and an exit status that says so."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collections_app.models import CatalogSource
from collections_app.tests.catalogs import OSS, costing, freellmapi, listing, models_dev, openrouter
from collections_app.tests.places import Places, sending
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bench(places: Places) -> None:
    make_model("oss", endpoint=make_endpoint("groq", provider="groq", protocol="llm_cli"), served_id=OSS)
    places.scripts["/api.json"] = sending(
        models_dev(groq={OSS: {"limit": {"context": 131_072}, **costing(0, 0)}, "bad\x00id": {}})
    )
    places.scripts["/openrouter"] = sending(listing(openrouter("some/model")))
    places.scripts["/latest"] = sending(freellmapi({"platform": "cerebras", "modelId": "some-model", "limits": {}}))


def run(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("refresh_catalog", *args, stdout=out, **options)
    return out.getvalue()


def test_it_says_what_each_source_brought_and_what_that_changes_here() -> None:
    lines = run().splitlines()
    assert lines[0].startswith("models_dev  1 model: 1 new, 1 left out (")
    assert lines[1].startswith("openrouter  1 model: 1 new (")
    assert "  oss (groq): context_window unknown -> 131,072, says models.dev" in lines
    assert run().splitlines()[1].startswith("openrouter  1 model: unchanged (")


def test_new_alerts_and_items_that_were_left_out_are_told(places: Places) -> None:
    assert "left out: " in run(verbosity=2)
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: costing(1, 2)}))
    assert "New alerts" not in run()
    told = run()
    assert (
        f"New alerts:\n  went paid: {OSS} was free and now costs $1 in and $2 out per million tokens, says models.dev." in told
    )
    assert "New alerts" not in run()


def test_what_was_known_otherwise_is_told_before_what_was_not_known(places: Places) -> None:
    run("models_dev")
    many = {f"m{number}": {"limit": {"context": 8_192}} for number in range(60)}
    for id_ in many:
        make_model(id_, endpoint=make_endpoint("groq"), served_id=id_)
    places.scripts["/api.json"] = sending(models_dev(groq={OSS: {"limit": {"context": 98_304}, **costing(0, 0)}, **many}))
    lines = run("models_dev").partition("On this bench:\n")[2].splitlines()
    assert lines[0] == "  oss (groq): context_window 131,072 -> 98,304, says models.dev"
    assert len(lines) == 51 and lines[-1].endswith("more (--json has all of them)")


def test_one_source_that_fails_is_told_and_is_no_failure(places: Places) -> None:
    places.scripts["/openrouter"] = sending(b"", 500)
    make_endpoint("keyed", base_url=places.url, api_key_env="NO_SUCH_KEY_IS_SET")
    lines = run().splitlines()
    assert lines[1].startswith("openrouter      not taken: 127.0.0.1:") and lines[1].endswith(
        "answers 500 where a listing should be"
    )
    assert lines[3] == (
        "endpoint:keyed  not asked: the environment variable NO_SUCH_KEY_IS_SET is not set, and this endpoint's key is in it"
    )


def test_it_fails_when_every_source_does(places: Places) -> None:
    places.scripts.clear()
    with pytest.raises(CommandError, match="no source could be read"):
        run()
    assert CatalogSource.objects.exclude(error="").count() == 3


def test_chosen_sources_as_json() -> None:
    told = json.loads(run("openrouter", "--json"))
    assert [(source["source"], source["new"], source["error"]) for source in told["sources"]] == [("openrouter", 1, "")]
    assert (told["changes"], told["alerts"]) == ([], [])


def test_an_unknown_source_is_told_with_those_that_there_are() -> None:
    with pytest.raises(CommandError, match=r"there is no source nowhere\. There are: models_dev, openrouter, freellmapi"):
        run("nowhere")


def test_progress_is_shown_to_a_terminal_alone() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    piped, terminal = io.StringIO(), Terminal()
    run(stderr=piped)
    run(stderr=terminal)
    assert piped.getvalue() == ""
    assert "1/3 models_dev ..." in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")


def test_a_shrunken_listing_is_taken_when_it_is_said_to_be_right(places: Places) -> None:
    places.scripts["/openrouter"] = sending(listing(*(openrouter(f"a/{number}") for number in range(5))))
    run()
    places.scripts["/openrouter"] = sending(listing(openrouter("a/0")))
    assert "refresh_catalog openrouter --accept-shrunken" in run()
    assert "1 model: 4 gone" in run("openrouter", "--accept-shrunken")
