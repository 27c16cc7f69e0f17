"""The catalog refreshed from whole snapshots on a fresh bench: seconds, peak memory, and what the same again costs.

Run as `python -m benchmarks.catalog [FOLDER]`. The snapshots are served on loopback by this process; a process of its own
refreshes, so that the peak is the refresh's and Django's alone.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils.module_loading import import_string

from benchmarks.processes import ROOT

SNAPSHOTS = {
    "models_dev": "modelsdev-2026-08-18/api.json",
    "openrouter": "openrouter-models-2026-05-22.json",
    "freellmapi": "freellmapi-catalog-baseline-2026-08-22.json",
}
# Providers whose models stand on the bench: what is merged into facts.
ON_THE_BENCH = ("openrouter", "groq", "google", "mistral", "nvidia")
MODELS_OF_EACH = 40
MOST_SECONDS, MOST_MIB, MOST_SECONDS_AGAIN, MOST_PAGE_MS = 20.0, 300.0, 2.0, 400.0
DISCOVERED = ("", "?text=e&free=free&vision=on&tools=on&order=newest", "?order=price&page=40", "?text=qwen")


def main() -> int:
    args = arguments()
    if args.refresh:
        print(json.dumps(refreshed(json.loads(args.refresh))))
        return 0
    if missing := [name for name in SNAPSHOTS.values() if not (args.folder / name).is_file()]:
        sys.exit(f"{args.folder} has no {', '.join(missing)}: name the folder that has them.")
    with serving(args.folder) as urls, tempfile.TemporaryDirectory(prefix="benchsite-catalog-") as data:
        command = [sys.executable, "-m", "benchmarks.catalog", "--refresh", json.dumps(urls)]
        environment = {**os.environ, "BENCH_DATA_DIR": data}
        child = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    found = json.loads(child.stdout)
    print(report(found))
    within = found["seconds"] < MOST_SECONDS and found["mib"] < MOST_MIB and found["seconds_again"] < MOST_SECONDS_AGAIN
    return 0 if within and found["discover_ms"] < MOST_PAGE_MS and not found["writes_again"] else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.catalog", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared" / "data", help="where the snapshots are")
    parser.add_argument("--refresh", metavar="URLS", help=argparse.SUPPRESS)
    return parser.parse_args()


@contextmanager
def serving(folder: Path) -> Iterator[Mapping[str, str]]:
    """Serve the snapshots, with an ETag as their sources send one; yields the URL of each source."""
    bodies = {f"/{name}": (folder / path).read_bytes() for name, path in SNAPSHOTS.items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = bodies[self.path.partition("?")[0]]
            etag = f'"{hashlib.sha256(body).hexdigest()}"'
            unchanged = self.headers.get("If-None-Match") == etag
            self.send_response(304 if unchanged else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("ETag", etag)
            self.end_headers()
            self.wfile.write(b"" if unchanged else body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {name: f"http://127.0.0.1:{server.server_address[1]}/{name}" for name in SNAPSHOTS}
    finally:
        server.shutdown()


def refreshed(urls: Mapping[str, str]) -> dict[str, float]:
    """Make a bench, refresh it twice, and measure; in the process that is measured."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    refresh = import_string("collections_app.catalog.refresh.refresh")
    before = peak_mib()
    with override_settings(BENCH_CATALOG_URLS=urls):
        seconds, summary = timed(refresh)
        models = fill_the_bench()
        filled_seconds, filled = timed(import_string("collections_app.catalog.merge.merge_all"))
        with CaptureQueriesContext(connection) as queries:
            seconds_again, _ = timed(refresh)
    discover_ms = max(visited(f"/admin/collections_app/catalogentry/discover/{query}") for query in DISCOVERED)
    writes = [query for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    rows = ("collections_app_catalogentry", "collections_app_fact")
    return {
        "entries": sum(outcome.entries for outcome in summary.outcomes),
        "seconds": seconds,
        "mib": peak_mib(),
        "mib_before": before,
        "models": models,
        "facts": len(filled),
        "merge_seconds": filled_seconds,
        "seconds_again": seconds_again,
        "discover_ms": discover_ms,
        "writes_again": sum(any(row in query["sql"] for row in rows) for query in writes),
    }


def fill_the_bench() -> int:
    """Put models on the bench that the catalogs know."""
    rows = import_string("collections_app.models.CatalogEntry").objects.filter(source="models_dev", kind="chat")
    endpoint_row = import_string("collections_app.models.Endpoint")
    model_row = import_string("collections_app.models.LanguageModel")
    made = 0
    for provider in ON_THE_BENCH:
        # Of a command no listing is asked for: the refresh is of the three catalogs alone.
        endpoint = endpoint_row.objects.create(
            name=provider, provider=provider, protocol="llm_cli", base_url=f"https://{provider}.example"
        )
        served_ids = rows.filter(provider=provider).order_by("pk").values_list("served_id", flat=True)[:MODELS_OF_EACH]
        models = [model_row(alias=f"m{made + i}", endpoint=endpoint, served_id=id_) for i, id_ in enumerate(served_ids)]
        made += len(model_row.objects.bulk_create(models))
    return made


def visited(path: str) -> float:
    """Milliseconds of the processor that a page of the dashboard takes, the second time it is opened."""
    with override_settings(ALLOWED_HOSTS=["127.0.0.1"]):
        client = import_string("django.test.Client")(headers={"host": "127.0.0.1"})
        for _ in range(2):
            began = time.process_time()
            assert client.get(path).status_code == 200, path
    return 1000 * (time.process_time() - began)


def timed(work: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    done = work()
    return time.perf_counter() - started, done


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(found: Mapping[str, float]) -> str:
    return "\n".join(
        (
            f"{found['entries']:,.0f} models from {len(SNAPSHOTS)} snapshots, on a fresh bench",
            f"  refresh             {found['seconds']:6.2f} s    (at most {MOST_SECONDS:.0f})",
            f"  peak memory         {found['mib']:6.0f} MiB  (at most {MOST_MIB:.0f}; {found['mib_before']:.0f} before)",
            f"  merge into facts    {found['merge_seconds']:6.2f} s    ({found['facts']:.0f} of {found['models']:.0f} models)",
            f"  unchanged, again    {found['seconds_again']:6.2f} s    (at most {MOST_SECONDS_AGAIN:.0f})",
            f"  catalog rows written then  {found['writes_again']:.0f}",
            f"  Discover, slowest page  {found['discover_ms']:.0f} ms  (at most {MOST_PAGE_MS:.0f} of the processor)",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
