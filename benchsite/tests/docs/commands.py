"""docs/commands.md as the commands say it: each with its words, its arguments and its example. Runs none of them."""

import argparse
import inspect
from pathlib import Path

from django.core import management
from django.core.management import find_commands, get_commands, load_command_class

from collections_app.management.base import BenchCommand

# Where in the page what is written by hand ends.
BEGINS = "<!-- written from --help -->"


def names() -> list[str]:
    """Our own commands, by name; none of Django's that only run in our way."""
    ours = {"benchsite", "gateway", "evidence", "keys", "collections_app"}
    djangos = find_commands(str(Path(management.__file__).parent))
    return sorted(name for name, app in get_commands().items() if app in ours and name not in djangos)


def page() -> str:
    """Everything behind BEGINS."""
    return "\n\n".join(section(name) for name in names()) + "\n"


def section(name: str) -> str:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, BenchCommand), f"{name} has no example"
    parser = command.create_parser("manage.py", name)
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    table = ["| argument | |", "|---|---|", *map(row, shown)] if shown else []
    example = ["```text", inspect.cleandoc(command.example), "```"]
    return "\n".join([f"## {name}", "", words(command.help), "", *([*table, ""] if table else []), *example])


def words(text: str) -> str:
    """Help as Markdown: lines that hang together stay lines, and nothing in it is a heading or a tag."""
    return "\n".join(line.rstrip().replace("<", "&lt;") for line in inspect.cleandoc(text).splitlines())


def row(action: argparse.Action) -> str:
    told = (action.help or "").replace("|", "\\|").replace("%%", "%")
    return f"| `{invocation(action)}` | {told} |".replace("|  |", "| |")


def invocation(action: argparse.Action) -> str:
    """An argument as it is typed: -f, --file FILE."""
    value = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    if action.choices and not action.metavar:
        value = ",".join(map(str, action.choices))
    if not action.option_strings:
        return str(value) if action.nargs not in ("?", "*") else f"[{value}]"
    takes = "" if action.nargs == 0 else f" {value}" + (" ..." if action.nargs in ("*", "+") else "")
    return ", ".join(action.option_strings) + takes
