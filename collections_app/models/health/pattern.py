"""Ids that share one limit: a model's own id, or an account's pattern, `*` or `*:free`."""

WHOLE_ACCOUNT = "*"


def is_pattern(served_id: str) -> bool:
    """Whether it stands for several ids of an account."""
    return served_id.startswith(WHOLE_ACCOUNT)


def covers(pattern: str, served_id: str) -> bool:
    """Whether what is said of `pattern` holds for a model served under `served_id`."""
    return served_id.endswith(pattern[1:]) if is_pattern(pattern) else served_id == pattern
