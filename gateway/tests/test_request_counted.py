"""A request is one for its key's minute, however often its panel is tried: a neighbour may spoil the transaction they share."""

from dataclasses import replace

import pytest

from gateway.chat import ChatRequest, Message, TextPart
from gateway.panel.request import Request
from keys.errors import TooManyRequests
from keys.services import LOCAL

CHAT = ChatRequest(format="openai_chat", model="bench/core", messages=(Message("user", (TextPart("Is it?"),)),))
TWICE_A_MINUTE = replace(LOCAL, key_id=10**9, rpm=2)


def test_a_request_that_is_tried_again_is_counted_once() -> None:
    first, second, third = (Request(CHAT, TWICE_A_MINUTE, "http://bench") for _ in range(3))
    for _ in range(5):
        first.count()
    second.count()
    # And one that was turned away is turned away again, where it would count.
    for _ in range(2):
        with pytest.raises(TooManyRequests):
            third.count()
