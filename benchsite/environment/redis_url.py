"""REDIS_URL, in the one form that queue, channel layer and counters understand alike; everything else is refused.

Opens no connection. Each of their libraries reads URLs in its own way: what one makes a database's number, another leaves out.
"""

import re
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured

FORM = "redis://user:password@host:6379/0"
_DATABASE = re.compile(r"/?|/\d{1,9}")
_CHECKS = "ssl_cert_reqs"
# What is said of TLS, and which values; None: any.
_TLS = {
    _CHECKS: ("none", "optional", "required"),
    "ssl_check_hostname": ("true", "false"),
    "ssl_ca_certs": None,
    "ssl_certfile": None,
    "ssl_keyfile": None,
}


def redis_url_in(written: str) -> str:
    """Return the URL, empty for none. Raises ImproperlyConfigured, which never quotes it: it may hold a password."""
    url = written.strip()
    if not url:
        return ""
    if why := _why_not(url):
        raise ImproperlyConfigured(f"REDIS_URL {why}.")
    if url.startswith("rediss:") and _CHECKS not in parse_qs(urlsplit(url).query):
        # The queue's library would take any certificate, and send whoever showed it the password.
        return f"{url}{'&' if '?' in url else '?'}{_CHECKS}=required"
    return url


def _why_not(url: str) -> str:
    if not url.startswith(("redis://", "rediss://")):
        return "begins with redis:// or rediss://"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"cannot be read: {FORM} is its form, and what stands for something else in it is written as %2F is for /"
    if not host:
        return f"names no host: {FORM} is its form"
    if parts.fragment:
        return "has a # in it: a password's is written as %23, and elsewhere there is none"
    if not _DATABASE.fullmatch(parts.path):
        return f"has after its host something else than a database's number: {FORM} is its form"
    return _why_no_query(parts.scheme, parts.query)


def _why_no_query(scheme: str, query: str) -> str:
    said = parse_qs(query, keep_blank_values=True)
    for name, values in said.items():
        known = _TLS.get(name, ()) if scheme == "rediss" else ()
        if known == ():
            return f"has a query that not all understand: {', '.join(_TLS)} is all that may be said, and of rediss:// alone"
        if len(values) > 1 or (known and values[0] not in known):
            return f"says {name} twice, or otherwise than {' or '.join(known or ('a path',))}"
    return ""
