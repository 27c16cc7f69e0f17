"""The preview of who would sit: what it says is what the next panel does, for any members, shape, size and image."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collections_app.models import CoolDown, Limits
from collections_app.tests.rosters import make_collection, make_model
from evidence.models import Call
from evidence.tests.rows import make_panel
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import running_server

MODELS = {
    "one": {},
    "two": {},
    "coder": {"role": "code"},
    "guest": {"status": "ad_hoc"},
    "kin": {"family": ["one"]},
    **{f"next-{number}": {} for number in range(4)},
}
NEXT = re.compile(r"<b>explorer</b>(?: by lot)?</span> <a[^>]*><bdi>([^<]+)<")


@pytest.fixture(scope="module")
def server(loud_upstream, tmp_path_factory):
    models = {alias: {"model": f"say-{alias}", **fields} for alias, fields in MODELS.items()}
    bench = bench_file(loud_upstream.url, models, {"pair": ["one", "two"], "reviews": ["one"]})
    with running_server(tmp_path_factory.mktemp("preview"), bench) as running:
        yield running


def test_who_would_sit_sits(server):
    """Panel after panel, until everybody has had a turn and once more."""
    pk = server.rows("SELECT id FROM collections_app_collection WHERE name = 'pair'")[0][0]
    sat = set()
    for _ in range(4):
        page = server.request("GET", f"/admin/preview/{pk}/", headers={"Accept": "text/html"}).body.decode()
        said = NEXT.findall(page)
        sure = re.findall(r'running"><b>explorer</b></span> <a[^>]*><bdi>([^<]+)<', page)
        seats = server.chat("bench/pair").json["bench"]["seats"]
        assert [seat["alias"] for seat in seats if seat["seat"] == "member"] == ["one", "two"]
        explored = {seat["alias"] for seat in seats if seat["seat"] == "explorer"}
        assert len(explored) == 2
        assert set(sure) <= explored <= set(said)
        sat |= explored
    assert sat == {f"next-{number}" for number in range(4)}


@pytest.fixture
def bench(db):
    """A pair, and who else there is; whoever has been asked on `general` is told apart from who has not."""
    models = {alias: make_model(alias, **{"family": [alias]} | fields) for alias, fields in MODELS.items()}
    pair = make_collection("pair", models["one"], models["two"])
    for days, alias in enumerate(("next-2", "next-1", "next-3"), 1):
        make_panel(("explorer1", alias), minutes_ago=1440 * days, shape="general")
    return pair, models


def look(client, collection, query=""):
    reply = client.get(f"/admin/preview/{collection.pk}/{query}")
    assert reply.status_code == 200
    return reply.context["outlook"], reply.content.decode()


def test_whoever_was_never_asked_explores_first_then_who_was_longest_ago(client, bench):
    seen, page = look(client, bench[0])
    assert [(one.model.alias, one.chance) for one in seen.queue] == [
        ("kin", "later"),
        ("next-0", "sits"),
        ("next-3", "sits"),
        ("next-1", "later"),
        ("next-2", "later"),
    ]
    assert "of one family with one" in page
    assert {group.why: [model.alias for model in group.models] for group in seen.barred} == {
        "sits as a member": ["one", "two"],
        "of another role than general admits: code": ["coder"],
        "ad hoc: sits when named, never explores": ["guest"],
    }


def test_equals_are_drawn_by_lot(client, bench):
    Call.objects.all().delete()
    seen, _ = look(client, bench[0])
    assert {one.model.alias: one.chance for one in seen.next} == {f"next-{number}": "by lot" for number in range(4)}


def test_another_shape_a_large_prompt_and_an_image_are_looked_at(client, bench):
    collection, models = bench
    seen, _ = look(client, collection, "?shape=code")
    assert (seen.shape.name, "coder" in {one.model.alias for one in seen.queue}) == ("code", True)
    for alias, window in (("next-0", 100), ("one", 100)):
        models[alias].context_window = window
        models[alias].save()
    seen, page = look(client, collection, "?tokens=5000")
    assert "does not fit one" in page
    assert "its context window is too small for the prompt" in page
    models["next-1"].vision = models["two"].vision = True
    models["next-1"].save()
    models["two"].save()
    seen, page = look(client, collection, "?images=on")
    assert [model.alias for model in seen.members] == ["two"]
    assert [one.model.alias for one in seen.next] == ["next-1"]
    assert "not known to take images" in page


@pytest.mark.parametrize("query", ["?tokens=-1", "?tokens=9e99", "?tokens=x&images=&shape=%00", "?shape=none"])
def test_nonsense_is_as_usual(client, bench, query):
    seen, _ = look(client, bench[0], query)
    assert seen.shape.name == "general"


def test_whoever_cools_down_does_not_explore_and_a_full_panel_has_no_explorer(client, bench):
    collection, models = bench
    CoolDown.objects.create(
        endpoint=models["next-0"].endpoint,
        served_id=models["next-0"].served_id,
        until=timezone.now() + timedelta(hours=1),
        since=timezone.now(),
        why="too many",
    )
    seen, page = look(client, collection)
    assert [one.model.alias for one in seen.next] == ["next-3", "next-1"]
    assert "cooling down (1)" in page
    Limits.objects.update_or_create({"max_calls": 2, "max_explorers": 2}, pk=1)
    seen, page = look(client, collection)
    assert "No seat is left for explorers" in page


def test_a_form_is_told_of_members_that_nobody_has_saved(client, bench):
    _, models = bench
    kin = [str(models[alias].pk) for alias in ("one", "kin")]
    page = client.get("/admin/preview/members/", {"member": kin, "shape": ""}).content.decode()
    assert "All members are of one family (one)" in page
    assert "next-0" in page
    assert "<html" not in page
    nobody = client.get("/admin/preview/members/", {"member": ["0", "x", "9" * 40], "shape": "x"})
    assert nobody.status_code == 200


def test_more_members_than_seats_and_no_eyes_are_warned_of(client, bench):
    _, models = bench
    six = [str(models[alias].pk) for alias in ("one", "two", "coder", "next-0", "next-1", "next-2")]
    page = client.get("/admin/preview/members/", {"member": six}).content.decode()
    assert "6 members all sit, beyond the 5 seats" in page
    assert "No member is known to take images" in page


def test_hostile_names_are_shown_and_not_believed(client, db):
    model = make_model("plain", family=["x"], served_id="<script>")
    collection = make_collection("pair", model)
    make_panel(collection_id=collection.pk, collection_name="bench/pair", request="<script>alert(1)</script>\u202e")
    page = look(client, collection)[1]
    assert "<script>alert" not in page
    assert "[U+202E]" in page


def test_only_who_may_see_collections_may_look(client, bench, settings):
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    assert client.get(f"/admin/preview/{bench[0].pk}/").status_code == 302
    user = User.objects.create_user("reader", is_staff=True)
    client.force_login(user)
    assert client.get(f"/admin/preview/{bench[0].pk}/").status_code == 403
    assert client.get("/admin/preview/members/").status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_collection"))
    assert client.get(f"/admin/preview/{bench[0].pk}/").status_code == 200
    assert client.get("/admin/preview/0/").status_code == 404


def test_what_was_asked_is_for_those_who_may_read_panels(client, bench, settings):
    settings.BENCHWARMERS_ADMIN_TOKEN = "a-token-of-24-characters"
    panel = make_panel(request="user: a secret plan", collection_id=bench[0].pk)
    user = User.objects.create_user("reader", is_staff=True)
    client.force_login(user)
    user.user_permissions.add(Permission.objects.get(codename="view_collection"))
    page = look(client, bench[0])[1]
    assert "a secret plan" not in page and panel.panel_id not in page
    user.user_permissions.add(Permission.objects.get(codename="view_panel"))
    page = look(client, bench[0])[1]
    assert "a secret plan" in page and panel.panel_id in page


def test_it_costs_as_many_queries_for_many_models_as_for_few(client, bench):
    look(client, bench[0])
    with CaptureQueriesContext(connection) as few:
        look(client, bench[0])
    for number in range(60):
        make_model(f"more-{number}")
    look(client, bench[0])
    with CaptureQueriesContext(connection) as many:
        look(client, bench[0])
    assert len(many) <= len(few) <= 25
