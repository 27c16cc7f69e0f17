"""The form of an endpoint: its row, and a key that can be typed in and never read back."""

from typing import Any

from django import forms
from django.conf import settings
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanWidget

from collections_app.models import Endpoint
from collections_app.secret_file import SecretFileError, secrets_made_in
from collections_app.services.provider_keys import NO_KEY, is_key

LONGEST_KEY = 4_000


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    new_key = forms.CharField(
        required=False,
        label="Key",
        max_length=LONGEST_KEY,
        # Not a login: a browser must not fill in, or offer to keep, what is typed here.
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
        help_text="Kept encrypted, sent to the base URL's host alone, and never shown again; empty leaves the stored one.",
    )
    clear_key = forms.BooleanField(required=False, label="Clear the stored key", widget=UnfoldBooleanWidget)

    class Meta:
        model = Endpoint
        fields = "__all__"  # noqa: DJ007 (the admin's fieldsets name them)

    def clean_new_key(self) -> str:
        key = str(self.cleaned_data["new_key"])
        if not is_key(key):
            raise forms.ValidationError(NO_KEY)
        if key:
            self._check_secret()
        return key

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("new_key") and cleaned.get("clear_key"):
            self.add_error("new_key", "Either type a new key in or clear the stored one.")
        if cleaned.get("new_key") and cleaned.get("protocol") == Endpoint.Protocol.LLM_CLI:
            self.add_error("new_key", "The llm command keeps its own keys: run llm keys set, or name an environment variable.")
        return cleaned

    def _check_secret(self) -> None:
        try:
            secrets_made_in(settings.BENCH_DATA_DIR)
        except SecretFileError as error:
            raise forms.ValidationError(f"No key can be kept: {error}. Put that file back, or delete it.") from None
