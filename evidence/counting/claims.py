"""Unique finds: claims that held, on one seat of a panel alone.

Known only where another seat was judged as well; two claims are one when their words are, whatever the case and the spaces.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from evidence.models import Call, Verdict


def find_unique(panel: int) -> None:
    """Count the unique finds of every seat of a panel, by the verdicts that count now, and write down what changed.

    A merger repeats what others found: its claims neither are finds nor take one away.
    """
    counting = Verdict.objects.filter(call__panel=panel, replaced_at=None).exclude(call__seat_name=Call.MERGER)
    verdicts = list(counting.only("real", "unique_finds"))
    for verdict, finds in zip(verdicts, unique_of([verdict.real for verdict in verdicts]), strict=True):
        if verdict.unique_finds != finds:
            Verdict.objects.filter(pk=verdict.pk).update(unique_finds=finds)


def unique_of(seats: Sequence[Iterable[str]]) -> list[int]:
    """How many claims of each seat no other seat has; none where one seat alone was judged."""
    said = [same(claims) for claims in seats]
    if len(said) < 2:
        return [0] * len(said)
    seats_with = Counter(claim for claims in said for claim in claims)
    return [sum(seats_with[claim] == 1 for claim in claims) for claims in said]


def same(claims: Iterable[str]) -> set[str]:
    """Claims as they are compared."""
    return {" ".join(claim.casefold().split()) for claim in claims}
