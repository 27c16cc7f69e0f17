"""Who changed what and when, before and after: from the dashboard and from commands, members included, secrets never."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from collections_app.models import Change, Collection, LanguageModel, Limits, Shape
from collections_app.services.bench_load import load_bench
from collections_app.services.members import set_members
from collections_app.tests.rosters import make_collection, make_endpoint, make_model

pytestmark = pytest.mark.django_db

BENCH = {
    "endpoints": {"up": {"base_url": "https://a.example", "api_key_env": "A_KEY"}},
    "models": {"fast": {"endpoint": "up", "model": "fast-1"}, "slow": {"endpoint": "up", "model": "slow-1"}},
    "collections": {"core": {"members": ["fast", "slow"], "shape": "review"}},
    "limits": {"max_calls": 6},
}


def logged() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    return [(change.made_by, str(change), change.differences) for change in Change.objects.order_by("id")]


def test_a_command_is_named_with_what_it_changed(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text('[endpoints.up]\nbase_url = "https://a.example"\n')
    call_command("load_bench", str(tmp_path / "bench.toml"), verbosity=0)
    made = [("base_url", "", "https://a.example"), ("name", "", "up"), ("protocol", "", "openai_chat")]
    assert logged() == [("load_bench", "endpoint up", made)]


def test_every_kind_of_row_is_logged() -> None:
    load_bench(BENCH)
    kinds = [str(change.content_type.name) for change in Change.objects.order_by("id")]
    assert kinds == ["endpoint", "model", "model", "collection", "collection", "limits"]
    assert logged()[4] == ("load_bench", "collection bench/core", [("members", "", "fast, slow")])
    assert ("max_calls", "5", "6") in logged()[5][2]


def test_rows_are_named_and_not_numbered() -> None:
    load_bench(BENCH)
    assert ("endpoint", "", "up") in logged()[1][2]
    assert ("shape", "", "review") in logged()[3][2]
    fields = {name for _, _, differences in logged() for name, _, _ in differences}
    assert not fields & {"id", "created_at", "memberships", "panels"}


def test_a_dry_run_and_a_refused_file_log_nothing() -> None:
    load_bench(BENCH, dry_run=True)
    assert logged() == []


def test_members_are_logged_in_their_order() -> None:
    load_bench(BENCH)
    load_bench({"collections": {"core": {"members": ["slow", "fast"], "shape": "review"}}})
    assert logged()[-1] == ("load_bench", "collection bench/core", [("members", "fast, slow", "slow, fast")])


def test_the_dashboard_names_its_user(client: Client) -> None:
    endpoint = make_endpoint()
    form = {"name": "upstream", "protocol": "openai_chat", "base_url": "https://b.example/v1", "api_key_env": ""}
    client.post(f"/admin/collections_app/endpoint/{endpoint.pk}/change/", form)
    assert logged()[-1] == ("local", "endpoint upstream", [("base_url", "https://upstream.example/v1", "https://b.example/v1")])


def test_a_shape_and_the_limits_are_logged(client: Client) -> None:
    shape = Shape.objects.get(name="quick")
    client.post(
        f"/admin/collections_app/shape/{shape.pk}/change/", {"name": "quick", "description": "Short.", "roles": ["light"]}
    )
    assert ("roles", '["general", "light"]', '["light"]') in logged()[-1][2]
    client.post("/admin/collections_app/limits/1/change/", {"max_calls": "4", "max_explorers": "2"})
    assert logged()[-1][1:] == ("limits 4 calls, 2 explorers", [("max_calls", "5", "4")])


@pytest.mark.parametrize("by_list", [False, True])
def test_who_sat_in_a_deleted_collection_is_kept(client: Client, by_list: bool) -> None:
    core = make_collection("core")
    set_members(core, [make_model("fast"), make_model("slow")])
    if by_list:
        form = {"action": "delete_selected", "_selected_action": [core.pk], "post": "yes"}
        client.post("/admin/collections_app/collection/", form)
    else:
        client.post(f"/admin/collections_app/collection/{core.pk}/delete/", {"post": "yes"})
    assert not Collection.objects.exists()
    (members_gone, row_gone) = logged()[-2:]
    assert members_gone == ("local", "collection bench/core", [("members", "fast, slow", "")])
    assert ("name", "core", "") in row_gone[2]


def test_a_forwarded_address_is_not_kept(client: Client) -> None:
    client.get("/admin/")
    user_made_here = {"name": "up", "protocol": "openai_chat", "base_url": "https://b.example/v1", "api_key_env": ""}
    client.post("/admin/collections_app/endpoint/add/", user_made_here)
    assert [change.remote_addr for change in Change.objects.all()] == [None]


def test_the_page_shows_who_and_what_and_cannot_be_written_to(client: Client) -> None:
    load_bench(BENCH)
    text = client.get("/admin/collections_app/change/").content.decode()
    for shown in ("load_bench", "collection bench/core", "members: fast, slow"):
        assert shown in text, shown
    newest = Change.objects.first()
    assert newest
    one = client.get(f"/admin/collections_app/change/{newest.pk}/change/").content.decode()
    assert '<th scope="row">max_calls</th><td>5</td><td>6</td>' in one
    assert client.get("/admin/collections_app/change/add/").status_code == 403
    assert client.post(f"/admin/collections_app/change/{newest.pk}/change/", {}).status_code == 403
    assert client.post(f"/admin/collections_app/change/{newest.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_rows_history_is_its_changes(client: Client) -> None:
    load_bench(BENCH)
    slow = LanguageModel.objects.get(alias="slow")
    text = client.get(f"/admin/collections_app/languagemodel/{slow.pk}/history/", follow=True).content.decode()
    assert "model slow" in text
    assert "model fast" not in text


def test_a_deleted_row_is_named_without_a_link(client: Client) -> None:
    endpoint = make_endpoint("gone")
    client.post(f"/admin/collections_app/endpoint/{endpoint.pk}/delete/", {"post": "yes"})
    text = client.get("/admin/collections_app/change/", {"action__exact": "2"}).content.decode()
    assert "endpoint gone" in text
    assert f"/admin/collections_app/endpoint/{endpoint.pk}/change/" not in text


def test_limits_saved_unchanged_log_nothing() -> None:
    Limits.objects.get().save()
    assert logged() == []
