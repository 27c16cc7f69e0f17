"""Base URLs: where prompts and keys may be sent, and what counts as the same place.

Judges the text alone: what a name resolves to is asked when a seat is.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.core.exceptions import ValidationError

DEFAULT_PORTS = {"http": 80, "https": 443}
# Networks of one's own, where a server has no certificate that anybody would know; loopback beside them.
PRIVATE = [ip_network(network) for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]
# Names that no public server can have: RFC 6762, 6761, 8375, and what ICANN keeps for private use.
PRIVATE_DOMAINS = (".local", ".localhost", ".home.arpa", ".internal")

# Exactly what one library reads as a host, all others do.
_NAME = re.compile(r"[a-z0-9]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]*[a-z0-9])?)*\.?")
# What resolvers take for an address, however it is written: 0x7f000001, 127.1.
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")

Address = IPv4Address | IPv6Address


def check_base_url(url: str) -> None:
    """Raise ValidationError for a base URL that prompts and keys must not be sent to."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValidationError(f"Not a URL: {error}.") from error
    if parts.scheme not in DEFAULT_PORTS or not host or port == 0:
        raise ValidationError("An http:// or https:// URL, such as https://openrouter.ai/api/v1.")
    if parts.username is not None or parts.password is not None:
        raise ValidationError("No user name or password in the URL: the key has fields of its own.")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValidationError("No query and no fragment: routes are added to the end of this URL.")
    # Some libraries end the host at a backslash, others do not: what is checked must be what is called.
    if "\\" in url or re.search(r"\s", url):
        raise ValidationError("No backslash and no white space in the URL.")
    _check_host(host, parts)


def origin_of(url: str) -> str:
    """Return scheme, host and port: what a key is bound to. Empty for what is no URL.

    Two URLs with one origin are called at the same place; of two spellings of one place, some count as two.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in DEFAULT_PORTS or not host:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{parts.scheme}://{shown}:{port}"


def is_near(url: str) -> bool:
    """Whether it leads to this machine or to a private network; not for what is no URL."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return bool(host) and _is_near(str(host), _address(str(host)))


def _check_host(host: str, parts: SplitResult) -> None:
    address = _address(host)
    if address is None and not _NAME.fullmatch(host):
        raise ValidationError("The host is a name of ASCII letters, digits, dashes and dots (an international one as xn--...).")
    if address is None and _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]):
        raise ValidationError("An IPv4 address is four decimal numbers, such as 192.168.1.7.")
    if address and (address.is_unspecified or address.is_multicast):
        raise ValidationError(f"{host} is no server's address. A server of this machine is at 127.0.0.1.")
    if address and address.is_link_local:
        # Where clouds hand out their machines' credentials.
        raise ValidationError("Link-local addresses are not called: a cloud's metadata is there, and no model.")
    if parts.scheme == "http" and not _is_near(host, address):
        raise ValidationError(
            "Prompts and keys go to public hosts over https:// alone. http:// is for this machine and private networks: "
            "127.0.0.1, 10.x, 172.16-31.x, 192.168.x, fc00::/7, names without a dot, *.local, *.internal."
        )


def _address(host: str) -> Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _is_near(host: str, address: Address | None) -> bool:
    """Whether the way there stays on this machine or in a private network."""
    if address:
        return address.is_loopback or any(address in network for network in PRIVATE)
    name = host.removesuffix(".")
    return "." not in name or name.endswith(PRIVATE_DOMAINS)
