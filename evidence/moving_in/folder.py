"""The predecessor's folder: which files of it are read, and how they are opened without following them out of it."""

from pathlib import Path
from typing import BinaryIO

ENDPOINTS = "config/endpoints.json"
MODELS = "config/extra-openai-models.yaml"
OPTIONS = "config/model-options.json"
ALIASES = "config/alias-history.json"
ROLES = "config/model-roles.json"
RETIRED = "config/retired.json"
DECISION_MODELS = "config/decision-models.json"
GATEWAY = "config/gateway.json"
COLLECTIONS = "config/collections.json"
KEYS = "config/gateway-keys.json"
CALLS = "runs/gateway/calls.jsonl"
OFFLOADS = "metrics/offloads.jsonl"
MOST_SHOWN = 200
# By any of these a folder is known.
FILES = (ENDPOINTS, MODELS, ROLES, RETIRED, DECISION_MODELS, GATEWAY, COLLECTIONS, KEYS, CALLS, OFFLOADS)


class NotABenchError(Exception):
    """A folder that nothing can be brought over from; says why."""


class UnreadableError(Exception):
    """A file that is there and is not read; says why."""


class Folder:
    """A folder that has at least one of FILES."""

    def __init__(self, path: Path) -> None:
        """Raises NotABenchError."""
        try:
            if not path.is_dir():
                raise NotABenchError(f"{str(path)!a} is no folder" if path.exists() else f"there is no folder {str(path)!a}")
        except OSError as error:
            raise NotABenchError(f"{str(path)[:MOST_SHOWN]!a} cannot be read: {error.strerror}") from error
        self._path = path.resolve()
        if not any(self.has(name) for name in FILES):
            raise NotABenchError(
                f"{str(path)!a} has none of the files of Benchwarmers, the file-based predecessor. Name its data folder, the "
                f"one with {COLLECTIONS} and {OFFLOADS} in it."
            )

    def has(self, name: str) -> bool:
        """Whether something of that name is there, readable or not."""
        path = self._path / name
        try:
            return path.is_symlink() or path.exists()
        except OSError:
            # Nobody may look, so that opening it says why.
            return True

    def size(self, name: str) -> int:
        """Bytes, for telling how far one is; 0 where there is no telling."""
        try:
            return (self._path / name).stat().st_size
        except OSError:
            return 0

    def open(self, name: str) -> BinaryIO:
        """A file to read from. Raises UnreadableError."""
        try:
            # A link that leads out of the folder may read what nobody meant to bring over.
            found = (self._path / name).resolve(strict=True)
            if not found.is_relative_to(self._path):
                raise UnreadableError("a link that leads out of the folder: put the file itself there")
            # Asked before it is opened: a pipe would hold this up for ever.
            if not found.is_file():
                raise UnreadableError("no file")
            return found.open("rb")
        except RuntimeError as error:
            raise UnreadableError("a link that leads to itself") from error
        except OSError as error:
            raise UnreadableError(error.strerror or "cannot be read") from error
