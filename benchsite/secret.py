"""The site's secret key: made on first start, kept in the data folder, readable by its owner alone."""

import os
import secrets
from pathlib import Path


def secret_key_in(folder: Path) -> str:
    """Return the key kept in `folder`, making it when there is none.

    Two processes that start together agree: the first to link its file in place wins.
    """
    path = folder / "secret_key"
    if not path.exists():
        draft = folder / f".secret_key.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(64))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
