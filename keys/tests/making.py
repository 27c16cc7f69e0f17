"""Keys for tests, and a Redis server of their own where the machine has one."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from collections_app.models import Collection
from keys.services import create_key

REDIS = shutil.which("redis-server")


def make_key(name: str = "app", *collections: str, **fields: Any) -> str:
    """A key for these collections, which are made where they are not there yet; returns its text."""
    rows = [Collection.objects.get_or_create(name=name)[0] for name in collections]
    return create_key(name, collections=rows, **fields).text


@contextmanager
def running_redis() -> Iterator[str]:
    """Run a Redis server on a free port, keeping nothing, until the block ends; yields its URL."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(REDIS), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _await_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(10)


def _await_port(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
