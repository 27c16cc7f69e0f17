"""Whether the local endpoint is wanted: as the setting says, or because nothing else is configured.

Decides and explains; installs, starts and writes nothing.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from collections_app.local.rows import NAME, is_ours
from collections_app.models import Endpoint


@dataclass(frozen=True, slots=True)
class Wish:
    """`why` is for people; `tell` when they would otherwise wonder."""

    wanted: bool
    why: str
    tell: bool = False


@cache
def provider_keys() -> tuple[str, ...]:
    """The environment variables in which providers' keys are usually kept. Credentials of wider use, such as
    GITHUB_TOKEN, are left out: that one is set says nothing about models.
    """
    return tuple((Path(__file__).parent / "provider_keys.txt").read_text().split())


def wish(environ: Mapping[str, str] = os.environ) -> Wish:
    """Say whether the local endpoint should run now, and why or why not."""
    setting = settings.BENCH_LOCAL_MODEL
    if setting == "0":
        return Wish(False, "BENCH_LOCAL_MODEL is 0")
    if setting not in ("auto", "1"):
        return Wish(False, f"BENCH_LOCAL_MODEL is {setting!r}, and takes auto, 1 or 0", tell=True)
    if Endpoint.objects.filter(name=NAME).exists() and not is_ours():
        return Wish(False, f"an endpoint of your own is named {NAME}", tell=setting == "1")
    return Wish(True, "BENCH_LOCAL_MODEL is 1") if setting == "1" else _nothing_else(environ)


def _nothing_else(environ: Mapping[str, str]) -> Wish:
    others = Endpoint.objects.exclude(name=NAME).values_list("name", flat=True)
    if others:
        return Wish(False, f"{', '.join(others[:3])} {'is' if len(others) == 1 else 'are'} configured")
    keys = [name for name in provider_keys() if environ.get(name)]
    if keys:
        return Wish(
            False,
            f"{keys[0]} is set. Add its endpoint, or set BENCH_LOCAL_MODEL=1 for a small model of this machine",
            tell=True,
        )
    return Wish(True, "nothing else is configured")
