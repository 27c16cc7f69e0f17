"""The ways in which the load asks: every wire format, streamed and not, with an idempotency key and without, merged too."""

from dataclasses import dataclass, field
from typing import Any

FIVE, MERGED = "bench/five", "bench/five:merged"


@dataclass(frozen=True, slots=True)
class Kind:
    """`body` is what is sent beside the question, which `asks` puts where the format has it."""

    name: str
    path: str
    asks: str
    body: dict[str, Any] = field(default_factory=dict)
    keyed: bool = False

    def payload(self, question: str) -> dict[str, Any]:
        if self.asks == "contents":
            return {**self.body, "contents": [{"role": "user", "parts": [{"text": question}]}]}
        asked: Any = [{"role": "user", "content": question}] if self.asks == "messages" else question
        return {"model": FIVE, **self.body, self.asks: asked}


CHAT, GEMINI = "/v1/chat/completions", f"/v1beta/models/{FIVE}"
KINDS = (
    Kind("chat", CHAT, "messages", keyed=True),
    Kind("chat, streamed", CHAT, "messages", {"stream": True}),
    Kind("chat, streamed, with a key", CHAT, "messages", {"stream": True}, keyed=True),
    Kind("chat, merged", CHAT, "messages", {"stream": True, "model": MERGED}, keyed=True),
    Kind("responses", "/v1/responses", "input", keyed=True),
    Kind("responses, streamed", "/v1/responses", "input", {"stream": True}),
    Kind("messages", "/v1/messages", "messages", {"max_tokens": 1000}),
    Kind("messages, streamed", "/v1/messages", "messages", {"max_tokens": 1000, "stream": True}, keyed=True),
    Kind("completions", "/v1/completions", "prompt", keyed=True),
    Kind("ollama, streamed", "/api/chat", "messages"),
    Kind("gemini", f"{GEMINI}:generateContent", "contents"),
    Kind("gemini, streamed", f"{GEMINI}:streamGenerateContent?alt=sse", "contents", keyed=True),
)
