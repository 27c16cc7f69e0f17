import pytest
from hypothesis import given, strategies

from evidence.counting.statistics import quantile, wilson

# R. G. Newcombe, Statistics in Medicine 17 (1998), pages 857 to 872, table I, method 3: four digits.
KNOWN = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("hits", "of", "low", "high"), KNOWN)
def test_the_interval_is_wilsons(hits: int, of: int, low: float, high: float) -> None:
    share = wilson(hits, of)
    assert (share.low, share.high) == pytest.approx((low, high), abs=5.1e-5)


def test_of_nothing_nothing_is_known() -> None:
    share = wilson(0, 0)
    assert (share.of, share.low, share.high) == (0, 0.0, 1.0)


@given(strategies.integers(1, 10**7).flatmap(lambda of: strategies.tuples(strategies.integers(0, of), strategies.just(of))))
def test_it_holds_the_share_and_shrinks_with_more(counts: tuple[int, int]) -> None:
    hits, of = counts
    share, more = wilson(hits, of), wilson(2 * hits, 2 * of)
    assert 0 <= share.low <= hits / of <= share.high <= 1
    assert more.width < share.width
    assert wilson(of - hits, of).low == pytest.approx(1 - share.high)


def test_quantiles_are_values_that_were_there() -> None:
    assert quantile([], 0.5) is None
    assert quantile([7.0], 0.95) == 7.0
    assert [quantile([1, 2, 3, 4], share) for share in (0.0, 0.25, 0.5, 0.51, 1.0)] == [1, 1, 2, 3, 4]
    assert quantile(list(range(1, 101)), 0.95) == 95
