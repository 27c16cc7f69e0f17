"""Every environment variable is told in three places: settings.py reads it, .env.example and README.md explain it.

Compares names, order and defaults; whether the words are right is for people.
Run from the top of the repository: prints what differs, and exits 1 when anything does.
"""

import ast
import re
import sys
from pathlib import Path

Variables = list[tuple[str, str]]


def in_settings(text: str) -> Variables:
    """Return (name, default) of every `env.<type>("NAME", default=...)` in the order of the file."""
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="env")), args=[ast.Constant(value=str(name))]):
                default = next((ast.literal_eval(word.value) for word in node.keywords if word.arg == "default"), None)
                found.append((node.lineno, name, written(default)))
    return [(name, default) for _, name, default in sorted(found)]


def written(default: object) -> str:
    """A default as a person writes it: nothing for none."""
    if isinstance(default, bool):
        return "1" if default else "0"
    return str(default) if isinstance(default, int | float) or default else ""


def in_example(text: str) -> Variables:
    return re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", text, re.MULTILINE)


def in_readme(text: str) -> Variables:
    rows = re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \|", text, re.MULTILINE)
    return [(name, "" if default == "none" else default.split("`")[1]) for name, default in rows]


def main() -> int:
    settings = in_settings(Path("benchsite/settings.py").read_text())
    told = {".env.example": in_example(Path(".env.example").read_text()), "README.md": in_readme(Path("README.md").read_text())}
    wrong = False
    for place, variables in told.items():
        for missing in [one for one in settings if one not in variables]:
            print(f"{place} lacks {'='.join(missing)}")
        for foreign in [one for one in variables if one not in settings]:
            print(f"{place} has {'='.join(foreign)}, which settings.py does not read so")
        if sorted(settings) == sorted(variables) and settings != variables:
            print(f"{place} has the variables in another order than settings.py")
        wrong = wrong or settings != variables
    if not wrong:
        print(f"Environment: {len(settings)} variables, told alike in three places.")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
