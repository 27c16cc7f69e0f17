"""The model server's process: up when /health answers, gone when its parent is, however the parent went."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from collections_app.local import LocalModelUnavailableError, child

STAND_IN = "collections_app.tests.stand_in_server"
PARENT = """
import signal, sys, time
from pathlib import Path
from collections_app.local import child
# A shell that runs the suite in its background has had interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
port = child.free_port()
command = (sys.executable, "-m", "{stand_in}", str(port))
with child.running(command, port, folder=Path("."), log=Path(sys.argv[1])) as pid:
    print(pid, flush=True)
    time.sleep(60)
"""


def gone(pid: int, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def stand_in(port: int) -> tuple[str, ...]:
    return (sys.executable, "-m", STAND_IN, str(port))


def run(command: tuple[str, ...], port: int, log: Path, limit: float = 10) -> int:
    with child.running(command, port, folder=settings.BASE_DIR, log=log, limit=limit) as pid:
        assert psutil.pid_exists(pid)
        return pid


def test_it_runs_while_the_block_runs(tmp_path: Path) -> None:
    port = child.free_port()
    assert gone(run(stand_in(port), port, tmp_path / "log"), seconds=0.1)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_dies_with_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    program = PARENT.format(stand_in=STAND_IN)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "log")],
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(how)
    assert gone(pid)


def test_ctrl_c_in_the_terminal_is_not_for_it(tmp_path: Path) -> None:
    port = child.free_port()
    with child.running(stand_in(port), port, folder=settings.BASE_DIR, log=tmp_path / "log") as pid:
        assert os.getpgid(pid) != os.getpgrp()


def test_one_that_ends_at_once_is_told_with_its_log(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import sys; print('no such weights', flush=True); sys.exit(3)")
    with pytest.raises(LocalModelUnavailableError, match=r"ended with 3; see .*log"):
        run(command, child.free_port(), tmp_path / "log")
    assert "no such weights" in (tmp_path / "log").read_text()


def test_one_that_never_answers_is_ended(tmp_path: Path) -> None:
    command = (sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    with pytest.raises(LocalModelUnavailableError, match="not ready after 1 seconds"):
        run(command, child.free_port(), tmp_path / "log", limit=1)
    assert gone(int((tmp_path / "log").read_text()), seconds=0.1)


def test_one_that_ignores_the_request_to_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "GRACE_SECONDS", 0.2)
    port = child.free_port()
    deaf = (
        "import http.server, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"http.server.HTTPServer(('127.0.0.1', {port}), type('H', (http.server.BaseHTTPRequestHandler,), dict("
        "do_GET=lambda self: (self.send_response(200), self.end_headers())))).serve_forever()"
    )
    assert gone(run((sys.executable, "-c", deaf), port, tmp_path / "log"), seconds=0.1)


def test_the_port_of_the_last_start_is_used_again_when_nobody_took_it() -> None:
    port = child.free_port()
    assert child.free_port(preferred=port) == port
    with socket.create_server(("127.0.0.1", port)):
        assert child.free_port(preferred=port) not in (0, port)
