"""A look at something that may not answer: in a thread of its own, and waited for no longer than one likes."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Look(Generic[Found]):
    """One look at a time: while one hangs, whoever asks waits for that one, and no threads pile up."""

    def __init__(self, look: Callable[[], Found]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._found: Future[Found] | None = None

    def begin(self) -> Future[Found]:
        """What will have been found; `result(seconds)` raises TimeoutError, or whatever the look did."""
        with self._lock:
            if self._found is None or self._found.done():
                self._found = Future()
                # A daemon: a process that ends waits for nobody who does not answer.
                threading.Thread(target=self._run, args=(self._found,), name="look", daemon=True).start()
            return self._found

    def _run(self, found: Future[Found]) -> None:
        try:
            found.set_result(self._look())
        except Exception as error:  # noqa: BLE001
            # Raised again where it is waited for.
            found.set_exception(error)
