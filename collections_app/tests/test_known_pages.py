"""What is known and how models do, as people see it: by source, by limit, by place; in few queries however much there is."""

import threading
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.catalog.background import BackgroundRefresh, background_refresh
from collections_app.models import CatalogSource, Change, CoolDown, DecisionModel, Doubt, Endpoint, Fact, LanguageModel, Usage
from collections_app.services.cooling import cool_down
from collections_app.services.retirement import retire
from collections_app.tests import catalogs
from collections_app.tests.places import PATHS, Places, sending
from collections_app.tests.rosters import make_endpoint, make_model

pytestmark = pytest.mark.django_db

URL = "/admin/collections_app/"
HOSTILE = '\u202egnp"><script>alert(1)</script><img src=x onerror=alert(1)>'
LISTS = {
    "languagemodel/": 9,
    "languagemodel/?takes=vision&now=resting": 12,
    "cooldown/": 11,
    "catalogsource/": 4,
    "endpoint/": 5,
}


def page(client: Client, path: str) -> str:
    reply = client.get(URL + path)
    assert reply.status_code == 200, path
    return reply.content.decode()


def do(client: Client, model: LanguageModel, deed: str, field: str = "") -> HttpResponse:
    return client.post(f"{URL}languagemodel/{model.pk}/do/{deed}/", {"field": field}, follow=True)


def learn(model: LanguageModel, source: str, note: str = "", served_id: str = "", **values: Any) -> None:
    for field, value in values.items():
        Fact.objects.create(
            endpoint=model.endpoint,
            served_id=served_id or model.served_id,
            field=field,
            source=source,
            value=value,
            note=note,
            known_since=timezone.now(),
        )


def today() -> datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)


def use(model: LanguageModel, requests: int, served_id: str = "") -> None:
    Usage.objects.create(
        endpoint=model.endpoint, served_id=served_id or model.served_id, span="day", start=today(), requests=requests
    )


def text_between(text: str, first: str, last: str) -> str:
    return text[text.index(first) : text.index(last, text.index(first))]


# --- A model's page ---


def test_a_models_page_shows_every_sources_value_and_which_one_holds(client: Client) -> None:
    model = make_model("fast", context_window=None)
    learn(model, "models_dev", context_window=131_072, price_in=0.15, price_out=0, vision=True, retires="2027-01-31")
    learn(model, "endpoint", context_window=32_768)
    learn(model, "learned", context_window=8192, note="maximum context length is 8192 tokens")
    text = page(client, f"languagemodel/{model.pk}/change/")
    window = text_between(text, "Context window", "Longest answer")
    assert window.index("8,192") < window.index("32,768") < window.index("131,072")
    assert window.count(">holds<") == 1
    assert window.index("8,192") < window.index(">holds<") < window.index("32,768")
    for shown in (
        "learned from a real error or reply",
        "the endpoint's own listing",
        "models.dev",
        f"since {today():%Y-%m-%d}",
    ):
        assert shown.replace("'", "&#x27;") in window or shown in window, shown
    for shown in ("$0.15", "$0.00", "USD per million tokens", "2027-01-31", "maximum context length is 8192 tokens"):
        assert shown in text, shown


def test_an_override_is_typed_in_the_table_and_cleared_by_one_click(client: Client) -> None:
    model = make_model("fast")
    learn(model, "models_dev", context_window=131_072)
    form = {"alias": "fast", "endpoint": model.endpoint_id, "served_id": model.served_id, "role": "general", "status": "active"}
    form |= {"vision": "true", "tools": "unknown", "context_window": "4096", "requests_per_day": "50"}
    reply = client.post(f"{URL}languagemodel/{model.pk}/change/", {**form, "_continue": "1"}, follow=True)
    window = text_between(reply.content.decode(), "Context window", "Longest answer")
    assert "set on this bench" in window
    assert window.index("4,096") < window.index(">holds<") < window.index("131,072")
    assert "Context window is as the sources have it." in do(client, model, "clear", "context_window").content.decode()
    model.refresh_from_db()
    assert (model.context_window, model.vision, model.requests_per_day) == (None, True, 50), "the others stay"
    newest = Change.objects.first()
    assert newest and newest.differences == [("context_window", "4096", "")]


def test_a_wrong_override_is_told_beside_its_field(client: Client) -> None:
    model = make_model("fast")
    form = {"alias": "fast", "endpoint": model.endpoint_id, "served_id": "a", "role": "general", "status": "active"}
    form |= {"vision": "unknown", "tools": "unknown", "context_window": "0"}
    text = client.post(f"{URL}languagemodel/{model.pk}/change/", form).content.decode()
    assert "greater than or equal to 1" in text_between(text, "Context window", "Longest answer")


def test_what_was_learned_is_forgotten_by_one_click_and_nothing_else(client: Client) -> None:
    model, other = make_model("fast"), make_model("other")
    learn(model, "learned", context_window=8192, requests_per_day=50)
    learn(model, "models_dev", context_window=131_072)
    learn(other, "learned", context_window=4096)
    assert "what was learned is forgotten" in do(client, model, "forget", "context_window").content.decode()
    left = set(Fact.objects.values_list("served_id", "field", "source"))
    assert left == {
        (model.served_id, "requests_per_day", "learned"),
        (model.served_id, "context_window", "models_dev"),
        (other.served_id, "context_window", "learned"),
    }


def test_a_model_is_retired_and_restored_to_what_it_was_by_one_click(client: Client) -> None:
    model = make_model("fast", status="ad_hoc")
    do(client, model, "retire")
    model.refresh_from_db()
    assert (model.status, model.retired_why) == ("retired", "")
    assert "Restore</button>" in page(client, f"languagemodel/{model.pk}/change/")
    do(client, model, "restore")
    model.refresh_from_db()
    assert model.status == "ad_hoc"


def test_what_the_bench_retired_says_why_until_a_person_restores_it(client: Client) -> None:
    model = make_model("fast")
    retire(model.endpoint_id, model.served_id, why="Its provider said so: decommissioned")
    for path in (f"languagemodel/{model.pk}/change/", "languagemodel/"):
        text = page(client, path)
        assert "by the bench:" in text
        assert "decommissioned" in text
    assert "decommissioned" not in do(client, model, "restore").content.decode().partition("<fieldset")[0]
    model.refresh_from_db()
    assert (model.status, model.retired_why) == ("active", "")


@pytest.mark.parametrize("status", ["active", "ad_hoc"])
def test_a_status_chosen_in_the_form_takes_the_benchs_reason_away(client: Client, status: str) -> None:
    model = make_model("fast")
    retire(model.endpoint_id, model.served_id, why="gone")
    form = {"alias": "fast", "endpoint": model.endpoint_id, "served_id": model.served_id, "role": "general", "status": status}
    client.post(f"{URL}languagemodel/{model.pk}/change/", {**form, "vision": "unknown", "tools": "unknown"})
    model.refresh_from_db()
    assert (model.status, model.retired_why) == (status, "")


def test_a_model_that_decides_on_this_bench_is_not_restored(client: Client) -> None:
    model = make_model("fast", status="retired")
    DecisionModel.objects.create(alias="judge", endpoint=model.endpoint, served_id=model.served_id)
    assert "never sits on a panel" in do(client, model, "restore").content.decode()
    chosen = {"_selected_action": [model.pk], "action": "restore"}
    assert "never sits on a panel" in client.post(f"{URL}languagemodel/", chosen, follow=True).content.decode()
    model.refresh_from_db()
    assert model.status == "retired"


def test_a_cool_down_says_until_when_and_why_and_is_ended_where_it_is_seen(client: Client) -> None:
    model = make_model("fast")
    now = timezone.now()
    rest = cool_down(model.endpoint_id, model.served_id, at=now, until=now + timedelta(seconds=120), why="Limit 30, used 30")
    text = page(client, f"languagemodel/{model.pk}/change/")
    assert f"{rest.until:%Y-%m-%d %H:%M:%S} UTC" in text
    assert "Limit 30, used 30" in text
    assert "cooling down until" in page(client, "languagemodel/")
    reply = client.post(f"{URL}cooldown/{rest.pk}/end/", {"model": model.pk}, follow=True)
    assert reply.redirect_chain == [(f"{URL}languagemodel/{model.pk}/change/", 302)]
    assert not CoolDown.objects.exists()
    assert "cooling down until" not in page(client, "languagemodel/")


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "999999999999999999999", "x", ""])
def test_ending_a_cool_down_leads_nowhere_else(client: Client, elsewhere: str) -> None:
    model = make_model("fast")
    rest = cool_down(model.endpoint_id, "*", at=timezone.now(), why="x")
    reply = client.post(f"{URL}cooldown/{rest.pk}/end/", {"model": elsewhere})
    assert reply.headers["Location"] == f"{URL}cooldown/"


def test_an_account_that_rests_is_shown_on_its_models_and_no_others(client: Client) -> None:
    free, paid = make_model("free", served_id="a:free"), make_model("paid", served_id="a")
    cool_down(free.endpoint_id, "*:free", at=timezone.now(), why="free requests a day")
    assert "free requests a day" in page(client, f"languagemodel/{free.pk}/change/")
    assert "free requests a day" not in page(client, f"languagemodel/{paid.pk}/change/")
    assert "free</a>" in page(client, "languagemodel/?now=resting")
    assert "paid</a>" not in page(client, "languagemodel/?now=resting")


def test_doubts_are_shown_and_forgotten(client: Client) -> None:
    model = make_model("fast")
    about = {"endpoint": model.endpoint, "served_id": model.served_id}
    Doubt.objects.create(**about, request="p1", at=timezone.now(), said="no such model")
    assert "no such model" in page(client, f"languagemodel/{model.pk}/change/")
    assert "no such model" not in do(client, model, "forget-doubts").content.decode()


@pytest.mark.parametrize(("deed", "field"), [("clear", "alias"), ("clear", "price_in"), ("forget", "status"), ("forget", "")])
def test_a_click_changes_what_its_button_is_for(client: Client, deed: str, field: str) -> None:
    model = make_model("fast", context_window=4096)
    learn(model, "learned", context_window=8192)
    changes = Change.objects.count()
    do(client, model, deed, field)
    assert (Change.objects.count(), Fact.objects.count()) == (changes, 1)


@pytest.mark.parametrize("deed", ["clear", "forget", "retire", "restore", "forget-doubts"])
def test_every_click_is_a_post_with_a_token_by_who_may_change_models(client: Client, settings: Any, deed: str) -> None:
    model = make_model("fast", context_window=4096)
    url = f"{URL}languagemodel/{model.pk}/do/{deed}/"
    assert client.get(url).status_code == 405
    assert Client(enforce_csrf_checks=True).post(url, {"field": "context_window"}).status_code == 403
    assert client.post(f"{URL}languagemodel/0/do/{deed}/").status_code == 404
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    guest = User.objects.create_user("guest", password="x", is_staff=True)
    guest.user_permissions.add(Permission.objects.get(codename="view_languagemodel"))
    client.force_login(guest)
    text = page(client, f"languagemodel/{model.pk}/change/")
    assert "4,096" in text
    assert "Clear</button>" not in text
    assert client.post(url, {"field": "context_window"}).status_code == 403
    model.refresh_from_db()
    assert (model.context_window, model.status) == (4096, "active")


# --- The list of models ---


def test_the_list_shows_what_holds_whoever_knows_it(client: Client) -> None:
    model = make_model("fast")
    learn(model, "models_dev", context_window=131_072, vision=True, tools=False, free="quota", price_in=0.15, price_out=2)
    learn(model, "learned", context_window=8192)
    learn(model, "models_dev", retires="2027-01-31", requests_per_day=100)
    use(model, 95)
    rows = page(client, "languagemodel/").partition("<tbody")[2]
    for shown in ("8,192", "images", "free quota", "$0.15 in, $2.00 out", "retires 2027-01-31", "5 of 100"):
        assert shown in rows, shown
    assert "131,072" not in rows
    assert ">tools<" not in rows


@pytest.mark.parametrize(
    ("own", "facts", "found"),
    [
        (True, {}, True),
        (None, {"models_dev": True}, True),
        (False, {"models_dev": True}, False),
        (None, {"endpoint": False, "models_dev": True}, False),
        (None, {"openrouter": False, "models_dev": True}, True),
        (None, {}, False),
    ],
)
def test_models_are_found_by_what_they_take_as_it_holds(
    client: Client, own: bool | None, facts: dict[str, bool], found: bool
) -> None:
    model = make_model("fast", vision=own)
    for source, value in facts.items():
        learn(model, source, vision=value)
    assert ("fast</a>" in page(client, "languagemodel/?takes=vision")) is found


def test_models_are_found_by_whether_the_bench_retired_them(client: Client) -> None:
    make_model("by-hand", status="retired")
    gone = make_model("by-bench")
    retire(gone.endpoint_id, gone.served_id, why="gone")
    rows = page(client, "languagemodel/?now=gone").partition("<tbody")[2]
    assert "by-bench</a>" in rows
    assert "by-hand</a>" not in rows


# --- Limits left, sources, endpoints ---


def test_limits_say_what_is_left_when_it_is_whole_again_and_how_long_it_lasts(client: Client) -> None:
    model = make_model("fast", served_id="a:free", endpoint=make_endpoint("openrouter", requests_per_minute=20))
    learn(model, "freellmapi", requests_per_day=1000)
    learn(model, "freellmapi", served_id="*:free", requests_per_day=50)
    use(model, 1000)
    use(model, 3, "*:free")
    text = page(client, "cooldown/")
    accounts, models = text_between(text, 'id="accounts"', 'id="models"'), text.partition('id="models"')[2]
    for shown in ("20 requests a minute", "nothing used", "*:free", "50 requests a day", ">47<"):
        assert shown in accounts, shown
    assert f"{today() + timedelta(days=1):%Y-%m-%d} 00:00 UTC" in models
    assert "used up" in models
    assert f"languagemodel/{model.pk}/change/" in models
    assert "50 requests a day" not in models, "what an account shares is told once"


def test_an_endpoint_says_whom_it_is_taken_for_and_what_its_account_has_left(client: Client) -> None:
    endpoint = make_endpoint("fast", base_url="https://api.groq.com/openai/v1")
    learn(make_model("model", endpoint=endpoint), "learned", served_id="*", requests_per_day=100)
    text = page(client, f"endpoint/{endpoint.pk}/change/")
    for shown in ("Groq", "by its base URL", "100 requests a day", "all models"):
        assert shown in text, shown
    Endpoint.objects.update(provider="openrouter")
    text = page(client, f"endpoint/{endpoint.pk}/change/")
    assert "as set here" in text
    assert "nobody that is known" in page(client, f"endpoint/{make_endpoint('other').pk}/change/")


def test_a_source_says_how_its_last_reading_went_and_what_was_left_out(client: Client) -> None:
    now = timezone.now()
    make_endpoint("groq")
    CatalogSource.objects.create(
        name="openrouter",
        entries=342,
        checked_at=now,
        good_at=now - timedelta(days=2),
        failing_since=now,
        error="It answers 502.",
    )
    CatalogSource.objects.create(name="models_dev", entries=4321, checked_at=now, good_at=now, report=["a row without an id"])
    text = page(client, "catalogsource/")
    for shown in ("4,321", "342", "It answers 502.", "failing since", "1 left out", "groq&#x27;s own listing", "not asked yet"):
        assert shown in text, shown
    assert "a row without an id" not in text
    assert "a row without an id" in page(client, "catalogsource/?source=models_dev")
    page(client, "catalogsource/?source=%00nobody")


@pytest.mark.django_db(transaction=True)
def test_a_source_is_asked_in_a_thread_of_its_own_and_its_answer_is_there_at_the_next_look(
    client: Client, places: Places
) -> None:
    places.scripts[PATHS["openrouter"]] = sending(catalogs.listing(catalogs.openrouter("acme/fast")))
    reply = client.post(f"{URL}catalogsource/openrouter/refresh/", follow=True)
    assert "Asking openrouter now" in reply.content.decode()
    background_refresh().wait(20)
    assert CatalogSource.objects.get(name="openrouter").entries == 1
    assert not CatalogSource.objects.filter(name="models_dev").exists(), "nothing else was asked"
    assert "Under way" not in page(client, "catalogsource/")


@pytest.mark.django_db(transaction=True)
def test_a_refresh_under_way_is_shown_and_no_second_one_begins(client: Client, places: Places) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        go_on.wait(20)
        sending(catalogs.listing(catalogs.openrouter("acme/fast")))(handler)

    places.scripts[PATHS["openrouter"]] = slowly
    try:
        text = client.post(f"{URL}catalogsource/openrouter/refresh/", follow=True).content.decode()
        assert "Under way" in text
        assert asked.wait(20)
        text = client.post(f"{URL}catalogsource/all/refresh/", follow=True).content.decode()
        assert "A refresh is under way: wait for its end." in text
        assert "reading <bdi>openrouter</bdi>, 0 of 1 done" in text
    finally:
        go_on.set()
        background_refresh().wait(20)
    assert background_refresh().progress is None


def test_a_listing_that_shrank_is_taken_by_one_click(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, Any]] = []
    monkeypatch.setattr(
        BackgroundRefresh, "start", lambda self, names, *, accept_shrunken: bool(asked.append((names, accept_shrunken))) or True
    )
    CatalogSource.objects.create(name="openrouter", error="take it with refresh_catalog openrouter --accept-shrunken")
    assert page(client, "catalogsource/").count("Take the smaller list") == 1
    client.post(f"{URL}catalogsource/openrouter/accept/")
    client.post(f"{URL}catalogsource/all/refresh/")
    assert asked == [(["openrouter"], True), ([], False)]


def test_refreshing_is_a_post_for_a_source_there_is(client: Client) -> None:
    assert client.get(f"{URL}catalogsource/openrouter/refresh/").status_code == 405
    assert client.post(f"{URL}catalogsource/nobody/refresh/").status_code == 404
    assert Client(enforce_csrf_checks=True).post(f"{URL}catalogsource/openrouter/refresh/").status_code == 403
    assert background_refresh().progress is None


# --- All of them ---


def test_what_others_wrote_is_text_with_its_marks_spelt_out_and_cut(client: Client) -> None:
    endpoint = make_endpoint("groq")
    model = make_model("fast", endpoint=endpoint, served_id=HOSTILE)
    learn(
        model,
        "learned",
        context_window=HOSTILE,
        free=HOSTILE,
        price_in=HOSTILE,
        retires=HOSTILE + "w" * 300,
        requests_per_day=5,
        note=HOSTILE,
    )
    learn(model, "freellmapi", served_id=f"*{HOSTILE}", requests_per_day=7)
    now = timezone.now()
    for served_id in (HOSTILE, f"*{HOSTILE}"):
        CoolDown.objects.create(endpoint=endpoint, served_id=served_id, until=now + timedelta(hours=1), since=now, why=HOSTILE)
    Doubt.objects.create(endpoint=endpoint, served_id=HOSTILE, request=HOSTILE, at=now, said=HOSTILE)
    CatalogSource.objects.create(name="openrouter", url=HOSTILE, version=HOSTILE, error=HOSTILE, report=[HOSTILE])
    gone = make_model("gone", endpoint=endpoint, served_id="b", status="retired")
    LanguageModel.objects.filter(pk=gone.pk).update(retired_why=HOSTILE)
    Endpoint.objects.update(provider=HOSTILE)
    paths = ("languagemodel/", "cooldown/", "catalogsource/?source=openrouter", "endpoint/", f"endpoint/{endpoint.pk}/change/")
    for path in (*paths, f"languagemodel/{model.pk}/change/", f"languagemodel/{gone.pk}/change/"):
        text = page(client, path)
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "[U+202E]gnp" in text, path
        assert "w" * 200 not in text, path
        # A form's own fields hold what is saved, mark for mark.
        assert "/change/" in path or "\u202e" not in text, path


@pytest.mark.parametrize("path", LISTS)
def test_a_page_costs_the_same_queries_however_much_there_is(client: Client, path: str) -> None:
    page(client, path)  # the first page of all makes the user `local`
    fill(models=60, endpoints=9)
    with CaptureQueriesContext(connection) as queries:
        page(client, path)
    assert len(queries) <= LISTS[path], [query["sql"] for query in queries]


def fill(models: int, endpoints: int) -> None:
    """Models with facts, limits that are partly used, and cool-downs, on so many endpoints."""
    places = [make_endpoint(f"endpoint-{number}", requests_per_day=1000) for number in range(endpoints)]
    rows = LanguageModel.objects.bulk_create(
        LanguageModel(alias=f"model-{n:04}", endpoint=places[n % endpoints], served_id=f"served-{n}", vision=None)
        for n in range(models)
    )
    now = timezone.now()
    known = {"context_window": 131_072, "vision": True, "tools": True, "price_in": 0.1, "requests_per_minute": 30}
    known |= {"requests_per_day": 100}
    Fact.objects.bulk_create(
        Fact(endpoint=row.endpoint, served_id=row.served_id, field=field, source=source, value=value, known_since=now)
        for row in rows
        for source in ("models_dev", "freellmapi")
        for field, value in known.items()
    )
    Usage.objects.bulk_create(
        Usage(endpoint=row.endpoint, served_id=row.served_id, span="day", start=today(), requests=7) for row in rows
    )
    CoolDown.objects.bulk_create(
        CoolDown(endpoint=row.endpoint, served_id=row.served_id, until=now + timedelta(hours=1), since=now, why="busy")
        for row in rows[::3]
    )
