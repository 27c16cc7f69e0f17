"""What a newcomer does, done for real: `make run` with nothing configured, and the README's curl.

Downloads and runs the local model, so it is no part of `make test`. Each test starts the server once more on one data folder.
"""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from benchsite.tests import readme
from collections_app.local.install import missing

TOP = Path(__file__).parents[2]
KEYS = (TOP / "collections_app/local/provider_keys.txt").read_text().split()
FROM_NOTHING = 300.0
AGAIN = 15.0


@dataclass
class Bench:
    """A data folder and a port, and the server that `make run` starts on them."""

    folder: Path
    port: int

    def run(self, command: str) -> str:
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=True).stdout

    def ask(self) -> str:
        return self.run(readme.command("curl -s http://127.0.0.1:8123/v1/chat/completions", self.port))

    @contextmanager
    def running(self, limit: float, **environment: str) -> Iterator[Callable[[], str]]:
        """`make run` until the block ends; yields what reads all that it has said. Fails when it does not serve in time."""
        log = self.folder / "make-run.log"
        began = time.monotonic()
        with log.open("wb") as output:
            server = subprocess.Popen(
                ["make", "run"], cwd=TOP, env=self._environ(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            while "serves http" not in log.read_text():
                assert server.poll() is None, log.read_text()
                assert time.monotonic() - began < limit, log.read_text()
                time.sleep(0.05)
            yield log.read_text
        finally:
            self._stop(server)

    def _environ(self, extra: dict[str, str]) -> dict[str, str]:
        own = {"BENCH_DATA_DIR": str(self.folder), "BENCH_PORT": str(self.port), **extra}
        return {name: value for name, value in os.environ.items() if name not in KEYS} | own

    def _stop(self, server: subprocess.Popen[bytes]) -> None:
        """Ask the server to stop, by its id, and see that nothing of it is left."""
        if server.poll() is not None:
            return
        family = psutil.Process(server.pid).children(recursive=True)
        for process in family:
            if "serve" in process.cmdline():
                process.send_signal(signal.SIGTERM)
        server.wait(timeout=60)
        _, alive = psutil.wait_procs(family, timeout=10)
        assert not alive


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield Bench(tmp_path_factory.mktemp("bench"), port)


def test_without_a_network_for_the_model_it_says_what_is_missing_and_serves(bench: Bench) -> None:
    if not missing(TOP / "requirements-local.txt"):
        pytest.skip("the local model is installed here already")
    with bench.running(
        FROM_NOTHING, PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_FIND_LINKS=""
    ) as said:
        listed = bench.run(f"curl -s http://127.0.0.1:{bench.port}/v1/models")
    assert "could not be installed" in said()
    assert '"object":"list"' in listed.replace(" ", "")


def test_from_nothing_the_readmes_curl_is_answered_by_a_real_model_twice(bench: Bench) -> None:
    began = time.monotonic()
    with bench.running(FROM_NOTHING) as said:
        answer = bench.ask()
    print(f"\n{said()}\n{answer}\nfrom make run to the answer: {time.monotonic() - began:.1f} s with the stop")
    assert readme.sections(answer).keys() == {"smollm2-steady", "smollm2-lively"}
    assert all(len(text.split()) >= 5 for text in readme.sections(answer).values())
    assert "not a second opinion" in answer


def test_the_second_start_is_quick_and_installs_nothing(bench: Bench) -> None:
    began = time.monotonic()
    with bench.running(AGAIN) as said:
        answer = bench.ask()
        seconds = time.monotonic() - began
    print(f"\nfrom make run to the answer, the second time: {seconds:.1f} s")
    assert len(readme.sections(answer)) == 2
    assert seconds < AGAIN
    assert "nstalling" not in said()
