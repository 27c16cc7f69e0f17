"""Run it: `python -m benchmarks.cluster [--roster FILE] [COMMAND …]`. Needs redis-server, postgresql and nginx.

Starts the bench of deploy/compose.yaml on free ports and runs COMMAND with BASE_URL and DATABASE_URL set to it, and NAME to the
text of a new gateway key for each `--key NAME=ARGUMENTS`; without a command, it serves until Ctrl-C.
"""

import argparse
import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from benchmarks.cluster.topology import Cluster
from benchmarks.processes import Server
from benchmarks.server import plain_environment


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--roster", type=Path, help="a bench.toml instead of the benchmark's own")
    parser.add_argument("--folder", type=Path, help="where logs and data are kept (default: a folder that goes at the end)")
    parser.add_argument("--webs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--set", dest="settings", type=_assigned, action="append", default=[], metavar="NAME=VALUE", help="a setting more"
    )
    parser.add_argument(
        "--key", dest="keys", type=_assigned, action="append", default=[], metavar="NAME=ARGUMENTS", help="of create_key"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what is run against it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        upstream = Server(
            "upstream",
            ["-m", "benchmarks.mock_upstream", "--port", "{port}"],
            log=folder / "upstream.log",
            env=plain_environment(os.environ),
        )
        with upstream:
            cluster = Cluster(folder, upstream.url, webs=options.webs, workers=options.workers, **dict(options.settings))
            if options.roster:
                (folder / "bench.toml").write_text(options.roster.read_text())
            with cluster:
                print(f"The bench is at {cluster.url}: {', '.join(cluster.parts)}. Logs are in {folder}.", flush=True)
                keys = {name: cluster.key(*shlex.split(arguments)) for name, arguments in options.keys}
                where = {"BASE_URL": cluster.url, "BENCHWARMERS_URL": cluster.url, "DATABASE_URL": cluster.database_url}
                return _run(options.command, {**where, **keys})


def _assigned(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _run(command: list[str], env: dict[str, str]) -> int:
    if command:
        return subprocess.run(command, check=False, env={**os.environ, **env}).returncode
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
