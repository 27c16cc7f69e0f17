"""The size ceilings of pyproject.toml, [tool.benchsite.sizes]: no module, function or folder above them.

Tests and migrations are not held to them; complexity and arguments are ruff's to check.
Run from the top of the repository: prints what is too large, and exits 1 when anything is.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOTS = ("benchsite", "gateway", "evidence", "keys", "collections_app", "benchmarks", ".ci")
FREE = {"tests", "migrations"}


@dataclass(frozen=True, slots=True)
class Size:
    """How large one thing is: `where` names it as an exception in pyproject.toml would."""

    where: str
    kind: str
    size: int


def modules() -> Iterator[Path]:
    for root in ROOTS:
        for path in sorted(Path(root).rglob("*.py")):
            if not FREE & set(path.parts):
                yield path


def kind_of(path: Path) -> str:
    shared = {"__init__", "contract", "reading"}
    return "wire_format" if path.parent.as_posix() == "gateway/wire" and path.stem not in shared else "module"


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, int]]:
    """Yield every function's dotted name and lines, from its `def`, decorators apart, to its last."""
    for node in ast.iter_child_nodes(tree):
        name = f"{within}.{node.name}" if within and hasattr(node, "name") else getattr(node, "name", within)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, (node.end_lineno or node.lineno) - node.lineno + 1
        yield from functions(node, name)


def measure() -> Iterator[Size]:
    folders = Counter[str]()
    for path in modules():
        text = path.read_text()
        yield Size(path.as_posix(), kind_of(path), len(text.splitlines()))
        for name, lines in functions(ast.parse(text)):
            yield Size(f"{path.as_posix()}::{name}", "function", lines)
        if path.stem not in ("__init__", "apps"):
            folders[f"{path.parent.as_posix()}/"] += 1
    for folder, count in folders.items():
        yield Size(folder, "folder", count)


def complaints(rules: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each thing above its ceiling, badly named, or allowed more than it needs."""
    exceptions: dict[str, Any] = rules["exceptions"]
    large = {found.where: found for found in measure() if found.size > rules[found.kind]}
    for found in large.values():
        allowed = exceptions.get(found.where, {}).get("allowed", rules[found.kind])
        if found.size > allowed:
            yield f"{found.where}: {found.size}, and {allowed} is the ceiling of a {found.kind.replace('_', ' ')}"
    for where in exceptions.keys() - large.keys():
        yield f"{where}: needs no exception any more"
    for where in [where for where, exception in exceptions.items() if not exception.get("why")]:
        yield f"{where}: an exception says why"
    for path in modules():
        if path.stem in rules["forbidden_names"]:
            yield f"{path}: name it by what is in it"


def main() -> int:
    rules = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["benchsite"]["sizes"]
    found = list(complaints(rules))
    print("\n".join(found) or "Sizes: all within their ceilings.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
