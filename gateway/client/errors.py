"""Why a bench did not do what it was asked.

BenchError             any of these
  RefusedError         the bench said no: its own words, HTTP status and wait; `bench` has the seats where all of them failed
  UnreachableError     nothing answered at that address, or nothing that is a bench
  CutOffError          the connection broke while a panel was awaited, which goes on; `panel` is its id where it is known
"""

from collections.abc import Mapping
from typing import Any


class BenchError(Exception):
    """`str()` is the reason, in words for people. Text from elsewhere: not made safe for a terminal."""


class RefusedError(BenchError):
    """`wait` is in seconds, None where the bench named none."""

    def __init__(self, status: int, message: str, *, wait: float | None = None, bench: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.wait = wait
        self.bench = bench


class UnreachableError(BenchError):
    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"{url} {why}")
        self.url = url


class CutOffError(BenchError):
    def __init__(self, panel: str = "") -> None:
        super().__init__("The connection to the bench broke before the reply had ended.")
        self.panel = panel
