"""Environment variables as they were written, and those of a .env file: what cannot be read is refused by its name.

Knows no setting. Neither a value nor a line is ever quoted: either may be a secret.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_FALSE = ("false", "off", "n", "no", "0", "")
_NOTHING = re.compile(r"\s*(#.*)?")
_LINE = re.compile(r"(export )?[A-Za-z_0-9]+=.*")


class _AsWritten(Mapping[str, str]):
    """The environment as the library takes it literally. To it, a value that begins with $ is another variable's name: an
    admin token that does would be none, and open the bench.
    """

    def __getitem__(self, name: str) -> str:
        return os.environ[name].replace("$", r"\$")

    def __iter__(self) -> Iterator[str]:
        return iter(os.environ)

    def __len__(self) -> int:
        return len(os.environ)


class Environment(environ.Env):
    """Environment variables, whose errors name the variable."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ENVIRON = _AsWritten()  # type: ignore[assignment]
        self.escape_proxy = True

    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().get_value(var, *args, **kwargs)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} cannot be read: {error}.") from None

    def switch(self, var: str, *, default: bool) -> bool:
        """Whether it is on. Raises ImproperlyConfigured for what is neither on nor off, in quotes perhaps: what nobody
        understands must not turn a guard off.
        """
        said = self.str(var, default=str(default)).strip().lower()
        if said in self.BOOLEAN_TRUE_STRINGS or (said.isdecimal() and int(said)):
            return True
        if said not in _FALSE:
            raise ImproperlyConfigured(f"{var} cannot be read: it is 1 or 0, without quotes.")
        return False

    def read_file(self, path: Path) -> None:
        """Add what a .env file says, where there is one. Raises ImproperlyConfigured for a line that says nothing."""
        if not path.is_file():
            return
        lines = path.read_text(encoding="utf-8").splitlines()
        # The library would warn of a comment that does not begin its line, and write the text of it into a log.
        said = {number: line for number, line in enumerate(lines, 1) if not _NOTHING.fullmatch(line)}
        for number, line in said.items():
            # Left out with such a warning it would be a setting that is not set.
            if not _LINE.fullmatch(line):
                raise ImproperlyConfigured(f"{path.name}, line {number}: NAME=value is its form, without spaces around the =.")
        self.read_env(io.StringIO("\n".join(said.values())))
