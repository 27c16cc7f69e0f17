"""The secret that providers' keys are encrypted under: a file of its own in the data folder, readable by its owner alone.

Newest secret first; more than one only while the secret is being changed, or after that was cut short. Encrypts nothing.
"""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkstemp

NAME = "provider_key_secret"
SHORTEST = 40


class SecretFileError(Exception):
    """The file is missing or holds no secret: in words for a person, with what to do."""


def draw_secret() -> str:
    """A new secret of 384 bits."""
    return secrets.token_urlsafe(48)


def secrets_in(folder: Path) -> list[str]:
    """Return the secrets kept in `folder`. Raises SecretFileError."""
    path = folder / NAME
    try:
        kept = path.read_text(encoding="ascii").split()
    except FileNotFoundError:
        raise SecretFileError(f"the file {NAME} is not in the data folder") from None
    except (OSError, ValueError) as error:
        raise SecretFileError(f"the file {NAME} in the data folder cannot be read ({type(error).__name__})") from None
    if not kept or min(map(len, kept)) < SHORTEST:
        raise SecretFileError(f"the file {NAME} in the data folder does not hold what was written there")
    return kept


def secrets_made_in(folder: Path) -> list[str]:
    """Return the secrets kept in `folder`, making the first when there is no file. Raises SecretFileError."""
    write_once(folder / NAME, _lines([draw_secret()]))
    return secrets_in(folder)


def write_secrets(folder: Path, kept: Sequence[str]) -> None:
    """Have `folder` hold these secrets. At every moment, and after a crash, the file is the old one or the new, whole."""
    path = folder / NAME
    _draft(path, _lines(kept)).replace(path)
    _settle(folder)


def write_once(path: Path, text: str) -> None:
    """Write a file that its owner alone can read, unless there is one.

    Two processes that start together agree: the first to link its file in place wins.
    """
    if path.exists():
        return
    draft = _draft(path, text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    _settle(path.parent)


def _lines(kept: Sequence[str]) -> str:
    return "".join(f"{secret}\n" for secret in kept)


def _draft(path: Path, text: str) -> Path:
    # mkstemp's files are their owner's alone from the start.
    number, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(number, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(number)
    return Path(name)


def _settle(folder: Path) -> None:
    """Have the folder's own entry on disk: rows that are encrypted under a secret must not outlive its file's name."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
