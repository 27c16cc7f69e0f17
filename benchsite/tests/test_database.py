"""DATABASE_URL names PostgreSQL; without it the bench is in the data folder. Whoever names another is told, and no password."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchsite import database
from benchsite.database import database_in

FOLDER = Path("/data")


def test_a_url_names_the_database() -> None:
    named = database_in("postgres://bench:p%40ss@db.example:5433/log", FOLDER)
    assert named["ENGINE"] == "benchsite.postgresql"
    assert [named[one] for one in ("NAME", "USER", "PASSWORD", "HOST", "PORT")] == ["log", "bench", "p@ss", "db.example", 5433]
    assert "lock_timeout=30s" in named["OPTIONS"]["options"]
    assert "jit=off" in named["OPTIONS"]["options"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgres://%2Frun%2Fpostgresql/bench", "/run/postgresql"),
        ("postgres://bench:word@%2Frun%2Fpostgresql:5433/bench", "/run/postgresql"),
        ("postgres://bench:p#ss@%2FSrv%2FPG:5433/bench", "/Srv/PG"),
        ("postgres://%2fSrv%2fPG/bench?application_name=a@b", "/Srv/PG"),
        ("postgres://bench:word@%2Fsrv%2FA,%2Fsrv%2FB/bench", "/srv/A,/srv/B"),
        ("postgres:////srv/PG/bench", "/srv/PG"),
        ("postgres://[::1]:5432/bench", "::1"),
        ("postgres:///bench", ""),
    ],
)
def test_its_host_may_be_a_folder_with_its_socket(url: str, host: str) -> None:
    assert database_in(url, FOLDER)["HOST"] == host


@pytest.mark.parametrize("word", ["p@ss", "p%ss", "p#ss", "p[ss", "p:ss", "$ss", "p+ss"])
def test_its_password_may_stand_there_as_it_is(word: str) -> None:
    assert database_in(f"postgres://bench:{word}@db/bench", FOLDER)["PASSWORD"] == word


def test_without_one_it_is_a_file_in_the_data_folder() -> None:
    named = database_in("", FOLDER)
    assert (named["ENGINE"], named["NAME"]) == ("django.db.backends.sqlite3", FOLDER / "bench.sqlite3")


def test_what_the_url_says_of_its_connections_wins() -> None:
    options = database_in("postgresql://db/bench?sslmode=require&connect_timeout=2&conn_max_age=5", FOLDER)
    assert options["OPTIONS"] | {"sslmode": "require", "connect_timeout": 2} == options["OPTIONS"]
    assert options["CONN_MAX_AGE"] == 5


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://bench:secret-word@db/bench", "begins with postgres://"),
        ("sqlite:////data/secret-word.sqlite3", "Leave it out for SQLite"),
        ("secret-word", "begins with postgres://"),
        ("postgres://bench:secret-word@db", "names no database"),
        ("postgres://bench:secret-word@db:port/bench", "cannot be read"),
        ("postgres://bench:secret-word@db:99999/bench", "cannot be read"),
        ("postgres://bench:secret-word/1@db/bench", "cannot be read"),
        ("postgres://bench:secret-word?1@db/bench", "cannot be read"),
        ("postgres+psycopg://bench:secret-word@db/bench", "begins with postgres://"),
    ],
)
def test_another_is_refused_without_its_password(url: str, told: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=told) as refused:
        database_in(url, FOLDER)
    assert "secret-word" not in str(refused.value)


def test_whoever_has_no_driver_is_told_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(database, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"requirements-distributed\.txt"):
        database_in("postgres://db/bench", FOLDER)
