"""The database that DATABASE_URL names, as Django's settings say it: PostgreSQL, or SQLite in the data folder without one.

Opens no connection and makes no tables.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured

FORM = "postgres://user:password@host:5432/bench"
SCHEMES = ("postgres", "postgresql")
POSTGRESQL = "benchsite.postgresql"
SQLITE = "django.db.backends.sqlite3"
# Seconds that a statement waits for another's lock, on either engine, before whoever sent it tries again or gives up.
LOCK_SECONDS = 30
# A stopped process must not keep others out by the locks of a transaction that it never ends.
IDLE_IN_TRANSACTION_SECONDS = 20
# Seconds after which an address that does not answer is given up, and a connection over which nothing comes back.
CONNECT_SECONDS, SILENT_SECONDS = 5, 15


def database_in(url: str, folder: Path) -> dict[str, Any]:
    """Return DATABASES["default"]. Raises ImproperlyConfigured, which never quotes the URL: it may hold a password."""
    return _postgresql(url) if url else _sqlite(folder)


def _sqlite(folder: Path) -> dict[str, Any]:
    return {
        "ENGINE": SQLITE,
        "NAME": folder / "bench.sqlite3",
        "OPTIONS": {
            # A transaction that begins by reading and then writes cannot wait for another writer:
            # SQLite fails it at once. IMMEDIATE takes the write lock first, and waits.
            "transaction_mode": "IMMEDIATE",
            "timeout": LOCK_SECONDS,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000;",
        },
        "TEST": {"NAME": folder / "test.sqlite3"},
    }


def _postgresql(url: str) -> dict[str, Any]:
    if url.partition(":")[0].lower() not in SCHEMES:
        raise ImproperlyConfigured(
            "DATABASE_URL begins with postgres:// or postgresql://. Leave it out for SQLite, which is kept in BENCH_DATA_DIR."
        )
    if find_spec("psycopg") is None:
        raise ImproperlyConfigured(
            "DATABASE_URL names PostgreSQL, and psycopg is not installed: "
            "pip install --require-hashes -r requirements-distributed.txt"
        )
    try:
        named: dict[str, Any] = environ.Env.db_url_config(url)
    except ValueError:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {FORM} is its form.") from None
    named["HOST"] = _host_in(url) or unquote(named["HOST"])
    if not named["NAME"]:
        raise ImproperlyConfigured(f"DATABASE_URL names no database after its host: {FORM}")
    # What the URL says wins: postgres://…/bench?sslmode=require&connect_timeout=2
    options = _OPTIONS | named.pop("OPTIONS", {})
    # Under ASGI each page has a thread of its own, whose kept connection would stay behind it until the collector comes.
    return {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True, **named, "ENGINE": POSTGRESQL, "OPTIONS": options}


def _host_in(url: str) -> str:
    """Its one host, or nothing. The library has it in small letters, and a folder with PostgreSQL's socket, which stands in a
    URL as %2Frun%2Fpostgresql, may have large ones.
    """
    written = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return "" if written.startswith("[") or "," in written else unquote(written.partition(":")[0])


_OPTIONS = {
    "application_name": "benchsite",
    # A standby is passed over: of several hosts the one is asked that takes writes.
    "target_session_attrs": "read-write",
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": SILENT_SECONDS,
    "keepalives_interval": CONNECT_SECONDS,
    "keepalives_count": 3,
    "tcp_user_timeout": SILENT_SECONDS * 1000,
    "options": (
        f"-c lock_timeout={LOCK_SECONDS}s -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_SECONDS}s "
        # Statements here take milliseconds. One that is thought to be long would have LLVM loaded into its connection, which
        # keeps 10 MiB of it for good.
        "-c jit=off"
    ),
}
