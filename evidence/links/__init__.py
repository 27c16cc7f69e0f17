"""Verdict links: a verdict by a click in whatever window a reply is read in."""

from evidence.links.signing import LINK_DAYS, LinkRefused, LinkUsed, VerdictLink, link_path, read_link

__all__ = ["LINK_DAYS", "LinkRefused", "LinkUsed", "VerdictLink", "link_path", "read_link"]
