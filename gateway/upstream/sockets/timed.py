"""A connected socket whose every read and write is held to the clock of the call that it serves.

It never blocks: what has to wait is waited for here. Python's own time-outs cost two system calls to be set, and one more
before each read and write; each of them gives the interpreter away.
"""

import io
import math
import select
import ssl
from collections.abc import Callable
from typing import Any

from gateway.upstream.sockets.clock import Clock


class TimedSocket:
    """One socket of TCP or TLS, which serves one call after another. Raises TimeoutError when the call's clock has run out,
    and what sockets raise.
    """

    def __init__(self, sock: Any) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._comes = _poll(sock, select.POLLIN)
        self._goes = _poll(sock, select.POLLOUT)
        self._decrypted = sock.pending if isinstance(sock, ssl.SSLSocket) else None
        self._clock: Clock

    def serve(self, clock: Clock) -> None:
        self._clock = clock

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                sent = self._now(self._sock.send, view, self._goes)
            except (ConnectionError, ssl.SSLEOFError):
                # Told here: whoever reads on takes a broken pipe for a server that answers early.
                self._clock.broke_off = True
                raise
            if isinstance(sent, int):
                view = view[sent:]
            else:
                self._wait(sent)

    def recv_into(self, buffer: Any) -> int:
        """Returns how many bytes came: at least one, until the other side has no more to say."""
        if not self._holds_some():
            self._wait(self._comes)
        while not isinstance(count := self._now(self._sock.recv_into, buffer, self._comes), int):
            self._wait(count)
        if count:
            self._clock.heard = True
        return count

    def _holds_some(self) -> bool:
        """Whether there is something that TLS has read and decrypted by now, of which no system call tells."""
        return self._decrypted is not None and self._decrypted() > 0

    def _now(self, act: Callable[[Any], int], buffer: Any, ready: select.poll) -> "int | select.poll":
        """How many bytes went or came, or what to wait for first: TLS may have to read to write, and to write to read.

        Told, not waited for here: a time-out within this would have TLS's own exception for its context, and be taken for it.
        """
        try:
            return act(buffer)
        except BlockingIOError:
            return ready
        except ssl.SSLWantReadError:
            return self._comes
        except ssl.SSLWantWriteError:
            return self._goes

    def makefile(self, mode: str) -> io.BufferedReader:
        """What comes, as http.client reads it."""
        return io.BufferedReader(_Incoming(self, self._sock.makefile(mode, buffering=0)))

    def speaks(self) -> bool:
        """Whether there is something to read, or the other side has closed: of a connection at rest, both are its end."""
        return self._holds_some() or bool(self._comes.poll(0))

    def _wait(self, poll: select.poll) -> None:
        """Wait for what `poll` looks for, or for the clock's next limit, which the next wait then raises."""
        poll.poll(math.ceil(self._clock.left() * 1000))


class _Incoming(io.RawIOBase):
    def __init__(self, sock: TimedSocket, file: io.RawIOBase) -> None:
        self._sock = sock
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        # A response that has its connection to itself holds the socket open until its file is closed.
        self._file.close()
        super().close()


def _poll(sock: Any, event: int) -> select.poll:
    poll = select.poll()
    poll.register(sock, event)
    return poll
