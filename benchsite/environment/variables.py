"""Environment variables as they were written, and those of a .env file: what cannot be read is refused by its name.

Knows no setting. Neither a value nor a line is ever quoted: either may be a secret.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_FALSE = ("false", "off", "n", "no", "0", "")
_LINE = re.compile(r"(export )?[A-Za-z_0-9]+=.*|#.*|")


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
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            # Left out with a warning, as the library does, it would be a setting that is not set, and its text in a log.
            if line.strip() and not _LINE.fullmatch(line):
                raise ImproperlyConfigured(f"{path.name}, line {number}: NAME=value is its form, without spaces around the =.")
        self.read_env(path)
