"""Every route that asks a panel, as a caller of its format would send it: for tests that hold for all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """One route: where it is, streamed or not, and a body of one user message with images (data URLs)."""

    name: str
    path: Callable[[str, bool], str]
    body: Callable[[str, Sequence[str]], Body]
    names_model: bool = True
    says_stream: bool = True

    def request(
        self, model: str, text: str = "Say anything.", *, images: Sequence[str] = (), stream: bool = False
    ) -> tuple[str, Body]:
        body = self.body(text, images)
        if self.names_model:
            body["model"] = model
        if self.says_stream:
            body["stream"] = stream
        return self.path(model, stream), body

    def __str__(self) -> str:
        return self.name


def at(path: str) -> Callable[[str, bool], str]:
    return lambda model, stream: path


def split(url: str) -> tuple[str, str]:
    """A data URL's media type and base64."""
    head, _, data = url.partition(",")
    return head.removeprefix("data:").partition(";")[0], data


def chat(text: str, images: Sequence[str]) -> Body:
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": text}, *parts]}]}


def responses(text: str, images: Sequence[str]) -> Body:
    parts = [{"type": "input_image", "image_url": url, "detail": "auto"} for url in images]
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": text}, *parts]}]}


def completions(text: str, images: Sequence[str]) -> Body:
    return {"prompt": text}


def messages(text: str, images: Sequence[str]) -> Body:
    sources = [{"type": "base64", "media_type": split(url)[0], "data": split(url)[1]} for url in images]
    parts = [{"type": "image", "source": source} for source in sources]
    return {"max_tokens": 100, "messages": [{"role": "user", "content": [*parts, {"type": "text", "text": text}]}]}


def ollama_chat(text: str, images: Sequence[str]) -> Body:
    return {"messages": [{"role": "user", "content": text, "images": [split(url)[1] for url in images]}]}


def ollama_generate(text: str, images: Sequence[str]) -> Body:
    return {"prompt": text, "images": [split(url)[1] for url in images]}


def gemini(text: str, images: Sequence[str]) -> Body:
    parts = [{"inlineData": {"mimeType": split(url)[0], "data": split(url)[1]}} for url in images]
    return {"contents": [{"role": "user", "parts": [{"text": text}, *parts]}]}


def gemini_path(model: str, stream: bool) -> str:
    return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")


CHAT = Form("chat", at("/v1/chat/completions"), chat)
RESPONSES = Form("responses", at("/v1/responses"), responses)
COMPLETIONS = Form("completions", at("/v1/completions"), completions)
MESSAGES = Form("messages", at("/v1/messages"), messages)
OLLAMA_CHAT = Form("ollama-chat", at("/api/chat"), ollama_chat)
OLLAMA_GENERATE = Form("ollama-generate", at("/api/generate"), ollama_generate)
GEMINI = Form("gemini", gemini_path, gemini, names_model=False, says_stream=False)

FORMS = (CHAT, RESPONSES, COMPLETIONS, MESSAGES, OLLAMA_CHAT, OLLAMA_GENERATE, GEMINI)
WITH_IMAGES = tuple(form for form in FORMS if form is not COMPLETIONS)


def error_text(form: Form, body: Any) -> str:
    """The words of an error in the format's own shape; fails when it has another."""
    error = body["error"]
    if form in (OLLAMA_CHAT, OLLAMA_GENERATE):
        assert isinstance(error, str)
        return error
    if form is MESSAGES:
        assert body["type"] == "error"
    if form is GEMINI:
        assert isinstance(error["code"], int)
        assert error["status"].isupper()
    return error["message"]
