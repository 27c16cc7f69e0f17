"""A PostgreSQL of the tests' own: Debian's binaries on a free port, in a folder that goes when it ends.

`python -m gateway.tests.postgres_cluster COMMAND …` runs a command with DATABASE_URL set to it, and returns its exit code.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

READY_SECONDS = 60
# Started as root, it refuses to run: Debian's package makes this user.
USER = "postgres"
# Nothing of it is to outlive the machine; a process that is killed loses nothing by it.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "autovacuum_naptime": "10s",
}


def binaries() -> Path | None:
    """The folder with initdb and postgres, Debian's newest where PATH has none; None where there is none."""
    on_path = shutil.which("postgres")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    return installed[-1].parent if installed else None


class PostgresCluster:
    """One server with no database but its own, in a new folder, inside `within` where that is given.

    `url` takes a database's name.
    """

    def __init__(self, binaries: Path, *, within: Path | None = None, **settings: str) -> None:
        self._binaries = binaries
        self._settings = SETTINGS | settings
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-", dir=within))
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            shutil.chown(self._folder, USER, USER)
        made = ("initdb", "--pgdata", self._data, "--username", "bench", "--auth", "trust", "--encoding", "UTF8")
        self._run(*made, "--locale", "C.UTF-8", "--no-sync", "--no-instructions").check_returncode()

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def url(self, database: str = "bench") -> str:
        return f"postgres://bench@127.0.0.1:{self._port}/{database}"

    def made(self, database: str) -> str:
        """Make a database, and return its URL."""
        where = ("-h", "127.0.0.1", "-p", str(self._port), "-U", "bench")
        self._run("createdb", *where, database).check_returncode()
        return self.url(database)

    def start(self) -> None:
        """Start it, on the port that it had before; another process may have been given a port that is chosen now."""
        chosen = self._port
        # After a crash what is left of its processes may hold on to its memory for a moment.
        for _ in range(5):
            self._port = chosen or _free_port()
            options = [f"--{name}={value}" for name, value in self._settings.items()]
            with (self._folder / "log").open("ab") as log:
                command = [self._binaries / "postgres", "-D", self._data, "-p", str(self._port), *options]
                self._process = subprocess.Popen(command, stdout=log, stderr=log, **self._as_its_user())
            if self._answers():
                return
            time.sleep(0.5)
        raise AssertionError(self.log)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it. SIGINT ends whoever is connected and keeps what is committed; SIGKILL is a crash."""
        assert self._process
        self._process.send_signal(number)
        self._process.wait(60)

    def remove(self) -> None:
        if self._process and self._process.poll() is None:
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def _answers(self) -> bool:
        assert self._process
        deadline = time.monotonic() + READY_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if self._run("pg_isready", "-h", "127.0.0.1", "-p", str(self._port), "-d", "postgres").returncode == 0:
                return self._process.poll() is None
            time.sleep(0.05)
        return False

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [self._binaries / program, *arguments]
        return subprocess.run(command, check=False, capture_output=True, **self._as_its_user())

    def _as_its_user(self) -> dict:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        as_user = {"user": USER, "group": pwd.getpwnam(USER).pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        return {"cwd": self._folder, "env": environment, **as_user}


@contextmanager
def postgres_cluster(**settings: str) -> Iterator[PostgresCluster]:
    """Run a PostgreSQL until the block ends, with a database called bench in it."""
    found = binaries()
    assert found, "PostgreSQL is not installed"
    cluster = PostgresCluster(found, **settings)
    try:
        cluster.start()
        cluster.made("bench")
        yield cluster
    finally:
        cluster.remove()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(command: list[str], environment: Mapping[str, str] = os.environ) -> int:
    # A run that is called off leaves no server behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with postgres_cluster() as cluster:
        return subprocess.run(command, check=False, env=environment | {"DATABASE_URL": cluster.url()}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
