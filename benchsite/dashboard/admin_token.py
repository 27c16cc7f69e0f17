"""The admin token: who knows it is the user `operator`, and every session ends when it changes.

Sessions and passwords are Django's; gateway keys are neither (keys/).
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.deprecation import MiddlewareMixin

OPERATOR = "operator"
TOKEN_MAC = "bench_admin_token"  # noqa: S105 (a name in the session, no secret)


def mac_of(token: str) -> str:
    """Return what stands for a token where it may be kept or compared: as long for every one, and of no use elsewhere."""
    return salted_hmac("benchsite.admin_token", token, algorithm="sha256").hexdigest()


def is_admin_token(sent: str) -> bool:
    """Whether `sent` is the token, in a time that tells neither its letters nor its length. False when none is set."""
    token = settings.BENCHWARMERS_ADMIN_TOKEN
    return constant_time_compare(mac_of(sent), mac_of(token)) and bool(token)


class TokenBackend(ModelBackend):
    """Logs in whoever sends the admin token."""

    def authenticate(self, request: HttpRequest | None, *, admin_token: str) -> User | None:  # type: ignore[override]
        if not is_admin_token(admin_token):
            return None
        operator, _ = get_user_model().objects.get_or_create(
            username=OPERATOR, defaults={"is_staff": True, "is_superuser": True, "password": make_password(None)}
        )
        return operator if self.user_can_authenticate(operator) else None


class TokenSessionMiddleware(MiddlewareMixin):
    """Ends sessions of another token before any page reads who is logged in."""

    def process_request(self, request: HttpRequest) -> None:
        end_if_of_another_token(request.session)


def end_if_of_another_token(session: SessionBase) -> None:
    """End a session that began under another token, or under none; one that nobody logged in to is left alone."""
    if SESSION_KEY in session and not constant_time_compare(session.get(TOKEN_MAC, ""), _current_mac()):
        session.flush()


@receiver(user_logged_in)
def bind_session(request: HttpRequest, **kwargs: Any) -> None:
    """Tie a session, a staff login's too, to the token of its day."""
    request.session[TOKEN_MAC] = _current_mac()


@receiver(user_logged_in)
def clear_sessions_away(**kwargs: Any) -> None:
    """Forget sessions that are over: nothing else does, and a login is rare enough."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


def _current_mac() -> str:
    return mac_of(settings.BENCHWARMERS_ADMIN_TOKEN)
