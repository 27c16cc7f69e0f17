"""The dashboard as installed: open to this machine, whose user is `local`.

Checks nothing about the request but where it comes from; foreign hosts and cross-site requests never get this far
(gateway/edge.py). With an admin token set it does nothing, and the admin asks for a login.
"""

from typing import cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from benchsite.addresses import address_of
from gateway.origins import came_through_a_proxy


def is_local(request: HttpRequest) -> bool:
    """Whether the request was made on this machine, by nobody in between."""
    address = address_of(request.META.get("REMOTE_ADDR", ""))
    return address is not None and address.is_loopback and not came_through_a_proxy(request.headers)


def signed_in(request: HttpRequest) -> User | AnonymousUser:
    """Return who the session says it is, else the user `local`, made when there is none yet."""
    user = get_user(request)
    if user.is_authenticated:
        return user
    # No login(): a session for each request of a caller without cookies would fill the table.
    local, _ = get_user_model().objects.get_or_create(
        username="local", defaults={"is_staff": True, "is_superuser": True, "password": make_password(None)}
    )
    return local


class LocalLoginMiddleware(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> None:
        if settings.BENCHWARMERS_ADMIN_TOKEN or not request.path.startswith(reverse("admin:index")):
            return
        if is_local(request):
            request.user = cast(User, SimpleLazyObject(lambda: signed_in(request)))
            request.auser = lambda: sync_to_async(signed_in)(request)
