"""URLs out of a feed: which a stranger's list may name as a place to send prompts and keys to.

Stricter than an operator's own word (models/base_url.py): no private network, and http:// for this machine alone.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from collections_app.models.base_url import PRIVATE_DOMAINS, check_base_url

LONGEST = 500
VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,59})\}")
# What stands for a variable while a URL is judged: the operator's own word for it is judged when it is known.
_ANYTHING = "variable.example"


def feed_url_problem(url: str) -> str:
    """Why a feed's base URL is not taken; nothing when it may be. ${VARIABLES} in it are an operator's to fill."""
    if len(url) > LONGEST:
        return f"its URL is longer than {LONGEST} characters"
    filled = VARIABLE.sub(_ANYTHING, url)
    if filled.startswith(_ANYTHING):
        filled = f"https://{filled}"
    try:
        check_base_url(filled)
    except ValidationError as error:
        return " ".join(error.messages)
    if is_loopback(filled):
        return ""
    if not filled.startswith("https://"):
        return "its URL is not https://"
    return "" if _is_public(urlsplit(filled).hostname or "") else "its URL is in a private network"


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_public(host: str) -> bool:
    try:
        return ip_address(host).is_global
    except ValueError:
        name = host.removesuffix(".")
        return "." in name and not name.endswith(PRIVATE_DOMAINS)
