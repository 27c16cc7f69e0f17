"""The `llm` command as a provider: whatever models its plugins and its own keys reach, by `llm -m <served id>`.

The prompt goes in on standard input, the system text with it: no argument is a caller's to choose. Starts nothing itself.
The command sees PATH, HOME, what points at its own settings and at trusted certificates, and the one key that its endpoint
names; keys that `llm keys set` keeps it finds by itself.
"""

import ast
import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.chat import Message
from gateway.upstream.classify import error_in, read_error
from gateway.upstream.contract import Delta, ErrorKind, UpstreamError
from gateway.upstream.payload import count_of

MISSING = (
    "there is no llm command on the PATH of the server: install it (pipx install llm) with the plugins of its models, "
    "and start the server again"
)
PASSED_ON = (
    "PATH",
    "HOME",
    "LLM_USER_PATH",
    "LLM_LOAD_PLUGINS",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)
LABELS = {"system": "System", "user": "User", "assistant": "Assistant"}

_OPTION = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_COUNT = re.compile(r"\b([\d,]{1,13}) (input|output)")
_USAGE = re.compile(r"^Token usage: (.*)\n?\Z", re.MULTILINE)
_ERROR = re.compile(r"^Error: ", re.MULTILINE)
# How openai's client, on which most models of llm are built, words a failed call.
_HTTP = re.compile(r"Error code: (\d{3})(?: - (.*))?", re.DOTALL)
# What llm itself refuses.
_OWN: tuple[tuple[ErrorKind, re.Pattern[str]], ...] = (
    ("not_found", re.compile(r"Unknown model|is not a known model")),
    ("unauthorized", re.compile(r"No key found|needs? a key|keys set")),
    ("refused", re.compile(r"Extra inputs are not permitted|No such option|Input should be")),
)


def build_command(model: str, options: Mapping[str, Any]) -> list[str]:
    """The command and its arguments. A database of its own each time: first runs of several race over a shared one's tables."""
    if not model or model.startswith("-"):
        raise UpstreamError("a served id that is empty, or begins with a dash, cannot be given to llm", kind="refused")
    command = ["llm", "-m", model, "--no-log", "--usage", "--database", "unused.db"]
    for name, value in options.items():
        if not _OPTION.fullmatch(name):
            raise UpstreamError(f"{name!r} cannot be given to llm as a call option", kind="refused")
        if value is not None:
            command += ["-o", name, value if isinstance(value, str) else json.dumps(value)]
    return command


def build_input(messages: Sequence[Message]) -> bytes:
    """The conversation as text: a single question as it is, more with who said what."""
    if any(message.images for message in messages):
        raise UpstreamError("images cannot go through the llm command: this endpoint takes text alone", kind="refused")
    if [message.role for message in messages] == ["user"]:
        text = messages[0].text
    else:
        text = "\n\n".join(f"{LABELS[message.role]}: {message.text}" for message in messages)
    return text.encode("utf-8", "replace")


def environment(api_key_env: str) -> dict[str, str]:
    """The whole environment of the command, UTF-8 on its pipes whatever the locale."""
    names = (*PASSED_ON, api_key_env) if api_key_env else PASSED_ON
    return {name: os.environ[name] for name in names if name in os.environ} | {"PYTHONUTF8": "1"}


def parse_stream(blocks: Iterable[bytes]) -> Iterator[Delta]:
    """Read the answer as it comes, without the line end that llm puts after it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    held = ""
    for block in blocks:
        text = held + decoder.decode(block)
        held = "\n" if text.endswith("\n") else ""
        yield Delta(text=text.removesuffix("\n"))
    yield Delta(text=decoder.decode(b"", final=True))


def parse_ending(said: bytes) -> Delta:
    """Read standard error: the model's reasoning, as llm shows it there, and how many tokens were used."""
    text = said.decode("utf-8", "replace")
    usage = _USAGE.search(text)
    counts = {name: int(count.replace(",", "")) for count, name in _COUNT.findall(usage[1] if usage else "")}
    return Delta(
        reasoning=(text[: usage.start()] if usage else text).strip(),
        input_tokens=count_of(counts.get("input")),
        output_tokens=count_of(counts.get("output")),
    )


def parse_error(code: int, said: bytes) -> UpstreamError:
    """Read a failure. Of a traceback only its last line is told: the rest is about this machine."""
    words = _words(said.decode("utf-8", "replace"))
    if not words:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return UpstreamError(f"llm {how} and said nothing", kind="unavailable")
    kind = next((kind for kind, pattern in _OWN if pattern.search(words)), None)
    error = UpstreamError(words, kind=kind) if kind else _quoted(words)
    return replace(error, message=f"llm: {error.message}", status=None)


def _words(said: str) -> str:
    """What follows the last `Error:`, else the last line."""
    _, *errors = _ERROR.split(said)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return errors[-1].strip() if errors else (lines or [""])[-1]


def _quoted(words: str) -> UpstreamError:
    """Read the error as the provider's own where llm quotes it."""
    quoted = _HTTP.search(words)
    if not quoted:
        error = read_error(200, {}, words.encode())
        return error if error.kind != "bad_reply" else replace(error, kind="unavailable")
    status, body = int(quoted[1]), quoted[2] or ""
    try:
        # Quoted as Python prints it by its older releases, as its words alone by newer ones.
        return error_in(ast.literal_eval(body), status=status)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return read_error(status, {}, body.encode())
