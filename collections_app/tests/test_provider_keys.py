"""A provider's key that was typed in: kept for its host, gone when the host changes, kept under a new secret when told."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from collections_app.models import Change, Endpoint
from collections_app.roster import roster_keeper
from collections_app.sealing import UnsealError
from collections_app.secret_file import NAME
from collections_app.selectors import typed_key, typed_key_problem
from collections_app.services.bench_dump import dump_bench
from collections_app.services.bench_load import load_bench
from collections_app.services.provider_keys import clear_key, drop_key_of_another_host, store_key
from collections_app.tests.rosters import make_collection, make_endpoint, make_model

pytestmark = pytest.mark.django_db
KEY = "sk-Recognisable-4711-0815"


@pytest.fixture(autouse=True)
def data_folder(settings: Any, tmp_path: Path) -> Path:
    settings.BENCH_DATA_DIR = tmp_path
    return tmp_path


def kept(name: str = "upstream", key: str = KEY) -> Endpoint:
    endpoint = make_endpoint(name)
    store_key(endpoint, key)
    return endpoint


def read(endpoint: Endpoint) -> str:
    row = Endpoint.objects.get(pk=endpoint.pk)
    return typed_key(str(row.typed_key_id), row.base_url)


def test_a_key_is_kept_and_read_by_its_id_for_its_host() -> None:
    endpoint = kept()
    assert read(endpoint) == KEY
    assert typed_key_problem(endpoint) == ""
    assert typed_key(str(endpoint.typed_key_id), "https://upstream.example/another/path") == KEY


def test_no_column_holds_it_and_no_form_of_the_row_tells_it() -> None:
    endpoint = kept()
    with connection.cursor() as cursor:
        cursor.execute("select * from collections_app_endpoint")
        assert KEY not in str(cursor.fetchall())
    assert KEY not in repr(vars(endpoint)) + repr(endpoint) + endpoint.typed_key_told


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/v1", "http://upstream.example/v1", "https://upstream.example:444/v1", "", "x"]
)
def test_for_another_host_it_is_refused(elsewhere: str) -> None:
    endpoint = kept()
    with pytest.raises(UnsealError, match=r"was typed for https://upstream\.example and is sent nowhere else"):
        typed_key(str(endpoint.typed_key_id), elsewhere)
    endpoint.base_url = elsewhere
    assert "sent nowhere else" in typed_key_problem(endpoint)


def test_a_host_altered_in_the_row_does_not_help() -> None:
    endpoint = kept()
    Endpoint.objects.update(typed_key_host="https://evil.example", base_url="https://evil.example/v1")
    with pytest.raises(UnsealError, match="sent nowhere else"):
        read(endpoint)


def test_a_new_key_has_a_new_id_and_the_old_id_reads_nothing() -> None:
    endpoint = kept()
    before = endpoint.typed_key_id
    store_key(endpoint, "sk-another")
    assert endpoint.typed_key_id != before
    assert read(endpoint) == "sk-another"
    with pytest.raises(UnsealError, match="replaced or cleared"):
        typed_key(str(before), endpoint.base_url)


def test_a_cleared_key_is_gone() -> None:
    endpoint = kept()
    key_id = str(endpoint.typed_key_id)
    clear_key(endpoint)
    row = Endpoint.objects.get()
    assert (row.typed_key_id, row.typed_key_host, row.typed_key_sealed, row.typed_key_at) == (None, "", "", None)
    with pytest.raises(UnsealError):
        typed_key(key_id, endpoint.base_url)


def test_the_log_says_that_it_was_stored_and_is_gone_and_no_more() -> None:
    endpoint = kept()
    told = endpoint.typed_key_told
    assert told.startswith("for https://upstream.example, typed on 20")
    clear_key(endpoint)
    clear_key(endpoint)
    changes = [change.differences for change in Change.objects.order_by("id")][1:]
    assert changes == [[("key", "", told)], [("key", told, "")]]
    assert not any(KEY in str(change.changes) or "sealed" in str(change.changes) for change in Change.objects.all())


def test_the_roster_hears_of_a_key() -> None:
    endpoint = make_endpoint()
    make_collection("core", make_model("fast"))

    def seen() -> Any:
        return roster_keeper().current().collections["core"].memberships.all()[0].language_model.endpoint.typed_key_id

    assert seen() is None
    store_key(endpoint, KEY)
    assert seen() == endpoint.typed_key_id
    clear_key(endpoint)
    assert seen() is None


def test_a_file_that_changes_the_host_drops_the_key_and_says_so() -> None:
    endpoint = kept()
    bench = dump_bench()
    assert KEY not in str(bench)
    assert "typed" not in str(bench)
    assert load_bench(bench) == []
    bench["endpoints"]["upstream"]["base_url"] = "https://upstream.example/v2"
    assert len(load_bench(bench)) == 1
    assert read(endpoint) == KEY
    bench["endpoints"]["upstream"]["base_url"] = "https://evil.example/v1"
    dropped = "dropped the key of endpoint upstream: it was typed for https://upstream.example"
    assert load_bench(bench, dry_run=True)[1:] == [dropped]
    assert Endpoint.objects.get().typed_key_id == endpoint.typed_key_id
    assert load_bench(bench)[1:] == [dropped]
    assert Endpoint.objects.get().typed_key_sealed == ""
    newest = Change.objects.first()
    assert newest
    assert (newest.made_by, newest.differences[0][2]) == ("load_bench", "")


def test_a_key_of_the_same_host_is_not_dropped() -> None:
    endpoint = kept()
    endpoint.base_url = "https://UPSTREAM.example:443/other"
    assert drop_key_of_another_host(endpoint) == ""
    assert read(endpoint) == KEY


@pytest.mark.parametrize("spoilt", ["gone", "empty", "another"])
def test_without_its_secret_a_key_is_refused_with_what_to_do(data_folder: Path, spoilt: str) -> None:
    endpoint = kept()
    secret = (data_folder / NAME).read_text()
    if spoilt == "gone":
        (data_folder / NAME).unlink()
    else:
        (data_folder / NAME).write_text("" if spoilt == "empty" else "x" * 64)
    with pytest.raises(UnsealError) as refused:
        read(endpoint)
    assert NAME in str(refused.value) or "data folder" in str(refused.value)
    assert "type the key again on the endpoint's page" in str(refused.value)
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("rotate_secrets")
    (data_folder / NAME).write_text(secret)
    assert read(endpoint) == KEY


def test_typed_again_after_the_secret_was_lost_it_works(data_folder: Path) -> None:
    first, second = kept("first"), kept("second")
    (data_folder / NAME).unlink()
    store_key(first, "sk-again")
    assert read(first) == "sk-again"
    assert "another secret" in typed_key_problem(second)
