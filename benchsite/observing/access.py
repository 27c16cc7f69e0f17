"""Who may read /metrics: this machine where the dashboard is open to it, and elsewhere whoever sends a token as a bearer.

A gateway key opens nothing here: it may be one of some collections, and these are numbers of all.
"""

from functools import cache

from django.conf import settings
from django.utils.crypto import constant_time_compare

from benchsite.dashboard.admin_token import is_admin_token, mac_of
from benchsite.dashboard.login_tries import LoginTries

BEARER = "bearer "


def token_is_asked_for() -> bool:
    return bool(settings.BENCHWARMERS_ADMIN_TOKEN or settings.BENCH_METRICS_TOKEN)


def refusal_of(authorization: str, address: str, *, local: bool) -> tuple[int, str] | None:
    """Why numbers are not shown, as an HTTP status and words; None when they are. `local`: asked for on this machine."""
    if not token_is_asked_for():
        words = "Set BENCH_METRICS_TOKEN, and send it as Authorization: Bearer <token>. Without it this machine alone is told."
        return None if local else (403, words)
    sent = authorization[len(BEARER) :].strip() if authorization.lower().startswith(BEARER) else ""
    if not sent:
        return 401, "Send BENCH_METRICS_TOKEN, or the admin token, as Authorization: Bearer <token>."
    if wait := metrics_tries().take(address):
        return 429, f"Too many wrong tokens. Ask again in {wait} seconds."
    right = _opens(sent)
    metrics_tries().judged(address, right=right)
    return None if right else (401, "The token that was sent is another.")


def _opens(sent: str) -> bool:
    token = settings.BENCH_METRICS_TOKEN
    # Both, whatever the first says: how long it takes tells nothing.
    is_metrics = constant_time_compare(mac_of(sent), mac_of(token)) and bool(token)
    return is_admin_token(sent) or is_metrics


@cache
def metrics_tries() -> LoginTries:
    """The process's own, and not the login's: a scraper with an old token must not keep people out."""
    return LoginTries()
