"""Network addresses as text: one value for each, however it is written."""

from ipaddress import IPv4Address, IPv6Address, ip_address

Address = IPv4Address | IPv6Address


def address_of(text: str) -> Address | None:
    """Read an address; None for any other text. IPv4 stays IPv4 where a socket that takes both writes ::ffff:203.0.113.7."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
