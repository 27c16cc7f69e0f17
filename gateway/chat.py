"""What was asked, in no format's words: pure values that compare by content, print safely and cross threads.

Knows no wire format, no provider and no row. Text is as the caller sent it; an image is only ever printed as a placeholder.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gateway.redact import describe_image

Role = Literal["system", "user", "assistant"]
ReplyMode = Literal["all", "merged"]


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, repr=False)
class ImagePart:
    """An image by http(s) URL, or by the data URL of its base64."""

    url: str

    @property
    def is_inline(self) -> bool:
        """Whether the URL holds the picture itself."""
        return self.url[:5].lower() == "data:"

    def inline(self) -> tuple[str, str]:
        """The media type and the base64 of an image that is inline."""
        described, _, data = self.url.partition(",")
        return described[len("data:") :].partition(";")[0], data

    def __str__(self) -> str:
        return describe_image(self.url)

    # No traceback or log line may carry the picture.
    __repr__ = __str__


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The parts as text, with placeholders for images."""
        return "\n".join(str(part) for part in self.parts)

    @property
    def images(self) -> int:
        return sum(isinstance(part, ImagePart) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """What a caller says of the panel itself: the body's `bench` object and `with`."""

    nominated: tuple[str, ...] = ()
    reply: ReplyMode | None = None
    merger: str = ""
    field: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request for a panel, whichever format it came in."""

    format: str
    model: str
    messages: tuple[Message, ...]
    stream: bool = False
    include_usage: bool = False
    ignored: tuple[str, ...] = ()
    bench: BenchOptions = BenchOptions()

    @property
    def images(self) -> int:
        return sum(message.images for message in self.messages)

    @property
    def image_urls(self) -> tuple[str, ...]:
        return web_images(self.messages)

    @property
    def text(self) -> str:
        """The whole request as text with placeholders: what the call log keeps."""
        return "\n\n".join(f"{message.role}: {message.text}" for message in self.messages)


def web_images(messages: Iterable[Message]) -> tuple[str, ...]:
    """The addresses of the images that are named by one."""
    images = (part for message in messages for part in message.parts if isinstance(part, ImagePart))
    return tuple(image.url for image in images if not image.is_inline)
