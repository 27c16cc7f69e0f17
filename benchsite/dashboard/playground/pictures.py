"""The image that a person adds to a prompt: read in memory, told by its first bytes, passed on and forgotten."""

import base64
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from gateway.chat import ImagePart
from gateway.conf import conf
from gateway.errors import BadRequest, TooLarge

# What every endpoint that takes images takes, by how such a file begins.
_BEGINNINGS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
KINDS = ("png", "jpeg", "webp", "gif")
ACCEPTED = ",".join(f"image/{kind}" for kind in KINDS)


def largest_image() -> int:
    """The largest image, in bytes: in base64, a third longer, it fits into a body of the gateway's with room for words."""
    return conf.max_body_bytes * 3 // 4 - conf.max_body_bytes // 100


def image_in(upload: "UploadedFile[Any] | None") -> ImagePart | None:
    """Return what was uploaded as an image to ask with. Raises BadRequest for another kind of file, TooLarge."""
    if upload is None:
        return None
    most = largest_image()
    if (upload.size or 0) > most:
        raise TooLarge(f"The image has {upload.size:,} bytes, and {most:,} is the most. Send a smaller one.")
    data = upload.read()
    kind = _kind_of(data)
    if not kind:
        raise BadRequest(f"The file is no image that models take: choose one of {', '.join(KINDS)}.", param="image")
    return ImagePart(f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}")


def _kind_of(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")
