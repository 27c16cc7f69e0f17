"""A job as the document that a worker is sent, and a seat's ending as the one that comes home: JSON, version by version.

Holds no secret: a target names where its key is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from collections_app.models.health import Quota
from gateway.chat import ImagePart, Message, Part, TextPart
from gateway.reply import SeatAnswer
from gateway.upstream.contract import Target
from gateway.workers.job import SeatJob

# Raised whenever a document changes: a worker of another release refuses it instead of asking something else.
VERSION = 1
_PLAIN = tuple(field.name for field in fields(SeatJob) if field.name not in ("target", "messages", "quotas"))
# The addresses of its images are the request's, which whoever asked still has.
_TOLD = tuple(field.name for field in fields(SeatAnswer) if field.name != "image_urls")


class UnknownMessageError(Exception):
    """A document that no release of ours wrote, or another release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A job whose messages travel beside it, where its ending is awaited, and whether its text is as it comes."""

    job: SeatJob
    home: str
    wants_text: bool = False
    parcel: str = ""


def as_message(job: SeatJob) -> dict[str, Any]:
    """The job as a document of JSON's own types, its messages included."""
    return {**_without_messages(job), "messages": messages_as_list(job.messages)}


def job_from(document: Mapping[str, Any]) -> SeatJob:
    """The job that a document tells of. Raises UnknownMessageError."""
    try:
        return SeatJob(
            **{name: document[name] for name in _PLAIN},
            target=Target(**document["target"]),
            quotas=tuple(Quota(**quota) for quota in document["quotas"]),
            messages=messages_from(document["messages"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UnknownMessageError(f"a job of another form ({type(error).__name__})") from None


def messages_as_list(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "parts": [_part(part) for part in message.parts]} for message in messages]


def messages_from(listed: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(Message(message["role"], tuple(_part_from(part) for part in message["parts"])) for message in listed)


def errand_as_bytes(errand: Errand) -> bytes:
    """The errand as JSON; the messages only where they do not travel beside it."""
    job = _without_messages(errand.job) if errand.parcel else as_message(errand.job)
    how = {"home": errand.home, "wants_text": errand.wants_text, "parcel": errand.parcel}
    return json.dumps({"version": VERSION, **how, "job": job}, separators=(",", ":")).encode()


def errand_from(content: bytes) -> Errand:
    """The errand that JSON tells of, without messages where they travel beside it. Raises UnknownMessageError."""
    document = json.loads(content)
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise UnknownMessageError("a document of another release")
    try:
        job = job_from({"messages": [], **document["job"]})
        return Errand(job=job, **{name: document[name] for name in ("home", "wants_text", "parcel")})
    except (KeyError, TypeError) as error:
        raise UnknownMessageError(f"an errand of another form ({type(error).__name__})") from None


def answer_as_dict(answer: SeatAnswer) -> dict[str, Any]:
    return {name: getattr(answer, name) for name in _TOLD}


def answer_from(told: Mapping[str, Any], image_urls: tuple[str, ...]) -> SeatAnswer:
    """The answer as it was told. Raises UnknownMessageError."""
    try:
        return SeatAnswer(**told, image_urls=image_urls)
    except TypeError:
        raise UnknownMessageError("an answer of another form") from None


def _without_messages(job: SeatJob) -> dict[str, Any]:
    return {
        **{name: getattr(job, name) for name in _PLAIN},
        "target": {**asdict(job.target), "options": dict(job.target.options)},
        "quotas": [asdict(quota) for quota in job.quotas],
    }


def _part(part: Part) -> dict[str, str]:
    return {"image": part.url} if isinstance(part, ImagePart) else {"text": part.text}


def _part_from(part: Mapping[str, str]) -> Part:
    return ImagePart(part["image"]) if "image" in part else TextPart(part["text"])
