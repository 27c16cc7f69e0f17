"""What a command is to send: words, files and standard input, as one prompt and its images.

Every byte is somebody else's: a file's text stands in a fence that it cannot close, under a name of one line.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gateway.management.terminal import printable

# As base64 within what a bench takes by default, with room for the words.
LARGEST = 10_000_000
_IMAGES = {"png": rb"\x89PNG\r\n\x1a\n", "jpeg": rb"\xff\xd8\xff", "gif": rb"GIF8[79]a", "webp": rb"RIFF.{4}WEBP"}
_LONGEST_NAME = 200


class CannotAttachError(Exception):
    """Says what is wrong with what was to be sent, and what to send instead."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A prompt with every text in it, and images as data URLs."""

    prompt: str
    images: tuple[str, ...] = ()


def attached(words: str, files: Sequence[Path], stdin: BinaryIO | None) -> Attached:
    """Put together what is sent: the words, each text file in a fence under its name, then standard input as it is.

    Raises CannotAttachError.
    """
    texts, images = [words], []
    for path in files:
        content = _read(path)
        if image := _as_image(content):
            images.append(image)
        else:
            texts.append(_fenced(path, _text(content, str(path))))
    if stdin is not None:
        texts.append(_text(_limited(stdin, "standard input"), "standard input").rstrip("\n"))
    return Attached("\n\n".join(text for text in texts if text.strip()), tuple(images))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file, str(path))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CannotAttachError(f"{_name(str(path))} cannot be read: {why}.") from error


def _limited(file: BinaryIO, name: str) -> bytes:
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise CannotAttachError(
            f"{_name(name)} is larger than {LARGEST // 1_000_000} MB: send the part that matters, or a smaller image."
        )
    return content


def _as_image(content: bytes) -> str:
    """A data URL of an image that models take, told by its first bytes; empty for anything else."""
    for kind, beginning in _IMAGES.items():
        if re.match(beginning, content, re.DOTALL):
            return f"data:image/{kind};base64,{b64encode(content).decode()}"
    return ""


def _text(content: bytes, name: str) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise CannotAttachError(
            f"{_name(name)} is neither text (UTF-8) nor an image (PNG, JPEG, WebP, GIF). Send what it says as text, "
            "such as: pdftotext FILE - | python manage.py ask COLLECTION"
        )
    return text.replace("\r\n", "\n")


def _fenced(path: Path, text: str) -> str:
    """A text in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    ending = path.suffix.removeprefix(".").lower()
    language = ending if re.fullmatch(r"[a-z0-9]{1,12}", ending) else ""
    return f"File {_name(str(path))}:\n\n{fence}{language}\n{text.rstrip()}\n{fence}"


def _name(name: str) -> str:
    """A name as one line that closes no code."""
    return printable(name, _LONGEST_NAME).replace("`", "'")
