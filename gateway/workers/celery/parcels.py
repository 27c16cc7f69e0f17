"""Messages too large for the queue: sealed, in Redis under a key of their own, with a lifetime, and deleted after use.

One for all seats of a panel, which are asked the same. Nothing is ever in a file here.
"""

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from django.conf import settings
from redis import Redis

from gateway.chat import ImagePart, Message
from gateway.workers.celery.app import ANSWER_SECONDS, CONNECT_SECONDS
from gateway.workers.celery.message import messages_as_list, messages_from
from gateway.workers.celery.sealed import seal, unseal

USE = "parcel"
# Characters; what is larger would be copied by everything that a queue's message passes through.
LARGEST_IN_MESSAGE = 32_000
_KEY = "bench-parcel:"


class ParcelGoneError(Exception):
    """Its lifetime is over, or Redis has lost it."""


@dataclass(slots=True)
class _Parcel:
    """`calls` are the seats that need it still. It keeps the messages, by whose identity it is found."""

    messages: tuple[Message, ...]
    key: str = field(default_factory=lambda: f"{_KEY}{secrets.token_hex(16)}")
    calls: set[str] = field(default_factory=set)


class Parcels:
    """Those that this process has sent, by the messages in them. Belongs to the thread that sends."""

    def __init__(self) -> None:
        self._sent: dict[int, _Parcel] = {}

    def hold(self, messages: tuple[Message, ...], call: str, seconds: float, *, anew: bool = False) -> str:
        """Send these messages for a seat, unless another's job has; returns their key, empty where they are small.

        `anew`: send them also where one has, since Redis may have lost them. Raises RedisError.
        """
        if _characters(messages) <= LARGEST_IN_MESSAGE:
            return ""
        parcel = self._sent.get(id(messages))
        if anew or parcel is None:
            parcel = parcel or _Parcel(messages)
            _send(parcel, seconds)
        self._sent[id(messages)] = parcel
        parcel.calls.add(call)
        return parcel.key

    def let_go(self, messages: tuple[Message, ...], call: str) -> None:
        """Delete them when no seat needs them any more, however often each says so.

        Raises RedisError: then their lifetime ends them.
        """
        parcel = self._sent.get(id(messages))
        if parcel is None:
            return
        parcel.calls.discard(call)
        if not parcel.calls:
            del self._sent[id(messages)]
            redis_client().delete(parcel.key)


def unpacked(key: str) -> tuple[Message, ...]:
    """The messages of a parcel. Raises ParcelGoneError, SealError, RedisError."""
    sealed = redis_client().get(key)
    if not isinstance(sealed, bytes):
        raise ParcelGoneError("what the request says was not in Redis any more when its seat was asked")
    return messages_from(json.loads(unseal(sealed, USE)))


@cache
def redis_client() -> Redis:
    """The process's connections for what is neither queue nor channel layer."""
    return Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        health_check_interval=10,
    )


def _send(parcel: _Parcel, seconds: float) -> None:
    content = json.dumps(messages_as_list(parcel.messages), separators=(",", ":")).encode()
    redis_client().set(parcel.key, seal(content, USE), ex=max(1, round(seconds)))


def _characters(messages: Iterable[Message]) -> int:
    parts = (part for message in messages for part in message.parts)
    return sum(len(part.url) if isinstance(part, ImagePart) else len(part.text) for part in parts)
