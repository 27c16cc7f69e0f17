"""The keys that were typed in for endpoints, each read once by the process that asks with it.

A key is known by its id, and every key that is typed in has another: what was read once stays right.
"""

from collections.abc import Callable
from functools import partial

from collections_app.sealing import UnsealError
from collections_app.selectors import typed_key
from gateway.upstream.contract import Target, UpstreamError

Read = Callable[[], str]


class KeyRing:
    """`run` runs a read where the database may be touched, and waits for it."""

    def __init__(self, run: Callable[[Read], str]) -> None:
        self._run = run
        self._keys: dict[tuple[str, str], str] = {}

    def key_for(self, target: Target) -> str:
        """The key typed in for the target's endpoint; empty when there is none. Raises UpstreamError."""
        if not target.typed_key_id:
            return ""
        # The base URL too: a key goes to its own host, whatever a job says.
        where = target.typed_key_id, target.base_url
        if where not in self._keys:
            try:
                self._keys[where] = self._run(partial(typed_key, *where))
            except UnsealError as error:
                raise UpstreamError(str(error), kind="unauthorized") from None
        return self._keys[where]
