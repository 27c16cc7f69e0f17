"""What a change of a catalog raises for models of this bench: told twice, once each, and nothing for what is no news."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.utils import timezone

from collections_app.catalog.refresh import refresh
from collections_app.catalog.refreshing import alerting
from collections_app.models import Alert, CatalogSource, Change, Endpoint, LanguageModel
from collections_app.services.alerts import raise_alert, resolve_alert
from collections_app.tests.catalogs import Model, costing, freellmapi, listing, models_dev, openrouter
from collections_app.tests.places import Places, sending, tagged
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

DATA = site.BASE_DIR.parent / "shared" / "data"
MODEL = "acme/model"


@pytest.fixture(autouse=True)
def catalogs(places: Places) -> None:
    places.scripts["/openrouter"] = tagged(listing(openrouter("some/model")))
    places.scripts["/latest"] = tagged(freellmapi({"platform": "cerebras", "modelId": "some-model", "limits": {}}))


def at_acme(served_id: str = MODEL, **fields: Any) -> LanguageModel:
    # Of a command there is no listing to be asked for: what the catalogs say is all that is known.
    endpoint = make_endpoint("acme", provider="acme", protocol="llm_cli")
    return make_model(served_id.replace("/", "-"), endpoint=endpoint, served_id=served_id, **fields)


def lists(places: Places, **models: Model) -> None:
    """Have models.dev list these of acme's, and others that stay."""
    places.scripts["/api.json"] = sending(models_dev(acme={**models, "other": {}}, far={"model": {}}))


def told(kind: str | None = None) -> list[tuple[str, str]]:
    """The alerts that are open: what each is about, and its message."""
    alerts = Alert.objects.filter(resolved_at=None, **({"kind": kind} if kind else {})).order_by("kind", "about")
    return [(alert.about, alert.message) for alert in alerts]


def kinds() -> list[str]:
    return [alert.kind for alert in Alert.objects.filter(resolved_at=None)]


def test_a_free_model_that_costs_is_told_when_it_is_read_twice(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places, **{MODEL: costing(0.446, 2.228)})
    refresh()
    assert told() == []
    refresh()
    words = f"{MODEL} was free and now costs $0.446 in and $2.228 out per million tokens, says models.dev."
    assert told(Alert.Kind.WENT_PAID) == [(MODEL, words)]
    assert Alert.objects.get().to_do == "Retire acme-model, or keep it and pay."
    refresh()
    assert Alert.objects.count() == 1


def test_it_is_resolved_when_it_is_free_again_or_nobody_asks_it(places: Places) -> None:
    model = at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    refresh()
    assert kinds() == ["went_paid"]
    lists(places, **{MODEL: costing(2, 2)})
    refresh()
    assert kinds() == ["went_paid"]
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    assert kinds() == []
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    refresh()
    assert kinds() == ["went_paid"]
    model.status = LanguageModel.Status.RETIRED
    model.save()
    refresh()
    assert kinds() == []


@pytest.mark.parametrize("between", [{MODEL: {}}, {}])
def test_it_is_resolved_also_when_its_price_or_the_model_was_missing_between(places: Places, between: dict[str, Model]) -> None:
    at_acme()
    for price in (0, 1, 1):
        lists(places, **{MODEL: costing(price, price)})
        refresh()
    assert kinds() == ["went_paid"]
    lists(places, **between)
    refresh()
    assert kinds() == ["went_paid"]
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    assert kinds() == []


def test_a_price_that_is_read_once_and_taken_back_is_no_news(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    refresh()
    assert told() == []
    assert CatalogSource.objects.get(name="models_dev").suspected == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(costing(0, 0), {}, id="its price is missing"),
        pytest.param(costing(0, 0), costing(0.0000001, 0), id="what rounding leaves"),
        pytest.param(costing(0.1, 0.1), costing(0.2, 0.2), id="it was never free"),
        pytest.param({}, costing(1, 1), id="its price was unknown"),
        pytest.param(costing(1, 1), costing(0, 0), id="it became free"),
    ],
)
def test_what_is_no_news_raises_nothing(places: Places, before: Model, after: Model) -> None:
    at_acme()
    lists(places, **{MODEL: before})
    refresh()
    lists(places, **{MODEL: after})
    for _ in range(3):
        refresh()
    assert told() == []


def test_a_price_that_was_missing_between_free_and_paid_is_told(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places, **{MODEL: {}})
    refresh()
    refresh()
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    assert told() == []
    refresh()
    assert kinds() == ["went_paid"]


def test_a_reading_that_fails_confirms_nothing(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    for broken in (b"<html>", b'{"acme": {"models": {', b"{}"):
        places.scripts["/api.json"] = sending(broken)
        refresh()
    assert told() == []
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    assert kinds() == ["went_paid"]


def at_openrouter(places: Places, served_id: str) -> LanguageModel:
    endpoint = make_endpoint("router", provider="openrouter", base_url=places.url)
    return make_model("routed", endpoint=endpoint, served_id=served_id)


def test_what_the_endpoint_itself_says_of_a_price_is_told_at_once(places: Places) -> None:
    at_openrouter(places, MODEL)
    places.scripts["/models"] = sending(listing(openrouter(MODEL)))
    refresh(["router"])
    places.scripts["/models"] = sending(listing(openrouter(MODEL, "0.000001")))
    refresh(["router"])
    words = f"{MODEL} was free and now costs $1 in and $1 out per million tokens, says the endpoint's own listing."
    assert told() == [(MODEL, words)]


def test_a_free_variant_that_ends_went_paid_and_is_not_gone(places: Places) -> None:
    at_openrouter(places, f"{MODEL}:free")
    both = openrouter(MODEL, "0.000001"), openrouter(f"{MODEL}:free")
    places.scripts["/models"] = sending(listing(*both))
    refresh(["router"])
    places.scripts["/models"] = sending(listing(both[0]))
    refresh(["router"])
    words = f"{MODEL}:free is listed no more, and {MODEL} costs $1 in and $1 out per million tokens"
    assert told(Alert.Kind.WENT_PAID) == [(f"{MODEL}:free", f"{words}, says the endpoint's own listing.")]
    assert kinds() == ["went_paid"]
    places.scripts["/models"] = sending(listing(*both))
    refresh(["router"])
    assert told() == []


def test_a_free_variant_that_ends_with_its_model_is_gone(places: Places) -> None:
    at_openrouter(places, f"{MODEL}:free")
    others = [openrouter(f"other/{number}") for number in range(3)]
    places.scripts["/models"] = sending(listing(openrouter(f"{MODEL}:free"), *others))
    refresh(["router"])
    places.scripts["/models"] = sending(listing(*others))
    refresh(["router"])
    assert told() == []
    refresh(["router"])
    assert kinds() == ["gone"]


def test_no_catalog_alarms_about_what_the_endpoint_itself_lists(places: Places) -> None:
    at_openrouter(places, MODEL)
    places.scripts["/models"] = sending(listing(openrouter(MODEL), openrouter("other/model")))
    models = {MODEL: costing(0, 0), "a": {}, "b": {}}
    places.scripts["/api.json"] = sending(models_dev(openrouter=models))
    refresh()
    places.scripts["/api.json"] = sending(models_dev(openrouter={**models, MODEL: costing(1, 1)}))
    refresh()
    refresh()
    places.scripts["/api.json"] = sending(models_dev(openrouter={"a": {}, "b": {}}))
    refresh()
    refresh()
    assert told() == []
    # But an endpoint that does not answer any more vouches for nothing.
    places.scripts["/api.json"] = sending(models_dev(openrouter=models))
    refresh()
    places.scripts["/models"] = sending(b"", 410)
    places.scripts["/api.json"] = sending(models_dev(openrouter={"a": {}, "b": {}}))
    refresh()
    refresh()
    assert told() == [(MODEL, f"{MODEL} is listed no more, says models.dev.")]


def test_a_model_that_is_gone_is_told_when_it_is_read_twice_and_resolved_when_it_is_back(places: Places) -> None:
    model = at_acme()
    lists(places, **{MODEL: {}})
    refresh()
    lists(places)
    refresh()
    assert told() == []
    refresh()
    assert told(Alert.Kind.GONE) == [(MODEL, f"{MODEL} is listed no more, says models.dev.")]
    # Whether it is still called is not for a list to say.
    model.refresh_from_db()
    assert model.status == "active"
    lists(places, **{MODEL: {}})
    refresh()
    assert told() == []


def test_a_list_of_free_routes_that_drops_one_says_nothing_of_the_model(places: Places) -> None:
    at_acme()
    row = {"platform": "acme", "modelId": MODEL, "limits": {}}
    others = [{"platform": "acme", "modelId": f"m{number}", "limits": {}} for number in range(3)]
    places.scripts["/latest"] = sending(freellmapi(row, *others))
    refresh(["freellmapi"])
    places.scripts["/latest"] = sending(freellmapi(*others))
    refresh(["freellmapi"])
    refresh(["freellmapi"])
    assert told() == []


def test_no_catalog_takes_back_what_the_endpoint_itself_says_is_gone(places: Places) -> None:
    at_openrouter(places, MODEL)
    others = openrouter("other/model"), openrouter("third/model")
    models = {"a": {}, "b": {}}
    places.scripts["/models"] = sending(listing(openrouter(MODEL), *others))
    places.scripts["/api.json"] = sending(models_dev(openrouter={MODEL: {}, **models}))
    refresh()
    places.scripts["/models"] = sending(listing(*others))
    places.scripts["/api.json"] = sending(models_dev(openrouter=models))
    refresh()
    refresh()
    assert kinds() == ["gone"]
    places.scripts["/api.json"] = sending(models_dev(openrouter={MODEL: {}, **models}))
    refresh()
    assert kinds() == ["gone"]
    places.scripts["/models"] = sending(listing(openrouter(MODEL), *others))
    refresh()
    assert kinds() == []


def test_a_free_model_that_comes_back_at_a_price_is_told(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places)
    refresh()
    lists(places, **{MODEL: costing(1, 1)})
    refresh()
    refresh()
    assert kinds() == ["went_paid"]


def test_what_the_bench_retired_stays_told_until_somebody_has_seen_it(places: Places) -> None:
    model = at_acme()
    lists(places, **{MODEL: {}})
    refresh()
    lists(places)
    refresh()
    refresh()
    LanguageModel.objects.filter(pk=model.pk).update(status="retired", retired_why="it answers 410")
    refresh()
    assert kinds() == ["gone"]
    # Whoever lists it again: it is retired until a person restores it.
    lists(places, **{MODEL: {}})
    refresh()
    assert kinds() == ["gone"]
    model.delete()
    refresh()
    assert kinds() == []


def test_a_provider_that_is_gone_is_told_once_and_not_for_each_model(places: Places) -> None:
    at_acme("one")
    at_acme("two")
    many = {"far": {"model": {}, "other": {}, "third": {}}}
    places.scripts["/api.json"] = sending(models_dev(acme={"one": {}, "two": {}}, **many))
    refresh()
    places.scripts["/api.json"] = sending(models_dev(**many))
    refresh()
    refresh()
    assert told(Alert.Kind.GONE) == [("", "The provider acme and all of its models are gone, says models.dev.")]
    assert kinds() == ["gone"]
    places.scripts["/api.json"] = sending(models_dev(acme={"one": {}}, **many))
    refresh()
    assert ("", "The provider acme and all of its models are gone, says models.dev.") not in told()


def test_models_that_are_retired_raise_nothing(places: Places) -> None:
    at_acme(status="retired")
    at_acme("free", status="retired", retired_why="it answers 410")
    lists(places, **{MODEL: {}, "free": costing(0, 0)})
    refresh()
    lists(places, free=costing(1, 1))
    refresh()
    refresh()
    assert not Alert.objects.exists()


def test_models_that_are_not_on_the_bench_raise_nothing(places: Places) -> None:
    at_acme("other")
    lists(places, **{MODEL: costing(0, 0)})
    refresh()
    lists(places)
    refresh()
    refresh()
    assert told() == []


# --- Retiring ------------------------------------------------------------------------------------


def announce(places: Places, day: str, served_id: str = MODEL) -> None:
    rows = openrouter(served_id, expiration_date=day or None), openrouter("other/model")
    places.scripts["/models"] = sending(listing(*rows))
    refresh(["router"])


def test_an_announced_end_is_told_and_bars_the_model_from_exploring_once(places: Places) -> None:
    model = at_openrouter(places, MODEL)
    announce(places, "2099-12-15")
    assert told(Alert.Kind.RETIRING) == [(MODEL, f"{MODEL} will be served until 2099-12-15, says the endpoint's own listing.")]
    model.refresh_from_db()
    assert model.status == "retiring"
    assert Change.objects.filter(object_repr="routed").first().made_by == "catalog refresh"  # type: ignore[union-attr]
    # What a person makes of it stays.
    model.status = LanguageModel.Status.ACTIVE
    model.save()
    announce(places, "2099-12-15")
    announce(places, "2099-11-30")
    model.refresh_from_db()
    assert model.status == "active"
    assert told() == [(MODEL, f"{MODEL} will be served until 2099-11-30, says the endpoint's own listing.")]
    announce(places, "")
    assert told() == []


def test_what_a_person_retires_while_a_refresh_runs_stays_retired(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    model = at_openrouter(places, MODEL)

    def meanwhile(*about: Any, **words: str) -> bool:
        person = LanguageModel.objects.get(pk=model.pk)
        person.status = LanguageModel.Status.RETIRED
        person.save()
        return raise_alert(*about, **words)

    monkeypatch.setattr(alerting, "raise_alert", meanwhile)
    announce(places, "2099-12-15")
    assert kinds() == ["retiring"]
    model.refresh_from_db()
    assert model.status == "retired"


@pytest.mark.parametrize("status", ["ad_hoc", "retired"])
def test_another_status_than_active_is_left_as_it_is(places: Places, status: str) -> None:
    model = at_openrouter(places, MODEL)
    LanguageModel.objects.filter(pk=model.pk).update(status=status)
    announce(places, "2099-12-15")
    model.refresh_from_db()
    assert model.status == status
    assert kinds() == ([] if status == "retired" else ["retiring"])


def test_what_a_person_has_put_aside_is_not_told_again_until_it_changes(places: Places) -> None:
    model = at_openrouter(places, MODEL)
    announce(places, "2099-12-15")
    resolve_alert(Alert.Kind.RETIRING, model.endpoint, MODEL)
    LanguageModel.objects.update(status="active")
    announce(places, "2099-12-15")
    assert told() == []
    announce(places, "2020-01-01")
    model.refresh_from_db()
    assert model.status == "active"
    assert told() == [
        (MODEL, f"{MODEL} was to be served until 2020-01-01, says the endpoint's own listing: that day has come.")
    ]


def test_a_month_has_come_when_it_is_over(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    at_openrouter(places, MODEL)
    for today, words in (
        (datetime(2026, 11, 15, tzinfo=UTC), "will be served"),
        (datetime(2026, 12, 1, tzinfo=UTC), "has come"),
    ):
        monkeypatch.setattr(timezone, "now", lambda today=today: today)
        announce(places, "2026-11")
        assert words in told()[0][1]


def test_of_several_that_announce_an_end_the_endpoint_itself_is_believed(places: Places) -> None:
    at_openrouter(places, MODEL)
    places.scripts["/openrouter"] = sending(listing(openrouter(MODEL, expiration_date="2099-01-01")))
    places.scripts["/api.json"] = sending(models_dev(openrouter={MODEL: {"status": "deprecated"}}))
    places.scripts["/models"] = sending(listing(openrouter(MODEL, expiration_date="2099-12-15")))
    refresh()
    assert told() == [(MODEL, f"{MODEL} will be served until 2099-12-15, says the endpoint's own listing.")]


def test_a_model_that_is_deprecated_is_told_and_keeps_its_status(places: Places) -> None:
    model = at_acme()
    lists(places, **{MODEL: {"status": "deprecated"}})
    refresh()
    assert told(Alert.Kind.RETIRING) == [(MODEL, f"{MODEL} is deprecated, says models.dev.")]
    model.refresh_from_db()
    assert model.status == "active"


def test_a_model_that_goes_as_announced_is_gone_and_no_longer_retiring(places: Places) -> None:
    at_acme()
    lists(places, **{MODEL: {"status": "deprecated"}})
    refresh()
    lists(places)
    refresh()
    assert kinds() == ["retiring"]
    refresh()
    assert kinds() == ["gone"]


# --- Stale sources -------------------------------------------------------------------------------


def fail_since(name: str, days: float) -> None:
    CatalogSource.objects.filter(name=name).update(failing_since=timezone.now() - timedelta(days=days))


def test_a_source_that_fails_for_three_days_is_told_until_it_is_read(places: Places) -> None:
    lists(places, **{MODEL: {}})
    refresh()
    places.scripts["/api.json"] = sending(b"", 500)
    refresh()
    fail_since("models_dev", 2.9)
    refresh()
    assert told() == []
    fail_since("models_dev", 3)
    refresh()
    ((about, words),) = told(Alert.Kind.STALE_SOURCE)
    assert about == "models_dev"
    assert words.startswith(f"models_dev was not read since {timezone.now():%Y-%m-%d}: 127.0.0.1:")
    lists(places, **{MODEL: {}})
    refresh()
    assert told() == []


def test_a_bench_that_was_off_blames_no_source(places: Places) -> None:
    lists(places, **{MODEL: {}})
    refresh()
    CatalogSource.objects.update(good_at=timezone.now() - timedelta(days=30), checked_at=timezone.now() - timedelta(days=30))
    places.scripts["/api.json"] = sending(b"", 500)
    refresh()
    assert told() == []


def test_a_silent_endpoint_is_told_while_something_of_it_is_called(places: Places) -> None:
    model = at_openrouter(places, MODEL)
    refresh(["router"])
    fail_since("endpoint:router", 5)
    refresh(["router"])
    assert kinds() == ["stale_source"]
    assert Alert.objects.get().endpoint == model.endpoint
    model.status = LanguageModel.Status.RETIRED
    model.save()
    refresh(["router"])
    assert kinds() == []


# --- What the sources really sent ----------------------------------------------------------------

here = pytest.mark.skipif(not DATA.is_dir(), reason="the snapshots are not here")


def snapshot(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


def roster(ids: Iterable[tuple[str, str]]) -> None:
    """A bench of these (provider, served id), each provider an endpoint whose own listing nobody can ask for."""
    wanted = sorted(set(ids))
    names = {provider: f"e{number}" for number, provider in enumerate(dict.fromkeys(provider for provider, _ in wanted))}
    Endpoint.objects.bulk_create(
        Endpoint(name=name, provider=provider, protocol="llm_cli", base_url="https://x.example")
        for provider, name in names.items()
    )
    endpoints = {endpoint.provider: endpoint for endpoint in Endpoint.objects.all()}
    LanguageModel.objects.bulk_create(
        LanguageModel(alias=f"m{number}", endpoint=endpoints[provider], served_id=served_id)
        for number, (provider, served_id) in enumerate(wanted)
    )


def raised(kind: str) -> set[tuple[str, str]]:
    alerts = Alert.objects.filter(kind=kind, resolved_at=None).select_related("endpoint")
    return {(alert.endpoint.provider, alert.about) for alert in alerts if alert.endpoint}


def pairs(document: Any) -> dict[tuple[str, str], Any]:
    return {(name, id_): model for name, provider in document.items() for id_, model in provider["models"].items()}


def split(ids: Iterable[str]) -> set[tuple[str, str]]:
    return {(provider, served_id) for provider, _, served_id in (id_.partition("/") for id_ in ids)}


def read_models_dev(places: Places, document: bytes) -> None:
    places.scripts["/api.json"] = sending(document)
    refresh(["models_dev"])


@here
def test_models_dev_from_may_to_july(places: Places) -> None:
    changes = snapshot("modelsdev-transitions.json")["2026-05-22..2026-07-01"]
    paid, missing = split(row["id"] for row in changes["went_paid"]), split(changes["cost_removed_from_free"])
    july = snapshot("modelsdev-2026-07-01/api.json")
    # May's prices of what changed by July, in July's document.
    may = json.loads(json.dumps(july))
    for provider, served_id in paid | missing:
        may[provider]["models"][served_id]["cost"] = {"input": 0, "output": 0}
    roster(paid | missing)
    for document in (may, july, july):
        assert raised("went_paid") == set()
        read_models_dev(places, json.dumps(document).encode())
    assert len(paid) == 24
    assert raised("went_paid") == paid
    assert raised("gone") == set()


@here
def test_models_dev_from_july_to_august(places: Places) -> None:
    changes = snapshot("modelsdev-transitions.json")["2026-07-01..2026-08-18"]
    old, new = ((DATA / f"modelsdev-2026-{day}/api.json").read_bytes() for day in ("07-01", "08-18"))
    before, after = pairs(json.loads(old)), pairs(json.loads(new))
    paid = split(row["id"] for row in changes["went_paid"])
    bench = {*paid, *split(changes["newly_deprecated"]), *split(changes["free_removed"])} & before.keys()
    roster(bench)
    for document in (old, new, new):
        assert raised("went_paid") | raised("gone") == set()
        read_models_dev(places, document)

    gone = bench - after.keys()
    bare = {key: after.get((key[0], key[1].removesuffix(":free")), {}) for key in gone if key[1].endswith(":free")}
    ended = {key for key, model in bare.items() if (model.get("cost") or {}).get("input", 0) > 0}
    assert (len(paid), len(ended)) == (8, 7)
    assert raised("went_paid") == paid | ended
    # GitHub Models went as a whole, and that is told once.
    assert raised("gone") == {key for key in gone - ended if key[0] != "github-models"} | {("github-models", "")}
    assert raised("retiring") == {key for key in bench & after.keys() if after[key].get("status") == "deprecated"}
    assert Alert.objects.exclude(kind__in=["went_paid", "gone", "retiring"]).count() == 0


@here
def test_openrouter_on_two_days_of_may(places: Places) -> None:
    changes = snapshot("openrouter-transitions.json")
    ids = {*changes["removed"], *changes["added"], *changes["context_changed"]}
    roster(("openrouter", served_id) for served_id in ids)
    for day in ("12", "22", "22"):
        body = (DATA / f"openrouter-models-2026-05-{day}.json").read_bytes()
        places.scripts["/openrouter"] = tagged(body, f'"{day}"')
        refresh(["openrouter"])
    assert raised("went_paid") == {("openrouter", "inclusionai/ring-2.6-1t:free")}
    assert raised("gone") == {("openrouter", served_id) for served_id in changes["removed"] if "ring" not in served_id}
    listed = {model["id"]: model for model in snapshot("openrouter-models-2026-05-22.json")["data"]}
    ending = {("openrouter", served_id) for served_id in ids & listed.keys() if listed[served_id].get("expiration_date")}
    assert raised("retiring") == ending
    assert Alert.objects.exclude(kind__in=["went_paid", "gone", "retiring"]).count() == 0
