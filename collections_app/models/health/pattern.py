"""Ids that share one limit: a model's own id, or an account's pattern, `*` or `*:free`."""


def covers(pattern: str, served_id: str) -> bool:
    """Whether what is said of `pattern` holds for a model served under `served_id`."""
    return served_id.endswith(pattern[1:]) if pattern.startswith("*") else served_id == pattern
