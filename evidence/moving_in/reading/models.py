"""Models: the registry of aliases, their roles and call options, those retired, and the names that they had before."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.moving_in.reading.fields import UnusableError, moment, table, text
from evidence.moving_in.reading.values import OldEndpoint, OldModel

SEATED = ("general", "code", "light", "vision")
# Roles that never sat on a panel: image generators, and what answers typed questions.
IMAGE, DECISION = "image", "decision"
BY_ITSELF = "auto"
# The registry is YAML, of which its writer and people use this much: one list of flat mappings, with headers below.
_ALIAS = re.compile(r"\s*-\s*model_id:\s*(.+?)\s*")
_FIELD = re.compile(r" {2,3}(\w+):\s*(.*?)\s*")


def read_registry(content: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Each model's line, alias and fields, such as model_name; the last entry of an alias that is there twice as well."""
    line, alias, fields = 0, "", dict[str, str]()
    for number, row in enumerate(content.splitlines(), 1):
        if found := _ALIAS.fullmatch(row):
            if alias:
                yield line, alias, fields
            line, alias, fields = number, _bare(found[1]), {}
        elif alias and (found := _FIELD.fullmatch(row)):
            fields[found[1]] = _bare(found[2])
    if alias:
        yield line, alias, fields


def registered(alias: str, fields: Mapping[str, str], endpoints: Mapping[str, OldEndpoint], roles: "Roles") -> OldModel:
    """One model of the registry. Raises UnusableError."""
    base, key = fields.get("api_base", "").rstrip("/"), fields.get("api_key_name", "")
    there = [one for one in endpoints.values() if one.base_url == base]
    if not fields.get("model_name"):
        raise UnusableError("no model_name")
    if not there:
        raise UnusableError("its api_base is no endpoint's")
    # A provider can be two endpoints of one base URL, each with a key of its own.
    endpoint = next((one for one in there if one.key_name == key), there[0])
    return OldModel(
        alias=alias,
        endpoint=endpoint.name,
        served_id=fields["model_name"],
        role=roles.of(alias),
        ad_hoc=alias in roles.ad_hoc,
        options=roles.options.get(alias, {}),
    )


def read_retired(alias: str, entry: Any) -> OldModel:
    """One retired model. Raises UnusableError."""
    if not isinstance(entry, dict):
        raise UnusableError("no object")
    role, at, why = text(entry, "role") or "general", moment(entry.get("at")), text(entry, "why").strip()
    if role == DECISION:
        raise UnusableError("a decision model that was retired; this bench keeps none")
    when = f"on {at:%Y-%m-%d} by {text(entry, 'by') or 'hand'}" if at else "before"
    return OldModel(
        alias=alias,
        endpoint=text(entry, "endpoint"),
        served_id=text(entry, "served", None),
        role=role,
        ad_hoc=entry.get("ad_hoc") is True,
        options=table(entry, "options"),
        retired=f"retired {when}{': ' + why if why else ''}",
        # Where a person did it, no job of this bench may take that back.
        retired_why=why if entry.get("by") == BY_ITSELF else "",
    )


class Roles:
    """What each alias is for, which are asked only by name, and how each is called."""

    def __init__(self, roles: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Raises UnusableError where a part of `roles` is of the wrong type."""
        self.roles = {alias: role for alias, role in table(roles, "models").items() if isinstance(role, str)}
        held = roles.get("ad_hoc") or []
        if not isinstance(held, list):
            raise UnusableError("ad_hoc is no list")
        self.ad_hoc = frozenset(alias for alias in held if isinstance(alias, str))
        self.options = {alias: given for alias, given in options.items() if isinstance(given, dict)}

    def of(self, alias: str) -> str:
        return self.roles.get(alias, "general")


def current(alias: str, renamed: Mapping[str, Any]) -> str:
    """The name that an alias goes by today; names that lead round in a circle stay as they are."""
    seen, name = {alias}, alias
    while isinstance(then := renamed.get(name), str):
        if then in seen:
            return alias
        seen.add(then)
        name = then
    return name


def _bare(value: str) -> str:
    return value.strip().strip("\"'")
