"""What stands in for Django's debug pages and error mails, which show settings, headers and local variables: the error alone.

Neither is used as installed (DEBUG is off, and nobody is mailed); whoever turns one on gets this.
"""

from types import TracebackType
from typing import Any

from django.utils.html import escape

from benchsite.log.lines import told


class BareReporter:
    """Django's `DEFAULT_EXCEPTION_REPORTER`, which is built with the request and everything around it."""

    def __init__(
        self,
        request: Any,
        kind: type[BaseException] | None,
        error: BaseException | None,
        arose: TracebackType | None,
        **also: Any,
    ) -> None:
        self._error = error

    def get_traceback_text(self) -> str:
        return "\n".join(told(self._error)) if self._error else ""

    def get_traceback_html(self) -> str:
        return f"<!doctype html><title>Error</title><pre>{escape(self.get_traceback_text())}</pre>"
