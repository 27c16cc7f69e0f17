"""A database of its own for each process under test, on whichever engine the suite runs: a file of its data folder, or,
where DATABASE_URL names a PostgreSQL, a database there. Read and written beside the process, in SQL with `?` for values.
"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from urllib.parse import urlsplit

import psycopg
from django.conf import settings
from psycopg.types.string import TextLoader

URL = os.environ.get("DATABASE_URL", "")
FILE = "bench.sqlite3"
# Of a server that is stopped or killed while it is written to.
LOCK_SECONDS = 30


class Rows:
    """A connection, in a transaction that ends with the block that opened it."""

    def __init__(self, connection: Any, *, mark: str) -> None:
        self._connection = connection
        self._mark = mark

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement and return its cursor."""
        return self._connection.execute(*self._arguments(sql, values))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.cursor().executemany(self._marked(sql), list(rows))

    def _arguments(self, sql: str, values: Sequence[Any]) -> tuple[Any, ...]:
        return (self._marked(sql), values) if values else (sql,)

    def _marked(self, sql: str) -> str:
        return sql if self._mark == "?" else sql.replace("%", "%%").replace("?", self._mark)


class OwnDatabase(Protocol):
    @property
    def environment(self) -> dict[str, str]:
        """What a process is to be told, beside its data folder, to find it."""
        ...

    def make(self) -> None:
        """Have it there as the migrations leave it. What it holds already stays."""
        ...

    def open(self) -> Any:
        """Rows of it, committed when the block ends; a context manager."""
        ...

    def closed_to_others(self) -> Any:
        """Let nobody else write while the block runs; a context manager."""
        ...

    def content(self) -> bytes:
        """Whatever it holds that is in no file of the data folder."""
        ...

    def drop(self) -> None: ...


class InFolder:
    """SQLite."""

    environment: dict[str, str] = {"DATABASE_URL": ""}

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def make(self) -> None:
        if not self.path.exists():
            self.path.write_bytes(_migrated_file())

    @contextmanager
    def open(self) -> Iterator[Rows]:
        with closing(sqlite3.connect(self.path, timeout=LOCK_SECONDS)) as connection, connection:
            yield Rows(connection, mark="?")

    @contextmanager
    def closed_to_others(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.path, timeout=LOCK_SECONDS, isolation_level=None)) as connection:
            connection.execute("begin immediate")
            yield
            connection.rollback()

    def content(self) -> bytes:
        return b""

    def drop(self) -> None:
        """It goes with its folder."""


class InPostgres:
    """`cluster` is the URL of any database of it."""

    def __init__(self, folder: Path, cluster: str = URL) -> None:
        self._cluster = cluster
        self.name = f"server_{sha256(str(folder).encode()).hexdigest()[:20]}"

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self._url}

    @property
    def _url(self) -> str:
        return _named(self._cluster, self.name)

    def make(self) -> None:
        with _at(self._cluster) as cluster:
            if not _there(cluster, self.name):
                cluster.execute(f'create database "{self.name}" template "{migrated_database(self._cluster)}"')

    @contextmanager
    def open(self) -> Iterator[Rows]:
        with self._connected() as connection:
            yield Rows(connection, mark="%s")

    @contextmanager
    def closed_to_others(self) -> Iterator[None]:
        with self._connected() as connection:
            tables = ", ".join(f'"{name}"' for name in self._tables(connection))
            connection.execute(f"lock table {tables} in exclusive mode")
            yield
            connection.rollback()

    def content(self) -> bytes:
        with self._connected() as connection:
            rows = [connection.execute(f'select "{name}"::text from "{name}"').fetchall() for name in self._tables(connection)]
        return "\n".join(row for table in rows for (row,) in table).encode()

    def drop(self) -> None:
        with _at(self._cluster) as cluster:
            cluster.execute(f'drop database if exists "{self.name}" with (force)')

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        with _connect(self._url) as connection:
            yield connection

    def _tables(self, connection: Any) -> list[str]:
        return [name for (name,) in connection.execute("select tablename from pg_tables where schemaname = 'public'")]


def database_of(folder: Path) -> OwnDatabase:
    """The database of whatever server runs on that data folder."""
    return InPostgres(folder) if URL else InFolder(folder)


def migrate(folder: Path, database: OwnDatabase) -> None:
    environment = os.environ | database.environment | {"BENCH_DATA_DIR": str(folder)}
    command = [sys.executable, "manage.py", "migrate", "-v", "0"]
    done = subprocess.run(
        command, check=False, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


# Migrations take longer than all else that a server begins with: each process runs them once, on PostgreSQL one for all.
@cache
def _migrated_file() -> bytes:
    with TemporaryDirectory() as folder:
        database = InFolder(Path(folder))
        migrate(Path(folder), database)
        return database.path.read_bytes()


@cache
def migrated_database(url: str) -> str:
    """The name of a database as the migrations leave it, in the cluster of this URL; to copy from."""
    with TemporaryDirectory() as folder, _at(url) as cluster:
        # Its name is the run's, so that no later one copies what older migrations left.
        database = InPostgres(Path(os.environ.get("PYTEST_XDIST_TESTRUNUID", folder)), url)
        # Until this connection is closed: the others wait for the one that begins.
        cluster.execute("select pg_advisory_lock(1)")
        if not _there(cluster, database.name):
            cluster.execute(f'create database "{database.name}"')
            migrate(Path(folder), database)
    return database.name


def _there(cluster: Any, name: str) -> bool:
    return bool(cluster.execute("select 1 from pg_database where datname = %s", [name]).fetchone())


@contextmanager
def _at(cluster: str) -> Iterator[Any]:
    with _connect(_named(cluster, "postgres"), autocommit=True) as connection:
        yield connection


def _named(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def _connect(url: str, **options: Any) -> Any:
    connection = psycopg.connect(url, options="-c timezone=UTC", **options)
    # As SQLite gives it: the JSON itself, and no value that was made of it.
    connection.adapters.register_loader("jsonb", TextLoader)
    return connection
