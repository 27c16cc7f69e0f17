"""What the public catalogs said when this release was made, for a first run offline: their documents, cut down to what is free.

Read as the real ones are, by the same readers. A refresh replaces it; nothing here is newer than shipped/README.md says.
"""

from pathlib import Path

SHIPPED = Path(__file__).with_name("shipped")


def models_dev() -> bytes:
    """models.dev's document: every provider, and of their models those at price 0 and those with a free quota."""
    return (SHIPPED / "models_dev.json").read_bytes()


def freellmapi() -> bytes:
    """FreeLLMAPI's document: routes that are free, and the limits that an account shares."""
    return (SHIPPED / "freellmapi.json").read_bytes()
