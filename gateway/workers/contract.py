"""What every worker pool offers: room for a panel's seats, and a Future for each."""

from concurrent.futures import Future
from typing import Protocol

from gateway.reply import SeatAnswer
from gateway.workers.job import SeatJob
from gateway.workers.seat import OnText


class WorkerPool(Protocol):
    # Whether this process asks the seats, so that they end with it; else whoever takes them does.
    asks_here: bool

    def admit(self, seats: int) -> None:
        """Raise Unavailable when so many more seats find no room, or the server is stopping."""
        ...

    def submit(self, job: SeatJob, on_text: OnText | None = None) -> Future[SeatAnswer]:
        """Ask one seat. The Future resolves once its row is written, and never raises for a failed seat.

        `on_text` gets the answer's text as it comes, in a thread of the pool's. A pool that raises has not taken the seat: it
        asks nobody, and counts it nowhere.
        """
        ...

    @property
    def running(self) -> int:
        """Seats asked and not yet recorded."""
        ...

    @property
    def queued(self) -> int:
        """Those of them that nobody asks yet."""
        ...

    def close(self) -> None:
        """Admit no more panels; seats already asked go on."""
        ...
