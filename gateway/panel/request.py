"""Who asks what, how they reached the server, and whether the same request has been asked already."""

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property

from django.utils import timezone

from evidence.again import AlreadyAsked, KnownAs, Question, running_panel_asked, take_first_try
from evidence.processes.here import this_process
from evidence.selectors import panel_known_as
from gateway.chat import ChatRequest, ImagePart, TextPart
from gateway.errors import BadRequest, KeyReused
from gateway.panel.size import estimate
from gateway.redact import hide_images
from gateway.telemetry.spans import NO_TRACE, CallerTrace
from keys.services import Caller
from keys.throttling import count_request

KEPT = timedelta(hours=24)
LONGEST_KEY = 255
# Characters from which a prompt is measured before its turn in the ledger's thread, which every other caller needs too.
LARGE = 100_000


@dataclass(frozen=True)
class Request:
    """`base_url` is the server as the caller reached it. `idempotency_key` is the caller's own; `is_retry`: an SDK's retry.

    `asked_at` is Unix time.
    """

    chat: ChatRequest
    caller: Caller
    base_url: str
    idempotency_key: str = ""
    is_retry: bool = False
    trace: CallerTrace = NO_TRACE
    asked_at: float = field(default_factory=time.time, compare=False)

    @property
    def is_large(self) -> bool:
        parts = (part for message in self.chat.messages for part in message.parts)
        return sum(len(part.text if isinstance(part, TextPart) else part.url) for part in parts) > LARGE

    def prepare(self) -> None:
        """Work out what is known of it before its turn in the ledger's thread: for one that is large."""
        _ = self.tokens, self.logged, self.known_as

    @cached_property
    def tokens(self) -> int:
        """The size estimate."""
        return estimate(self.chat.messages)

    @cached_property
    def logged(self) -> str:
        """The request as the call log keeps it."""
        return hide_images(self.chat.text, self.chat.image_urls)

    def count(self) -> None:
        """Count it for its caller: once, however often its panel is tried. Raises TooManyRequests, uncounted."""
        _ = self._counted

    @cached_property
    def _counted(self) -> bool:
        count_request(self.caller)
        return True

    @property
    def field(self) -> bool:
        """Whether the reply may have its `bench` field: the body and the caller's key may each leave it out."""
        return self.chat.bench.field and self.caller.bench_field

    @property
    def question(self) -> ChatRequest:
        """What is asked, whatever the form in which the answer is wanted."""
        return replace(self.chat, format="", stream=False, include_usage=False, ignored=())

    @cached_property
    def known_as(self) -> KnownAs | Question | None:
        """By what its panel is found when it comes again: by its question only where that may be to another process."""
        if self.idempotency_key:
            return KnownAs(self.idempotency_key, self.digest, since=timezone.now() - KEPT)
        return Question(self.digest, self.is_retry) if this_process().name else None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the question, in hexadecimal."""
        chat = self.question
        messages = [
            [message.role, *((part.url, "image") if isinstance(part, ImagePart) else (part.text,) for part in message.parts)]
            for message in chat.messages
        ]
        bench = chat.bench
        options = [bench.nominated, bench.reply, bench.merger, bench.field]
        return hashlib.sha256(json.dumps([chat.model, messages, options]).encode()).hexdigest()


def earlier_panel(request: Request) -> str | None:
    """Return the id of the panel that this request opened before, by its key or, an SDK's retry, by its question.

    Raises KeyReused for another request's key.
    """
    name = request.known_as
    if isinstance(name, KnownAs):
        return _panel_of_key(request, name)
    return running_panel_asked(request.caller.name, name.digest) if name and name.is_retry else None


def joined(request: Request, already: AlreadyAsked) -> str | None:
    """Return the id of the panel that another process opened for this request in the same moment; None: ask again for one."""
    name = request.known_as
    if isinstance(name, KnownAs):
        return _panel_of_key(request, name)
    first = name is not None and not name.is_retry
    return None if first and not take_first_try(request.caller.name, request.digest) else already.panel_id


def _panel_of_key(request: Request, name: KnownAs) -> str | None:
    if len(name.key) > LONGEST_KEY:
        raise BadRequest(f"Idempotency-Key has {len(name.key)} characters; {LONGEST_KEY} is the most.", param="Idempotency-Key")
    known = panel_known_as(request.caller.name, name.key, since=timezone.now() - KEPT)
    if known is None:
        return None
    if known.digest != name.digest:
        raise KeyReused(
            "This Idempotency-Key was sent with another request in the last 24 hours. Use a new key for a new request.",
            param="Idempotency-Key",
        )
    return known.panel.panel_id
