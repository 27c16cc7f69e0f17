"""Family lines from model ids: which models share weights or a teacher, and so fail together.

Reads an id, knows no provider and no row; the table it reads by is data.
"""


def family_lines(served_id: str) -> frozenset[str]:
    """Return every line whose weights or teacher the model behind `served_id` carries; none for a router."""
    return frozenset({served_id.rsplit("/", 1)[-1].split(":")[0].lower()})
