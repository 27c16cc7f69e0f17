"""The model server as a child process: started on a free loopback port, waited for, and stopped by its id.

Knows processes and ports; what the child serves is server.py's.
"""

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from collections_app.local import LocalModelUnavailableError

HOST = "127.0.0.1"
# Loading takes half a second on a quick disk; a cold one may need many.
LIMIT_SECONDS = 60.0
GRACE_SECONDS = 3.0


def server_command(port: int, name: str, window: int) -> Sequence[str]:
    """How the model server is started. Two slots: both seats of a panel are answered at once."""
    return (sys.executable, "-m", "collections_app.local.server", str(port), name, str(window), "2")


def free_port(preferred: int = 0) -> int:
    """Return `preferred` when nobody listens there, else a port that is free now."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise LocalModelUnavailableError("no port is free on loopback")


@contextmanager
def running(command: Sequence[str], port: int, *, folder: Path, log: Path, limit: float = LIMIT_SECONDS) -> Iterator[int]:
    """Run `command` in `folder` and wait until /health answers on `port`; yields the process id, and ends it on the way out.

    Raises LocalModelUnavailableError when it does not come up in `limit` seconds.
    """
    with log.open("wb") as output:
        # A session of its own: Ctrl-C in a terminal is for the server, which still has panels to finish.
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait_until_healthy(process, port, log, limit)
        yield process.pid
    finally:
        _stop(process)


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path, limit: float) -> None:
    deadline = time.monotonic() + limit
    while not _healthy(port):
        if process.poll() is not None:
            raise LocalModelUnavailableError(f"its server ended with {process.returncode}; see {log}")
        if time.monotonic() > deadline:
            raise LocalModelUnavailableError(f"its server was not ready after {limit:.0f} seconds; see {log}")
        time.sleep(0.05)


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
