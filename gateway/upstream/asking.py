"""One call of one model, from its request to its completion or to why there is none.

Joins a protocol, which knows JSON, to the transport, which knows bytes, or a command's to the process that runs it; what
either raises leaves as an UpstreamError that is safe to show.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote, urlsplit

from gateway.chat import Message
from gateway.redact import beginning, hide_secrets, redact
from gateway.upstream.answer import Gathering
from gateway.upstream.answer.hiding import without_key
from gateway.upstream.answer.unread import refuse_unread
from gateway.upstream.classify import read_error
from gateway.upstream.classify.echoes import asked
from gateway.upstream.classify.header_limits import limits_in_headers
from gateway.upstream.classify.limits import with_limits, without_nothing
from gateway.upstream.contract import (
    CommandProtocol,
    Completion,
    Delta,
    LimitTold,
    Target,
    TypedKey,
    UpstreamError,
    UpstreamProtocol,
)
from gateway.upstream.payload import read_json, whole_characters, write_json
from gateway.upstream.process import started
from gateway.upstream.sockets.clock import Clock
from gateway.upstream.sse import BEGINS, BOM, lines
from gateway.upstream.transport import Reply, beginning_of, post

LONGEST_MESSAGE = 300
# Of longer words no more is redacted than could be shown.
LONGEST_READ = 8_000
# A typed question's answer, in bytes.
LARGEST_EXCHANGE = 256_000
# A shorter key may be a word, which local servers are happy with, and which an answer may use.
SHORTEST_KEY_HIDDEN_IN_ANSWERS = 16


class Asking:
    """One call. Made for one `ask` or one `run`, used by one thread."""

    def __init__(self, target: Target, *, typed_key: TypedKey | None, on_delta: Callable[[Delta], None] | None) -> None:
        self._target = target
        self._typed_key = typed_key
        self._on_delta = on_delta
        self._clock = Clock(connect=target.connect_timeout, first_token=target.first_token_timeout, total=target.seat_timeout)
        self._so_far = Gathering()
        self._key = os.environ.get(target.api_key_env, "").strip() if target.api_key_env else ""
        self._status: int | None = None
        self._limits: tuple[LimitTold, ...] = ()

    def ask(self, protocol: UpstreamProtocol, messages: Sequence[Message]) -> Completion:
        """Send the request and read the answer. Raises UpstreamError; give it to `told` before it is shown."""
        self._find_key()
        self._hide_key()
        try:
            body = write_json(protocol.build_request(self._target.model, messages, self._target.options))
        except (TypeError, ValueError) as error:
            raise UpstreamError("the model's call options cannot be sent as JSON", kind="refused") from error
        url = _url(self._target.base_url, protocol.PATH, self._target.model)
        with asked(messages), post(url, headers=protocol.headers(self._key), body=body, clock=self._clock) as reply:
            self._note(reply)
            completion = self._answer_in(reply, protocol)
        refuse_unread(completion, messages)
        return self._finished(completion)

    def exchange(self, url: str, payload: Mapping[str, Any]) -> Any:
        """Send JSON with the key as a bearer's and return the JSON that answers it. Raises UpstreamError, as `ask` does."""
        self._find_key()
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        with post(url, headers=headers, body=write_json(payload), clock=self._clock) as reply:
            self._status = reply.status
            if 300 <= reply.status < 400:
                raise UpstreamError(_redirected(reply), kind="bad_reply")
            if reply.status >= 400:
                raise read_error(reply.status, reply.headers, beginning_of(reply.blocks()))
            try:
                return read_json(b"".join(reply.blocks(LARGEST_EXCHANGE)))
            except ValueError as error:
                raise UpstreamError("the reply is no JSON, or was cut off", kind="bad_reply") from error

    def run(self, protocol: CommandProtocol, messages: Sequence[Message]) -> Completion:
        """Run the protocol's command and read its answer. Raises UpstreamError; give it to `told` before it is shown."""
        self._hide_key()
        command = protocol.build_command(self._target.model, self._target.options)
        given = protocol.build_input(messages)
        environment = protocol.environment(self._target.api_key_env)
        try:
            with started(command, environment=environment, given=given, clock=self._clock) as running:
                for delta in protocol.parse_stream(running.blocks()):
                    self._take(delta)
                code, said = running.ending()
        except FileNotFoundError as error:
            raise UpstreamError(protocol.MISSING, kind="unavailable") from error
        if code:
            raise protocol.parse_error(code, said)
        self._so_far.add(protocol.parse_ending(said))
        return self._finished(self._so_far.completion())

    def _finished(self, completion: Completion) -> Completion:
        return Completion(
            text=self._without_key(completion.text),
            reasoning=self._without_key(completion.reasoning),
            model=completion.model if completion.model == self._target.model else self._named(completion.model),
            finish_reason=self._named(completion.finish_reason),
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            empty_why=redact(completion.empty_why, [self._key]),
            first_token_seconds=self._clock.first_token_seconds,
            upstream_status=self._status,
            limits=without_nothing(self._limits),
        )

    def told(self, error: UpstreamError) -> UpstreamError:
        """The error with what had come of the answer, its words short and without this call's key."""
        words = " ".join(redact(beginning(whole_characters(error.message), LONGEST_READ), [self._key]).split())
        error.message = words if len(words) <= LONGEST_MESSAGE else f"{words[: LONGEST_MESSAGE - 1]}…"
        error.args = (error.message,)
        text, reasoning = self._so_far.parts()
        error.partial, error.reasoning = self._without_key(text), self._without_key(reasoning)
        error.first_token_seconds = self._clock.first_token_seconds
        error.status = error.status or self._status
        return with_limits(error, self._limits)

    def _note(self, reply: Reply) -> None:
        """Keep what a reply tells before it is read: errors are told it as answers are."""
        self._status = reply.status
        self._limits = limits_in_headers(reply.headers, url=self._target.base_url, now=time.time())

    def _find_key(self) -> None:
        """Who runs the server has the last word: a key in the environment comes before one that was typed in."""
        name = self._target.api_key_env
        if not self._key and self._typed_key:
            self._key = self._typed_key()
        if name and not self._key:
            raise UpstreamError(
                f"the environment variable {name} is not set, and this endpoint's key is in it", kind="unauthorized"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            where = f"the environment variable {name}" if name else "the key typed in"
            raise UpstreamError(f"{where} holds characters that no key has", kind="unauthorized")

    def _hide_key(self) -> None:
        if self._on_delta:
            hidden = self._key if len(self._key) >= SHORTEST_KEY_HIDDEN_IN_ANSWERS else ""
            self._on_delta = without_key(self._on_delta, hidden)

    def _answer_in(self, reply: Reply, protocol: UpstreamProtocol) -> Completion:
        if 300 <= reply.status < 400:
            raise UpstreamError(_redirected(reply), kind="bad_reply")
        if reply.status >= 400:
            raise protocol.parse_error(reply.status, reply.headers, beginning_of(reply.blocks()))
        start, blocks = _begun(reply.blocks())
        if start.startswith(protocol.STREAM_BEGINS):
            return self._streamed_answer(reply, blocks, protocol)
        if start[:1] in (b"{", b"["):
            return self._whole_answer(blocks, protocol)
        if "event-stream" in reply.headers.get("Content-Type", "").lower() and start[:1] != b"<":
            return self._streamed_answer(reply, blocks, protocol)
        if not start:
            raise UpstreamError("the answer is an empty body", kind="bad_reply")
        raise protocol.parse_error(reply.status, reply.headers, beginning_of(blocks))

    def _streamed_answer(self, reply: Reply, blocks: Iterable[bytes], protocol: UpstreamProtocol) -> Completion:
        try:
            for delta in protocol.parse_stream(lines(blocks)):
                self._take(delta)
        except UpstreamError:
            # Once its finish reason has come an answer is whole, whatever becomes of the rest of the stream.
            if not self._so_far.finish_reason:
                raise
        else:
            reply.drain()
        return self._so_far.completion()

    def _whole_answer(self, blocks: Iterable[bytes], protocol: UpstreamProtocol) -> Completion:
        """The answer of a server that does not stream."""
        try:
            payload = read_json(b"".join(blocks))
        except ValueError as error:
            raise UpstreamError("the answer is JSON that cannot be read, or that was cut off", kind="bad_reply") from error
        completion = protocol.parse_reply(payload)
        self._take(Delta(text=completion.text, reasoning=completion.reasoning, finish_reason=completion.finish_reason))
        return completion

    def _take(self, delta: Delta) -> None:
        if delta.text or delta.reasoning:
            self._clock.token()
        self._so_far.add(delta)
        if self._on_delta:
            self._on_delta(delta)
        if delta.finish_reason:
            self._clock.last_words()

    def _without_key(self, text: str) -> str:
        return hide_secrets(text, [self._key]) if len(self._key) >= SHORTEST_KEY_HIDDEN_IN_ANSWERS else text

    def _named(self, name: str) -> str:
        """A name that the upstream gives, which is no place for a key; one that is a word of the model's own id may stay."""
        return redact(name, () if self._key in self._target.model else (self._key,))


def _url(base: str, path: str, model: str) -> str:
    """A base URL is given with or without the route, and an id with or without the route's own folder.

    Of an id nothing is left that could lead elsewhere: it is one step of the path.
    """
    folder, place, rest = path.partition("{model}")
    base = base.rstrip("/").removesuffix(folder.rstrip("/"))
    return f"{base}{folder}{quote(model.removeprefix(folder.lstrip('/')), safe='')}{rest}" if place else base + path


def _begun(blocks: Iterator[bytes]) -> tuple[bytes, Iterable[bytes]]:
    """The first bytes that tell a stream from JSON, a page or nothing, and all blocks with them.

    They say more than content types: relays label streams as JSON and JSON as streams. Some send blank lines for as long
    as the model thinks.
    """
    start = b""
    for block in blocks:
        start = (start + block).removeprefix(BOM).lstrip()
        if start[:1] in (b"{", b"[", b"<", b":") or len(start) >= max(map(len, BEGINS)) or b"\n" in start:
            break
    return start, chain([start], blocks)


def _redirected(reply: Reply) -> str:
    where = redact(_place(reply.headers.get("Location", "")))
    return (
        f"HTTP {reply.status} redirects to {where or 'nowhere'}, and no redirect is followed with a key: "
        "correct the endpoint's base URL"
    )


def _place(location: str) -> str:
    """Where a redirect leads, also one within its host, without its query or a log-in."""
    try:
        parts = urlsplit(beginning(location, LONGEST_READ))
    except ValueError:
        return "what is no URL"
    place = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    return f"{place}?..." if parts.query else place
