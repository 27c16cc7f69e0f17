"""Log lines that hold nothing of what was sent to the server, whoever writes them.

What our own code says passes through `redact`. Of what a library says the template is kept, with types in place of values,
and of words that come without a template only where they were said. Of an error its type and where it arose are written; its
message may quote a request, and only kinds whose messages quote nothing keep theirs.
"""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError

# Logging is set up before the apps are: nothing that needs a row may be imported here.
from gateway.redact import redact

# Loggers whose words and values were chosen here, for a log.
OURS = frozenset({"bench", "benchsite", "collections_app", "evidence", "gateway", "keys"})
SPEAKING = (AttributeError, ImportError, ImproperlyConfigured, InterfaceError, MemoryError, NameError, OperationalError)
WITHHELD = "(its words may quote a request and are not written down)"
LONGEST = 4000
DEEPEST = 30
MOST_ERRORS = 10


class LineFormatter(logging.Formatter):
    """A record as one line, and an error below it as where it arose."""

    def format(self, record: logging.LogRecord) -> str:
        said, error = self.parts(record)
        return "\n".join([f"{self.formatTime(record)} {record.levelname} {record.name}: {said}", *error])

    def parts(self, record: logging.LogRecord) -> tuple[str, list[str]]:
        """What a record says, and line by line the error it is about, if any."""
        error = _error(record)
        return _printable(redact(_said(record)))[:LONGEST], list(told(error)) if error else []


class Stderr(logging.StreamHandler[Any]):
    """Standard error. A record that cannot be formatted is not printed raw, as logging itself would."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (logging's name)
        kind = type(sys.exc_info()[1]).__name__
        # Standard error itself may be what is gone; a request does not fail for that.
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"A line of {_printable(record.name)} could not be logged: {kind}\n")


def _said(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] in OURS:
        return record.getMessage()
    if request := getattr(record, "request", None):
        return _of_request(request, getattr(record, "status_code", "?"))
    # asyncio describes tasks, their errors included, and Daphne hands over tracebacks, in a text that is ready.
    return record.msg % _harmless(record.args) if record.args else f"{record.filename}:{record.lineno} {WITHHELD}"


def _of_request(request: Any, status: Any) -> str:
    """Django's own words quote the path and the reason, and a reason may quote a header."""
    route = getattr(getattr(request, "resolver_match", None), "route", "?")
    return f"/{route} {status}"


def _harmless(args: Any) -> Any:
    """A library's values: numbers as they are, of everything else the type."""
    if isinstance(args, dict):
        return {name: _harmless_value(value) for name, value in args.items()}
    return tuple(_harmless_value(value) for value in args)


def _harmless_value(value: Any) -> Any:
    return value if isinstance(value, int | float) else f"<{type(value).__name__}>"


def _printable(text: str) -> str:
    """One line, whatever is in it: nobody can write a second that looks like the server's."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _error(record: logging.LogRecord) -> BaseException | None:
    if record.exc_info:
        return record.exc_info[1]
    return sys.exc_info()[1] if str(record.msg).startswith("Traceback ") else None


def told(error: BaseException) -> Iterator[str]:
    """Yield, line by line, where an error arose and what led to it, the first cause first."""
    for number, one in enumerate(_chain(error)):
        if number:
            yield "which led to"
        yield from (line.rstrip("\n") for line in traceback.format_tb(one.__traceback__, -DEEPEST))
        yield _named(one)


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain and len(chain) < MOST_ERRORS:
        chain.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return chain[::-1]


def _named(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    return _printable(f"{kind}: {_message(error)}")


def _message(error: BaseException) -> str:
    if isinstance(error, OSError):
        # Without the file's name, which may come from a path.
        return error.strerror or WITHHELD
    return redact(str(error))[:LONGEST] if isinstance(error, SPEAKING) else WITHHELD
