"""The site's secret key: made on first start, kept in the data folder, readable by its owner alone."""

import secrets
from pathlib import Path

from collections_app.secret_file import write_once


def secret_key_in(folder: Path) -> str:
    """Return the key kept in `folder`, making it when there is none."""
    path = folder / "secret_key"
    write_once(path, secrets.token_urlsafe(64))
    return path.read_text()
