"""Visits every page of the dashboard that a link leads to, from the first one, and measures each.

In this process and without a server: what is measured is the page.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

ROUNDS = 3
LINK = re.compile(r'href="(/admin/[^"#?]*)["#]')
# Of pages to which lists link by the thousand, one of each kind.
SAME = (re.compile(r"/\d+/"), re.compile(r"(?<=/provider)/[^/]+/"), re.compile(r"(?<=/endpoint)/(?!add/)[a-z][^/]+/"))
MORE = (
    "/admin/evidence/tally/?shape=every",
    "/admin/evidence/tally/?shape=every&days=30&role=general",
    "/admin/evidence/tally/?shape=code&collection=bench%2Fgroup-0",
    "/admin/evidence/tally/?seat=merger",
    "/admin/evidence/tally/?page=40",
    "/admin/evidence/tally/trends/?model=model-0003&days=365&step=week",
    "/admin/evidence/tally/trends/?collection=bench%2Fgroup-0&days=365",
    "/admin/evidence/tally/owed/?shape=code",
    "/admin/evidence/tally/wrong/?shape=code",
    "/admin/evidence/panel/?q=lock",
    "/admin/evidence/panel/?q=nowhere-to-be-found",
    "/admin/evidence/panel/?verdicts=owed&status=some",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The best of some rounds, in milliseconds of the clock and of the processor; and the most queries of any."""

    path: str
    status: int
    clock: float
    cpu: float
    queries: int


def costs(only: str) -> Iterator[Cost]:
    """What each page costs whose address has `only` in it."""
    with override_settings(ALLOWED_HOSTS=["127.0.0.1"]):
        client = Client(raise_request_exception=False, headers={"host": "127.0.0.1"})
        seen, waiting = {"/admin/", *MORE}, ["/admin/", *MORE]
        while waiting:
            path = waiting.pop(0)
            cost, page = visit(client, path, ROUNDS if only in path else 1)
            for link in LINK.findall(page):
                if kind_of(link) not in seen and "logout" not in link:
                    seen.add(kind_of(link))
                    waiting.append(link)
            if only in path:
                yield cost


def kind_of(path: str) -> str:
    for same in SAME:
        path = same.sub("/1/", path)
    return path


def visit(client: Client, path: str, rounds: int) -> tuple[Cost, str]:
    measured: list[tuple[float, float, int]] = []
    response: Any = None
    for _ in range(rounds):
        with CaptureQueriesContext(connection) as queries:
            started, cpu = time.perf_counter(), time.thread_time()
            response = client.get(path, REMOTE_ADDR="127.0.0.1")
            content = response.getvalue()
            measured.append((time.perf_counter() - started, time.thread_time() - cpu, 0))
        measured[-1] = (*measured[-1][:2], len(queries))
    clock, cpu, _ = (min(figures) for figures in zip(*measured, strict=True))
    most = max(queries for *_, queries in measured)
    return Cost(path, response.status_code, 1000 * clock, 1000 * cpu, most), content.decode(errors="replace")
