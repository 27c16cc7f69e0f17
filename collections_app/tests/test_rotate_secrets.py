"""rotate_secrets: every key under a new secret, the old one forgotten; cut short anywhere, every key still opens."""

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from collections_app import selectors
from collections_app.models import Change, Endpoint, RosterVersion
from collections_app.sealing import UnsealError
from collections_app.secret_file import secrets_in, write_secrets
from collections_app.selectors import typed_key
from collections_app.services import provider_keys
from collections_app.services.provider_keys import rotate_secret, store_key
from collections_app.tests.rosters import make_endpoint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def data_folder(settings: Any, tmp_path: Path) -> Path:
    settings.BENCH_DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def keys() -> dict[str, str]:
    keys = {f"up-{n}": f"sk-Recognisable-{n}" for n in range(3)}
    for name, key in keys.items():
        store_key(make_endpoint(name), key)
    make_endpoint("keyless")
    return keys


def readable() -> dict[str, str]:
    rows = Endpoint.objects.exclude(typed_key_id=None).order_by("name")
    return {row.name: typed_key(str(row.typed_key_id), row.base_url) for row in rows}


def sealed() -> list[str]:
    return list(Endpoint.objects.order_by("name").values_list("typed_key_sealed", flat=True))


def test_every_key_is_kept_under_a_new_secret_and_the_old_one_is_gone(keys: dict[str, str], data_folder: Path) -> None:
    before, old = sealed(), secrets_in(data_folder)
    ids = list(Endpoint.objects.values_list("typed_key_id", flat=True))
    changes, roster = Change.objects.count(), RosterVersion.objects.get().token
    said = io.StringIO()
    call_command("rotate_secrets", stdout=said)
    assert said.getvalue() == "A new secret; 3 keys are kept under it.\n"
    assert readable() == keys
    new = secrets_in(data_folder)
    assert len(new) == 1
    assert new != old
    assert not set(sealed()) & set(before) - {""}
    # The keys are the same: whoever has read one need not again, and the log has no news.
    assert list(Endpoint.objects.values_list("typed_key_id", flat=True)) == ids
    assert (Change.objects.count(), RosterVersion.objects.get().token) == (changes, roster)
    write_secrets(data_folder, old)
    with pytest.raises(UnsealError):
        readable()


def test_without_a_key_there_is_nothing_to_lose(data_folder: Path) -> None:
    assert rotate_secret() == 0
    assert len(secrets_in(data_folder)) == 1


@pytest.mark.parametrize("step", range(9))
def test_cut_short_anywhere_every_key_still_opens(
    keys: dict[str, str], data_folder: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Each write of the file and each statement, one after the other, is the one that the power fails at."""
    left = step
    written = provider_keys.write_secrets

    def or_die() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt

    def write(folder: Path, secrets: list[str]) -> None:
        or_die()
        written(folder, secrets)
        or_die()

    def execute(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE"):
            or_die()
        return run(sql, *rest)

    monkeypatch.setattr(provider_keys, "write_secrets", write)
    with connection.execute_wrapper(execute):
        if step < 7:
            with pytest.raises(KeyboardInterrupt):
                rotate_secret()
        else:
            rotate_secret()
    assert readable() == keys
    monkeypatch.undo()
    assert rotate_secret() == 3
    assert readable() == keys
    assert len(secrets_in(data_folder)) == 1


def test_a_key_that_the_secret_does_not_open_stops_it_and_nothing_changes(keys: dict[str, str], data_folder: Path) -> None:
    Endpoint.objects.filter(name="up-1").update(typed_key_sealed="gAAAA-altered")
    before = sealed(), secrets_in(data_folder)
    with pytest.raises(CommandError, match="nothing was changed: the present secret does not open the keys of up-1"):
        call_command("rotate_secrets")
    assert (sealed(), secrets_in(data_folder)) == before


def test_one_that_died_after_another_had_begun_keeps_what_that_needs(
    keys: dict[str, str], data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second begins between the first one's commit and its clearing up, and dies before its own."""
    begun, atomic, write = 0, transaction.atomic, provider_keys.write_secrets

    def die_at_the_end(folder: Path, secrets: list[str]) -> None:
        if len(secrets) == 1:
            raise KeyboardInterrupt
        write(folder, secrets)

    def begin(*given: Any, **how: Any) -> Any:
        nonlocal begun
        begun += bool(how.get("durable"))
        if begun == 2 and how.get("durable"):
            with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
                dying.setattr(provider_keys, "write_secrets", die_at_the_end)
                rotate_secret()
        return atomic(*given, **how)

    monkeypatch.setattr(transaction, "atomic", begin)
    rotate_secret()
    assert readable() == keys
    assert len(secrets_in(data_folder)) == 3


def test_who_reads_while_the_secret_changes_looks_again(keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    read = selectors.secrets_in

    def after_a_change(folder: Path) -> list[str]:
        monkeypatch.setattr(selectors, "secrets_in", read)
        rotate_secret()
        return read(folder)

    monkeypatch.setattr(selectors, "secrets_in", after_a_change)
    assert readable() == keys


def rotate() -> None:
    for _ in range(6):
        rotate_secret()


def store(name: str) -> None:
    for n in range(12):
        store_key(Endpoint.objects.get(name=name), f"sk-{name}-{n}")


def read(ends: threading.Event) -> None:
    while not ends.is_set():
        row = Endpoint.objects.get(name="up-2")
        assert typed_key(str(row.typed_key_id), row.base_url) == "sk-Recognisable-2"


def test_keys_that_are_stored_meanwhile_are_kept_too(keys: dict[str, str], data_folder: Path) -> None:
    """Two who change the secret, and others who store keys and read them, all at once."""
    ends = threading.Event()

    def closing(work: Callable[..., None], *given: Any) -> None:
        try:
            work(*given)
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        reading = threads.submit(closing, read, ends)
        works = [(rotate,), (rotate,), (store, "up-0"), (store, "up-1")]
        done = [threads.submit(closing, *work) for work in works]
        wait(done)
        ends.set()
    for one in (*done, reading):
        one.result()
    assert readable() == {"up-0": "sk-up-0-11", "up-1": "sk-up-1-11", "up-2": "sk-Recognisable-2"}
    assert len(secrets_in(data_folder)) == 1
