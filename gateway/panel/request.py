"""Who asks what, and how they reached the server."""

from dataclasses import dataclass

from gateway.chat import ChatRequest
from keys.services import Caller


@dataclass(frozen=True, slots=True)
class Request:
    """`base_url` is the server as the caller reached it."""

    chat: ChatRequest
    caller: Caller
    base_url: str
