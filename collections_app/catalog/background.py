"""A refresh that a page asked for: in a thread of its own, one at a time in a process, its progress there to be looked at.

The daily one is the server's own job; both at once harm nothing, since a source's rows are written by one at a time.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.db import connections

from collections_app.catalog.refresh import UnknownSourceError, refresh

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """Which source is being read, after how many, of how many."""

    source: str = ""
    done: int = 0
    total: int = 0


class BackgroundRefresh:
    """Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._progress = Progress()
        self._not_asked: Mapping[str, str] = {}

    def start(self, names: Sequence[str] = (), *, accept_shrunken: bool = False) -> bool:
        """Begin to read the sources of these names, or all; whether it was begun: not while another one runs."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return False
            self._progress = Progress()
            # A daemon: a server that ends does not wait for a catalog that does not answer.
            self._thread = threading.Thread(
                target=self._work, args=(list(names), accept_shrunken), name="catalog-refresh", daemon=True
            )
            self._thread.start()
            return True

    @property
    def progress(self) -> Progress | None:
        """How far it is; None when none runs."""
        thread = self._thread
        return self._progress if thread is not None and thread.is_alive() else None

    @property
    def not_asked(self) -> Mapping[str, str]:
        """The sources that the last one here did not ask, and why: a key that is not set."""
        return self._not_asked

    def wait(self, seconds: float) -> None:
        """Until the one that runs has ended, and so many seconds at most."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _work(self, names: list[str], accept_shrunken: bool) -> None:
        try:
            summary = refresh(names, progress=self._note, accept_shrunken=accept_shrunken)
            self._not_asked = {outcome.source: outcome.error for outcome in summary.outcomes if outcome.skipped}
            logger.info("The catalog was refreshed: %d sources, %d new alerts", len(summary.outcomes), len(summary.alerts))
        except UnknownSourceError as error:
            logger.warning("The catalog was not refreshed: %s", error)
        except Exception:
            # The thread's boundary: what each source ran into is told in its row, the rest here.
            logger.exception("The catalog could not be refreshed")
        finally:
            connections.close_all()

    def _note(self, source: str, done: int, total: int) -> None:
        self._progress = Progress(source, done, total)


@cache
def background_refresh() -> BackgroundRefresh:
    """The process's own."""
    return BackgroundRefresh()
