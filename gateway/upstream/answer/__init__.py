"""An answer put together from what a stream's events, or one reply, add to it: text, reasoning, how it ended.

Knows no protocol; raises UpstreamError for what came as a success and is none: a money or rate notice, a prompt without room
for an answer.
"""

from collections.abc import Iterable

from gateway.upstream.answer.emptiness import why_empty
from gateway.upstream.answer.thinking import split_thinking
from gateway.upstream.answer.unread import refuse_no_room
from gateway.upstream.classify.notices import notice_in
from gateway.upstream.contract import Completion, Delta
from gateway.upstream.payload import short, whole_characters


class Gathering:
    """What has come of one answer so far."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls_tool = False
        self.finish_reason = ""
        self._model = ""
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None

    def add(self, delta: Delta) -> None:
        if delta.text:
            self._text.append(delta.text)
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        if delta.refusal:
            self._refusal.append(delta.refusal)
        self._calls_tool = self._calls_tool or delta.calls_tool
        self.finish_reason = delta.finish_reason or self.finish_reason
        self._model = delta.model or self._model
        if delta.input_tokens is not None:
            self._input_tokens = delta.input_tokens
        if delta.output_tokens is not None:
            self._output_tokens = delta.output_tokens

    def parts(self) -> tuple[str, str]:
        """The answer and the reasoning so far, told apart."""
        reasoning = _joined(self._reasoning)
        thought, text = split_thinking(_joined(self._text), apart=bool(reasoning))
        return text, "\n\n".join(filter(None, (reasoning, thought)))

    def completion(self) -> Completion:
        """The whole answer. Raises UpstreamError when it is a notice, or when the prompt left no room for one."""
        text, reasoning = self.parts()
        notice = notice_in(text)
        if notice:
            raise notice
        empty = not text.strip()
        if empty:
            self._refuse_no_room(reasoning)
        return Completion(
            text="" if empty else text,
            reasoning=reasoning,
            finish_reason=short(self.finish_reason),
            model=short(self._model),
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            empty_why=self._why_empty(text, reasoning) if empty else "",
        )

    def _refuse_no_room(self, reasoning: str) -> None:
        refuse_no_room(
            finish_reason=short(self.finish_reason),
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
            reasoning=bool(reasoning.strip()),
        )

    def _why_empty(self, text: str, reasoning: str) -> str:
        return why_empty(
            finish_reason=short(self.finish_reason),
            reasoning=bool(reasoning.strip()),
            refusal=_joined(self._refusal),
            calls_tool=self._calls_tool,
            blank=bool(text),
        )


def gathered(deltas: Iterable[Delta]) -> Completion:
    """Put a reply that came whole together. Raises UpstreamError when it is a notice."""
    gathering = Gathering()
    for delta in deltas:
        gathering.add(delta)
    return gathering.completion()


def _joined(pieces: list[str]) -> str:
    return whole_characters("".join(pieces))
