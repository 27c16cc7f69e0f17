"""The login page: the admin token, or a staff name and password, a few tries a minute."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.forms import AuthenticationForm
from unfold.widgets import BASE_INPUT_CLASSES

from benchsite.dashboard.local_login import is_local
from benchsite.dashboard.login_tries import LOOPBACK, login_tries, network_of

BEHIND_A_PROXY = "a proxy"


class LoginForm(AuthenticationForm):
    """One of two forms, told apart by which field was sent."""

    token = forms.CharField(
        label="Admin token",
        max_length=1000,
        help_text="The server's BENCHWARMERS_ADMIN_TOKEN.",
        widget=forms.PasswordInput(
            attrs={"autocomplete": "current-password", "autofocus": "", "class": " ".join(BASE_INPUT_CLASSES)}
        ),
    )

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.by_token = "token" in self.data
        if not settings.BENCHWARMERS_ADMIN_TOKEN:
            del self.fields["token"]
            self.by_token = False
            return
        del self.fields["token" if self.is_bound and not self.by_token else "username"].widget.attrs["autofocus"]
        for name in ("username", "password") if self.by_token else ("token",):
            self.fields[name].required = not self.is_bound

    def clean(self) -> dict[str, Any]:
        if not self.by_token:
            return dict(super().clean())
        self.user_cache = authenticate(self.request, admin_token=self.cleaned_data.get("token", ""))
        if self.user_cache is None:
            raise ValidationError("That is not the admin token.", code="invalid_login")
        self.confirm_login_allowed(self.user_cache)
        return dict(self.cleaned_data)


def login(request: HttpRequest) -> HttpResponse:
    """The admin's own login view, with its tries counted."""
    # The form's own address, without the query that Django would quote in the page.
    here = {"app_path": request.path}
    if request.method != "POST":
        return admin.site.login(request, here)
    address = request.META.get("REMOTE_ADDR", "")
    if network_of(address) == LOOPBACK and not is_local(request):
        # Through a proxy on this machine that is not trusted: all have one address, which is not the owner's.
        address = BEHIND_A_PROXY
    if wait := login_tries().take(address):
        return _too_many_tries(request, wait)
    right = False
    try:
        reply = admin.site.login(request, here)
        right = reply.status_code == 302
    finally:
        login_tries().judged(address, right=right)
    return reply


def _too_many_tries(request: HttpRequest, wait: int) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": "Too many tries", "wait": wait}
    headers = {"Retry-After": str(wait)}
    return TemplateResponse(request, "benchsite/too_many_tries.html", context, status=429, headers=headers)
