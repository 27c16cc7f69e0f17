"""The door to a command: every process that answers a seat is started here, whichever command it is.

Writes bytes and yields bytes; knows no command's ways. Never a shell, and no more environment than is given. A call that
ends before its command takes all that it started with it. Needs process groups, which Windows has not.
"""

import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory

from gateway.upstream.contract import LARGEST_ANSWER, UpstreamError
from gateway.upstream.sockets.clock import Clock

BLOCK = 65_536
# How soon it is noticed that a command has ended whose own child still holds its output open.
LOOK_SECONDS = 0.5


class Running:
    """A command under way: its output as it comes, then how it ended. Used by one thread."""

    def __init__(self, process: subprocess.Popen[bytes], *, name: str, given: bytes, clock: Clock) -> None:
        self._process = process
        self._name = name
        self._left_to_give = memoryview(given)
        self._clock = clock
        self._said: list[bytes] = []
        self._size = 0
        self._outputs = 2
        self.lingers = False

    def blocks(self) -> Iterator[bytes]:
        """Give the command its input and yield its output as it comes. Raises UpstreamError."""
        with selectors.DefaultSelector() as waiting:
            self._watch(waiting)
            while self._outputs:
                ready = waiting.select(min(self._left(), LOOK_SECONDS))
                self.lingers = not ready and self._process.poll() is not None
                if self.lingers:
                    return
                for key, _ in ready:
                    if key.data == "stdin":
                        self._give(waiting, key)
                    elif block := self._take(waiting, key):
                        yield block

    def ending(self) -> tuple[int, bytes]:
        """Wait for the command to end; its exit code, and what it wrote to standard error. Raises UpstreamError."""
        try:
            return self._process.wait(self._left()), b"".join(self._said)
        except subprocess.TimeoutExpired:
            raise self._late() from None

    def _watch(self, waiting: selectors.BaseSelector) -> None:
        for name in ("stdin", "stdout", "stderr"):
            pipe = getattr(self._process, name)
            os.set_blocking(pipe.fileno(), False)
            waiting.register(pipe, selectors.EVENT_WRITE if name == "stdin" else selectors.EVENT_READ, name)

    def _give(self, waiting: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        """Write as much of the input as there is room for; a command need not read it all."""
        try:
            written = os.write(key.fd, self._left_to_give[:BLOCK])
            self._left_to_give = self._left_to_give[written:]
        except BrokenPipeError:
            self._left_to_give = self._left_to_give[:0]
        if not self._left_to_give and self._process.stdin:
            waiting.unregister(self._process.stdin)
            self._process.stdin.close()

    def _take(self, waiting: selectors.BaseSelector, key: selectors.SelectorKey) -> bytes:
        """Read what has come; what goes to standard error is kept for the end."""
        block = os.read(key.fd, BLOCK)
        if not block:
            waiting.unregister(key.fileobj)
            self._outputs -= 1
            return b""
        self._size += len(block)
        if self._size > LARGEST_ANSWER:
            raise UpstreamError(f"the answer of {self._name} is larger than {LARGEST_ANSWER:,} bytes", kind="bad_reply")
        if key.data == "stdout":
            return block
        # A model's thoughts come here: they too are tokens, while the answer waits.
        self._clock.token()
        self._said.append(block)
        return b""

    def _left(self) -> float:
        try:
            return self._clock.left()
        except TimeoutError:
            raise self._late() from None

    def _late(self) -> UpstreamError:
        return UpstreamError(f"{self._name}: {self._clock.why()}", kind="timeout")


@contextmanager
def started(command: Sequence[str], *, environment: Mapping[str, str], given: bytes, clock: Clock) -> Iterator[Running]:
    """Start a command in an empty folder of its own and lend it. Raises FileNotFoundError when there is none of that name."""
    name = command[0]
    with TemporaryDirectory(prefix="benchsite-") as folder:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=environment,
                start_new_session=True,
                bufsize=0,
            )
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its arguments hold what no argument may"
            raise UpstreamError(f"{name} cannot be started: {why.lower()}", kind="unavailable") from error
        clock.sent()
        running = Running(process, name=name, given=given, clock=clock)
        try:
            yield running
        finally:
            if process.returncode is None or running.lingers:
                _kill_group(process)
            _close(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # Its number is nobody else's: the process has not been waited for, or others of its group still run.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _close(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
