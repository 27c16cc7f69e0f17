"""The same model elsewhere: an id without what says by whom and how it is served. No family: size and version stay."""


def same(served_id: str) -> str:
    """Return the model itself, wherever it is served: equal for two ids of one model."""
    return served_id.strip().lower().rpartition("/")[2]
