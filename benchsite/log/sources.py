"""What would write past the loggers, or be lost, led through them: Twisted, and errors that nobody caught.

Says nothing itself. For the process that serves; a command at a terminal keeps Python's own words.
"""

import logging
import sys
import threading
from types import TracebackType

from twisted.logger import STDLibLogObserver, globalLogPublisher

logger = logging.getLogger("bench.uncaught")


def take_over() -> None:
    """Lead them through the loggers from now on. Call once."""
    # Daphne sends what Twisted says nowhere, an error in a protocol included.
    globalLogPublisher.addObserver(STDLibLogObserver("twisted"))  # type: ignore[arg-type]  # zope tells mypy nothing
    threading.excepthook = _thread_ended
    sys.unraisablehook = _could_not_be_raised


def _thread_ended(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is not SystemExit:
        _write("A thread ended with an error", args.exc_value, args.exc_traceback)


def _could_not_be_raised(args: "sys.UnraisableHookArgs") -> None:
    _write("An error could not be raised where it arose", args.exc_value, args.exc_traceback)


def _write(what: str, error: BaseException | None, arose: TracebackType | None) -> None:
    if error is not None:
        logger.error(what, exc_info=(type(error), error, arose))
