"""How sure a share is, and where the middle of some times lies. Pure sums: knows no row.

A share is nowhere shown without how many it is of and its interval: three of three is no better known than that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# The normal quantile of 95 %, two-sided.
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Share:
    """`of` cases, `hits` of them; `low` and `high` bound the share behind them at 95 %. Of no case nothing is known: 0 to 1."""

    hits: int
    of: int
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


@lru_cache(maxsize=4096)
def wilson(hits: int, of: int) -> Share:
    """The Wilson score interval, without a continuity correction.

    E. B. Wilson, Journal of the American Statistical Association 22 (1927), pages 209 to 212. It keeps its level at few cases
    and at shares near 0 and 1, where the usual interval shrinks to nothing; recommended for few cases by L. D. Brown,
    T. T. Cai and A. DasGupta, Statistical Science 16 (2001), pages 101 to 133.
    """
    if of <= 0:
        return Share(0, 0, 0.0, 1.0)
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    # At 0 and at all, rounding must not put the bound beside where it is by definition.
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == of else min(1.0, middle + half)
    return Share(hits, of, low, high)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest of sorted `values` that at least that share of them does not exceed (nearest rank); None of none."""
    if not values:
        return None
    return values[max(0, math.ceil(share * len(values)) - 1)]
