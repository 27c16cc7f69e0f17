"""A panel as its asker sees it: the question, what is told while it runs, the answer. Pure values; bench.py asks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `collection` with or without `bench/`, a suffix such as `:merged` included.

    `nominated` are aliases that are to sit too; `reply` and `merger` are the collection's own where they are left out;
    `images` are http(s) or data URLs.
    """

    collection: str
    prompt: str
    system: str = ""
    nominated: tuple[str, ...] = ()
    reply: Literal["all", "merged"] | None = None
    merger: str = ""
    images: tuple[str, ...] = ()

    def as_chat(self) -> dict[str, Any]:
        """The question as the body of a streamed chat completion."""
        said: list[dict[str, Any]] = [{"role": "system", "content": self.system}] if self.system else []
        images = [{"type": "image_url", "image_url": {"url": url}} for url in self.images]
        content: Any = [{"type": "text", "text": self.prompt}, *images] if images else self.prompt
        bench = {"with": list(self.nominated), "reply": self.reply, "merger": self.merger}
        return {
            "model": self.collection,
            "messages": [*said, {"role": "user", "content": content}],
            "stream": True,
            "bench": {name: value for name, value in bench.items() if value},
        }


@dataclass(frozen=True, slots=True)
class Seated:
    """Told first, as soon as the panel's id is known: `panel` can be read back from now on, whatever becomes of the asker."""

    panel: str


@dataclass(frozen=True, slots=True)
class Piece:
    """More of the reply's Markdown: the heading, a section, the closing; of a merged reply what the merger has just written."""

    text: str


@dataclass(frozen=True, slots=True)
class SeatEnded:
    """A seat has ended, as `bench.seats` shows it; the merger's too. `ended` of `seats` have by now, the merger apart.

    Told once with no `seat` before any has: how many sit is known then.
    """

    seat: dict[str, Any] | None
    ended: int
    seats: int


Happening = Seated | Piece | SeatEnded
Told = Callable[[Happening], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A panel that has ended: its id, the Markdown as it came, the seats in finishing order, and its `bench` object."""

    panel: str
    content: str
    bench: dict[str, Any]


async def nobody(_: Happening) -> None:
    """Told of everything, and listens to nothing."""
