"""What comes home to a process that asked: endings and text, over the channel layer, in a thread with a loop of its own.

A message may be lost: then the seat's row says how it ended (overdue.py).
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from channels import DEFAULT_CHANNEL_LAYER
from channels.layers import channel_layers
from redis import RedisError

from gateway.workers.celery.sealed import SealError, unseal

logger = logging.getLogger(__name__)

USE = "news"
TRIES_AGAIN_AFTER = 0.5


class Listener:
    """Calls `told` with each item that comes, in the listener's thread."""

    def __init__(self, told: Callable[[Mapping[str, Any]], None]) -> None:
        self._told = told
        self._home: Future[str] = Future()
        threading.Thread(target=lambda: asyncio.run(self._listen()), name="seats-listener", daemon=True).start()

    @property
    def home(self) -> str:
        """The channel on which this process listens. Waits for a start that has only just begun."""
        return self._home.result()

    async def _listen(self) -> None:
        # Not the process's own: Channels has one loop at a time wait for what a layer brings.
        layer = channel_layers.make_backend(DEFAULT_CHANNEL_LAYER)
        self._home.set_result(await layer.new_channel("seats"))
        away = False
        while True:
            try:
                message = await layer.receive(self.home)
                away = False
            except (RedisError, OSError) as error:
                if not away:
                    logger.warning(
                        "The channel layer cannot be reached (%s); answers are read from their rows", type(error).__name__
                    )
                away = True
                await asyncio.sleep(TRIES_AGAIN_AFTER)
            else:
                self._tell(message)

    def _tell(self, message: Mapping[str, Any]) -> None:
        try:
            for item in json.loads(unseal(message["sealed"], USE)):
                self._told(item)
        except SealError as error:
            logger.warning("Refused %s", error)
        except Exception:
            # The thread's boundary: a message that cannot be read must not keep the others from being.
            logger.exception("What came home of seats could not be read")
