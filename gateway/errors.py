"""Refusals: why a request is turned away, each with its status, its words for the caller and its wait.

Refusal                     any of these; raised wherever the reason is found, given a body in one place per edge
  BadRequest          400   `param` names the field
  HostRefused         403
  OriginRefused       403
  ProxyRefused        403   through a tunnel, where no key is asked for
  NotAllowed          403   another key's collection, panel or events
  NotFound            404   an unknown path, panel or collection
  MethodRefused       405   its headers name the methods
  TooLarge            413   a body over the cap, or a prompt over a member's window
  NotJson             415
  KeyReused           422   an idempotency key of another request
  LoopRefused         508   a bench asked a bench
  Unavailable         503   nobody to seat, a full queue, a stop under way; `wait` seconds
  NobodyAnswered      502   every seat failed; carries the `bench` field
    EveryoneRateLimited 429   all of them for asking too often
"""

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from rest_framework.exceptions import APIException

from gateway.telemetry.metrics import count_refusal

logger = logging.getLogger(__name__)

BUSY_WAIT_SECONDS = 5


class Refusal(APIException):
    """A refusal that is told to the caller in the route's own format."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        wait: float | None = None,
        headers: Mapping[str, str] | None = None,
        bench: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.param = param
        self.wait = wait
        self.headers = dict(headers or {})
        self.bench = bench


class BadRequest(Refusal):
    status_code = 400


class HostRefused(Refusal):
    status_code = 403


class OriginRefused(Refusal):
    status_code = 403


class ProxyRefused(Refusal):
    status_code = 403


class NotAllowed(Refusal):
    status_code = 403


class NotFound(Refusal):
    status_code = 404


class MethodRefused(Refusal):
    status_code = 405


class TooLarge(Refusal):
    status_code = 413


class LoopRefused(Refusal):
    status_code = 508


class KeyReused(Refusal):
    # 422, since SDKs send a 409 again.
    status_code = 422


class NotJson(Refusal):
    status_code = 415


class Unavailable(Refusal):
    status_code = 503


class NobodyAnswered(Refusal):
    status_code = 502


class EveryoneRateLimited(NobodyAnswered):
    status_code = 429


def as_refusal(error: Exception) -> APIException:
    """What a caller is told of any error: a refusal as it is, a busy database as one, and nothing of what broke in here."""
    refusal = _refusal_of(error)
    count_refusal(refusal)
    return refusal


def _refusal_of(error: Exception) -> APIException:
    if isinstance(error, APIException):
        return error
    if isinstance(error, SuspiciousOperation):
        # Django's own limits, of what a query may hold.
        return BadRequest("The query cannot be read: it has too many fields, or is malformed.")
    logger.error("A gateway route failed", exc_info=error)
    if isinstance(error, OperationalError | InterfaceError):
        return Unavailable("The database does not answer. Try again in a moment.", wait=BUSY_WAIT_SECONDS)
    return APIException("The gateway failed on this request; its log says why.")
