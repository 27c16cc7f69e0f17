"""Settings that are dangerous, contradictory or of no form, each with an id and what to set instead.

Run by `serve`, which does not start with an error among them, and by every other command. What is wrong with rows is for
their models to say.

bench.E001  an admin token that can be guessed          bench.E006  trusted proxies that are no addresses
bench.E002  open to the network without a token         bench.E007  proxies trusted that anybody can be
bench.E003  a public URL of another form                bench.E008  DEBUG, whose pages show what the process knows
bench.E004  behind a public URL without a token         bench.E009  BENCH_BIND that is no address
bench.E005  allowed origins of another form             bench.E010  allowed hosts of another form
bench.W001  a public URL that sends secrets in clear    bench.W002  open to the network under no name
bench.W003  trusted proxies without a token             bench.E011  a number that no such setting can have
bench.W004  a proxy that is not said to be trusted     bench.E012  a database of another kind
bench.W005  traces that do not arrive as set up        bench.E013  a metrics token that can be guessed
bench.E014  workers that nothing leads to              bench.E015  an SQLite that is too old
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from benchsite.addresses import address_of
from benchsite.database import POSTGRESQL, SQLITE
from benchsite.observing.traces import in_the_way
from benchsite.proxies import networks
from collections_app.models.base_url import DEFAULT_PORTS, origin_of

SHORTEST_TOKEN = 16
CELERY_POOL = "gateway.workers.celery.CeleryWorkerPool"
# What is written by hand in SQL is written for these two.
ENGINES = (POSTGRESQL, SQLITE)
# The first that can end many calls in one statement, UPDATE with FROM: https://www.sqlite.org/lang_update.html
OLDEST_SQLITE = (3, 33, 0)
# A range this wide is no proxy's network.
_WIDEST = {4: 8, 6: 16}
_HOST = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:\d{1,5})?", re.IGNORECASE)
_DAY = 24 * 3600
_RANGES = {
    "BENCH_PORT": (1, 65_535),
    "BENCH_METRICS_PORT": (0, 65_535),
    "BENCH_DRAIN_SECONDS": (0, _DAY),
    "BENCH_SEAT_TIMEOUT": (1, _DAY),
    "BENCH_FIRST_TOKEN_TIMEOUT": (1, _DAY),
    "BENCH_CONNECT_TIMEOUT": (0.1, _DAY),
    "BENCH_SEAT_WORKERS": (1, 10_000),
    "BENCH_MAX_BODY_BYTES": (1_000, 1_000_000_000),
    "BENCH_KEEPALIVE_SECONDS": (0.01, _DAY),
    "BENCH_LOG_DAYS": (0, 36_500),
}
_MAKE_A_TOKEN = (
    f"Set BENCHWARMERS_ADMIN_TOKEN to a secret of {SHORTEST_TOKEN} characters or more; "
    'python3 -c "import secrets; print(secrets.token_urlsafe(24))" makes one.'
)


@register(Tags.security)
def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """Every complaint about the settings as they are."""
    return [complaint for rule in _RULES for complaint in rule()]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`, a name or an address."""
    address = address_of(host)
    return host == "localhost" if address is None else address.is_loopback


def _weak_token() -> Iterator[CheckMessage]:
    if 0 < len(settings.BENCHWARMERS_ADMIN_TOKEN) < SHORTEST_TOKEN:
        yield Error("BENCHWARMERS_ADMIN_TOKEN is short enough to be guessed.", hint=_MAKE_A_TOKEN, id="bench.E001")


def _weak_metrics_token() -> Iterator[CheckMessage]:
    if 0 < len(settings.BENCH_METRICS_TOKEN) < SHORTEST_TOKEN:
        hint = f"Set it to a secret of {SHORTEST_TOKEN} characters or more that opens nothing else, or leave it out."
        yield Error("BENCH_METRICS_TOKEN is short enough to be guessed.", hint=hint, id="bench.E013")


def _traces() -> Iterator[CheckMessage]:
    for why in in_the_way(os.environ):
        hint = "pip install --require-hashes -r requirements-telemetry.txt, or unset OpenTelemetry's variables."
        yield Warning(f"OpenTelemetry's variables ask for traces: {why}.", hint=hint, id="bench.W005")


def _bind() -> Iterator[CheckMessage]:
    bind = settings.BENCH_BIND
    if bind != "localhost" and address_of(bind) is None:
        hint = "Set it to an address of this machine, 0.0.0.0 or :: for all of them, or leave it out for 127.0.0.1."
        yield Error(f"BENCH_BIND={bind} is no address.", hint=hint, id="bench.E009")
    elif not is_loopback(bind) and not settings.BENCHWARMERS_ADMIN_TOKEN:
        yield Error(
            f"BENCH_BIND={bind} opens the bench to the network, and nobody would be asked who they are.",
            hint=f"{_MAKE_A_TOKEN} Or leave BENCH_BIND at 127.0.0.1.",
            id="bench.E002",
        )
    elif not is_loopback(bind) and not (settings.BENCHWARMERS_PUBLIC_URL or settings.BENCH_ALLOWED_HOSTS):
        yield Warning(
            f"BENCH_BIND={bind} opens the bench to the network, but it answers to no name there.",
            hint=f"Set BENCHWARMERS_PUBLIC_URL to the URL that others use, such as http://192.168.1.5:{settings.BENCH_PORT}.",
            id="bench.W002",
        )


def _public_url() -> Iterator[CheckMessage]:
    url = settings.BENCHWARMERS_PUBLIC_URL
    if not url:
        return
    if why := _no_origin(url):
        hint = "Set it to scheme, host and port alone, as browsers show them: https://bench.example"
        yield Error(f"BENCHWARMERS_PUBLIC_URL {why}.", hint=hint, id="bench.E003")
        return
    parts = urlsplit(url)
    elsewhere = not is_loopback(parts.hostname or "")
    if elsewhere and not settings.BENCHWARMERS_ADMIN_TOKEN:
        yield Error(
            "BENCHWARMERS_PUBLIC_URL tells others where the bench is, and nobody would be asked who they are: whatever brings "
            "their requests to this machine makes them look like its own.",
            hint=_MAKE_A_TOKEN,
            id="bench.E004",
        )
    if elsewhere and parts.scheme == "http":
        yield Warning(
            "BENCHWARMERS_PUBLIC_URL is http: keys, prompts and the admin token can be read on the way.",
            hint="Put a proxy with a certificate in front, and set the URL to its https:// address.",
            id="bench.W001",
        )


def _proxy_in_front() -> Iterator[CheckMessage]:
    url = settings.BENCHWARMERS_PUBLIC_URL
    if not settings.BENCHWARMERS_ADMIN_TOKEN or settings.BENCH_TRUSTED_PROXIES or _no_origin(url):
        return
    if is_loopback(settings.BENCH_BIND) and not is_loopback(urlsplit(url).hostname or ""):
        yield Warning(
            "BENCHWARMERS_PUBLIC_URL leads here through a proxy on this machine, and BENCH_TRUSTED_PROXIES does not name "
            "it: to the login all callers are one, and five wrong tries of one of them shut everybody out for a minute.",
            hint="Set BENCH_TRUSTED_PROXIES=127.0.0.1, and have the proxy set X-Forwarded-For, -Proto and -Host itself.",
            id="bench.W004",
        )


def _numbers() -> Iterator[CheckMessage]:
    for name, (least, most) in _RANGES.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            hint = f"Set it to a number from {least:,} to {most:,}, or leave it out."
            yield Error(f"{name}={value:g} cannot be.", hint=hint, id="bench.E011")


def _allowed_origins() -> Iterator[CheckMessage]:
    for origin in settings.BENCH_ALLOWED_ORIGINS:
        why = "would let every page there is call the gateway" if origin == "*" else _no_origin(origin)
        if why:
            hint = "List origins as browsers send them: scheme, host and port alone, such as https://app.example"
            yield Error(f"BENCH_ALLOWED_ORIGINS: {_shown(origin)} {why}.", hint=hint, id="bench.E005")


def _allowed_hosts() -> Iterator[CheckMessage]:
    for host in settings.BENCH_ALLOWED_HOSTS:
        if not _HOST.fullmatch(host):
            hint = "List hosts as requests name them: bench.example or bench.example:8443, without a scheme or a wildcard."
            yield Error(f"BENCH_ALLOWED_HOSTS: {_shown(host)} is no host.", hint=hint, id="bench.E010")


def _trusted_proxies() -> Iterator[CheckMessage]:
    for entry in settings.BENCH_TRUSTED_PROXIES:
        try:
            (network,) = networks((entry,))
        except ValueError as error:
            hint = "List the proxies' addresses or ranges: 127.0.0.1,10.0.0.0/8"
            yield Error(f"BENCH_TRUSTED_PROXIES: {error}.", hint=hint, id="bench.E006")
            continue
        if network.prefixlen < _WIDEST[network.version]:
            hint = "Name the proxies alone: whoever is trusted may claim any address for whom it brings."
            yield Error(f"BENCH_TRUSTED_PROXIES: {entry} trusts strangers.", hint=hint, id="bench.E007")
    if settings.BENCH_TRUSTED_PROXIES and not settings.BENCHWARMERS_ADMIN_TOKEN:
        yield Warning(
            "BENCH_TRUSTED_PROXIES names proxies, and nobody whom they bring would be asked for a key.",
            hint=_MAKE_A_TOKEN,
            id="bench.W003",
        )


def _debug() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        hint = "Set DEBUG = False: what fails is in the log."
        yield Error("DEBUG is on, and error pages show settings and requests to whoever asks.", hint=hint, id="bench.E008")


def _database() -> Iterator[CheckMessage]:
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine not in ENGINES:
        hint = "Set DATABASE_URL to a postgres:// URL, or leave it out for SQLite in BENCH_DATA_DIR."
        yield Error(f"The call log is kept in PostgreSQL or SQLite, and not by {engine}.", hint=hint, id="bench.E012")
    elif engine == SQLITE and sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        hint = "Use a Python whose SQLite is newer, or have DATABASE_URL name a PostgreSQL."
        yield Error(
            f"This Python has SQLite {sqlite3.sqlite_version}, and the call log needs {oldest} or later.",
            hint=hint,
            id="bench.E015",
        )


def _workers() -> Iterator[CheckMessage]:
    if settings.BENCH_WORKER_POOL == CELERY_POOL and not settings.REDIS_URL:
        hint = "Set REDIS_URL to the Redis that workers read, or leave BENCH_WORKER_POOL out: then this process asks all seats."
        yield Error(
            "BENCH_WORKER_POOL has Celery workers ask the seats, and REDIS_URL names no queue.", hint=hint, id="bench.E014"
        )


_RULES = (
    _weak_token,
    _weak_metrics_token,
    _bind,
    _public_url,
    _proxy_in_front,
    _allowed_origins,
    _allowed_hosts,
    _trusted_proxies,
    _debug,
    _numbers,
    _database,
    _traces,
    _workers,
)


def _no_origin(url: str) -> str:
    """Why `url` is no origin as browsers write one; nothing when it is. Quotes nothing: a URL may hold a password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is no URL"
    if parts.scheme not in DEFAULT_PORTS or port == 0 or not _HOST.fullmatch(parts.netloc.rpartition("@")[2]):
        return "is no http:// or https:// URL"
    if "@" in parts.netloc:
        return "holds credentials"
    if url != f"{parts.scheme}://{parts.netloc}":
        return "has more than scheme, host and port"
    return "" if url == origin_of(url) else f"is not as browsers write it: {origin_of(url)}"


def _shown(value: str) -> str:
    """A value in a message, without what may be a password in it."""
    return repr(value.rpartition("@")[2][:100])
