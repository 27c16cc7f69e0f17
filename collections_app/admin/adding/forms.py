"""What is typed into the pages that add models: a search, ports of this machine, a provider's key and account."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from collections_app.admin.endpoint_form import LONGEST_KEY
from collections_app.catalog.discover import LONGEST_SEARCH
from collections_app.catalog.onboarding.offers import fields_found
from collections_app.catalog.onboarding.probe_local import PORTS
from collections_app.catalog.providers import Provider
from collections_app.services.provider_keys import NO_KEY, is_key

TERMS = (
    ("", "any terms"),
    ("free", "free"),
    ("zero", "price zero"),
    ("quota", "free quota"),
    ("local", "local"),
    ("paid", "not known to be free"),
    ("plan", "included in a plan"),
)
WINDOWS = (("", "any window"), *((str(size), f"{size:,} or more") for size in (8_000, 32_000, 128_000, 200_000, 1_000_000)))
ORDERED = (
    ("", "free first"),
    ("newest", "newest first"),
    ("window", "largest window first"),
    ("price", "cheapest first"),
    ("provider", "by provider"),
    ("name", "by name"),
)
MOST_PORTS = 50


class WantedForm(forms.Form):
    text = forms.CharField(
        required=False,
        label="Search",
        max_length=LONGEST_SEARCH,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "search", "placeholder": "name, id, provider, family"}),
    )
    free = forms.ChoiceField(required=False, label="Terms", choices=TERMS, widget=UnfoldAdminSelectWidget)
    provider = forms.ChoiceField(required=False, label="Provider", widget=UnfoldAdminSelectWidget)
    window = forms.ChoiceField(required=False, label="Window", choices=WINDOWS, widget=UnfoldAdminSelectWidget)
    order = forms.ChoiceField(required=False, label="Sorted", choices=ORDERED, widget=UnfoldAdminSelectWidget)
    vision = forms.BooleanField(required=False, label="Takes images", widget=UnfoldBooleanWidget)
    tools = forms.BooleanField(required=False, label="Takes tools", widget=UnfoldBooleanWidget)
    reachable = forms.BooleanField(required=False, label="Reachable from here", widget=UnfoldBooleanWidget)
    new_family = forms.BooleanField(required=False, label="Family not on the bench yet", widget=UnfoldBooleanWidget)
    page = forms.IntegerField(required=False, min_value=1, max_value=10_000)

    def __init__(self, asked: QueryDict, counts: Mapping[str, int]) -> None:
        super().__init__(asked)
        named = [(name, f"{name} ({count:,})" if count else name) for name, count in counts.items()]
        self.fields["provider"] = forms.ChoiceField(
            required=False, label="Provider", choices=[("", "any provider"), *named], widget=UnfoldAdminSelectWidget
        )

    def clean_window(self) -> int:
        return int(self.cleaned_data["window"] or 0)

    @property
    def chosen(self) -> list[Any]:
        return [self[name] for name in ("text", "free", "provider", "window", "order")]

    @property
    def ticked(self) -> list[Any]:
        return [self[name] for name in ("vision", "tools", "reachable", "new_family")]


class PortsForm(forms.Form):
    ports = forms.CharField(
        required=False,
        max_length=300,
        label="Ports",
        help_text=f"Empty: the usual ones ({', '.join(str(port) for port in PORTS)}).",
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "8080, 11434", "autocomplete": "off"}),
    )

    def clean_ports(self) -> list[int]:
        words = str(self.cleaned_data["ports"]).replace(",", " ").split()
        if any(not (word.isascii() and word.isdecimal() and 0 < int(word[:6]) < 65536) for word in words):
            raise forms.ValidationError("Ports are numbers from 1 to 65535, with commas between.")
        if len(words) > MOST_PORTS:
            raise forms.ValidationError(f"At most {MOST_PORTS} ports at once.")
        return [int(word) for word in words]


class ProviderForm(forms.Form):
    """What a provider's URL needs, and its key where no variable of the environment holds one."""

    def __init__(self, provider: Provider, keys: tuple[str, ...], *args: Any) -> None:
        super().__init__(*args)
        found = fields_found(provider)
        for name in provider.url_env:
            self.fields[name] = forms.CharField(
                required=name not in found,
                max_length=200,
                help_text="Found in the environment; empty takes that." if name in found else "A part of its URL.",
                widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
                label=name,
            )
        if not keys:
            self.fields["key"] = forms.CharField(
                required=False,
                label="Key",
                max_length=LONGEST_KEY,
                help_text="Kept encrypted, sent to this provider's host alone, and never shown again.",
                # Not a login: a browser must not fill in, or offer to keep, what is typed here.
                widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
            )

    def clean_key(self) -> str:
        key = str(self.cleaned_data["key"])
        if not is_key(key):
            raise forms.ValidationError(NO_KEY)
        return key

    @property
    def url_fields(self) -> dict[str, str]:
        """The values for the variables in the URL that were typed in."""
        return {name: value for name, value in self.cleaned_data.items() if name != "key" and value}
