"""Family lines from model ids: which models share weights or a teacher, and so fail together.

Reads an id, knows no provider and no row; the table it reads by is data (family_rules.toml).
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("family_rules.toml")

# What an id may begin with that says where it is served and not what it is.
HOSTS = re.compile(r"^(?:~|@cf/|models/|accounts/[^/]+/models/|(?:us|eu|apac|au|jp|ca|global|us-gov)\.|anthropic\.)")
VARIANT = re.compile(r":(?:free|thinking|extended|nitro|floor|online|exacto|beta|cloud)$")
ENDINGS = re.compile(r"@[\w.-]+$|-v\d+:\d+$")
VERSION_POINT = re.compile(r"(?<=\d)p(?=\d)")
# A size (70b, 8x7b, a3b), a version (v2, 3.5, k2) or a date; what follows a family's name rather than being part of it.
MEASURE = re.compile(r"[a-z]?\d[\dx.]*[a-z]{0,2}")


@dataclass(frozen=True)
class Rule:
    pattern: re.Pattern[str]
    lines: frozenset[str]
    otherwise: frozenset[str]
    mixes: bool
    short: bool


@dataclass(frozen=True)
class Table:
    version: int
    routers: re.Pattern[str]
    generic: frozenset[str]
    base: dict[str, re.Pattern[str]]
    rules: tuple[Rule, ...]


@cache
def table() -> Table:
    """The rules, read once a process."""
    data = tomllib.loads(TABLE.read_text())
    return Table(
        version=data["version"],
        routers=re.compile("|".join(f"(?:{pattern})" for pattern in data["routers"])),
        generic=frozenset(data["generic"]),
        base={line: _between_letters(match) for line, match in data["base"].items()},
        rules=tuple(_rule(row) for row in data["rules"]),
    )


def is_router(served_id: str) -> bool:
    """Whether the id names no model but something that chooses one, which may be a model already seated."""
    return table().routers.fullmatch(_normal(served_id)) is not None


@lru_cache(maxsize=4096)
def family_lines(served_id: str, hint: str = "") -> frozenset[str]:
    """Return every line whose weights or teacher the model behind `served_id` carries; none for a router.

    `hint` is what a catalog calls the family; it counts only where no rule does.
    """
    if is_router(served_id):
        return frozenset()
    normal = _normal(served_id)
    name = normal.rsplit("/", 1)[-1]
    rule = _rule_for(normal, name)
    lines = _lines_by(rule, name) if rule else frozenset()
    return lines or frozenset({hint.strip().lower().removesuffix("-free") or _leading_words(name) or normal})


def _rule_for(normal: str, name: str) -> Rule | None:
    rules = table().rules
    by_name = (rule for rule in rules if rule.pattern.search(name))
    by_whole = (rule for rule in rules if not rule.short and rule.pattern.search(normal))
    return next(by_name, None) or next(by_whole, None)


def _lines_by(rule: Rule, name: str) -> frozenset[str]:
    if not rule.mixes:
        return rule.lines
    return rule.lines | ({line for line, named in table().base.items() if named.search(name)} or rule.otherwise)


def _normal(served_id: str) -> str:
    """The id in one spelling, without what says where and how it is served."""
    text = served_id.strip().lower().replace("_", "-")
    while (shorter := HOSTS.sub("", VARIANT.sub("", text))) != text:
        text = shorter
    return VERSION_POINT.sub(".", ENDINGS.sub("", text))


def _leading_words(name: str) -> str:
    words = re.split(r"[-:\s]+", name)
    kept = words[:1]
    for word in words[1:]:
        if word.rstrip(".0123456789") in table().generic or MEASURE.fullmatch(word):
            break
        kept.append(word)
    return re.sub(r"(?<=[a-z])[\d.]+$", "", "-".join(kept))


def _rule(row: dict[str, Any]) -> Rule:
    return Rule(
        pattern=_between_letters(row["match"]),
        lines=frozenset(row["lines"]),
        otherwise=frozenset(row.get("otherwise", ())),
        mixes=row.get("mixes", False),
        short=row.get("short", False),
    )


def _between_letters(match: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{match})(?![a-z])")
