"""What a soak says in the end: a table of processes, a chart of their memory, a table of requests, and what was wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.scenarios import percentile
from benchmarks.soak.load import Seen
from benchmarks.soak.samples import Sample, slope

MOST_SLOPE = 1.0
BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60


def processes(by_part: Mapping[str, Sequence[Sample]], warm_up: float) -> Iterator[str]:
    heads = ("MiB: warm", "end", "most", "a minute", "threads", "files", "connections")
    yield f"{'':<10}" + "".join(f"{head:>12}" for head in heads)
    for name, samples in by_part.items():
        warm = next((sample for sample in samples if sample.minutes >= warm_up), samples[-1])
        last = samples[-1]
        figures = (warm.mib, last.mib, max(sample.mib for sample in samples))
        row = "".join(f"{figure:>12.1f}" for figure in figures) + f"{slope(samples, warm_up):>12.2f}"
        for kind in ("threads", "files", "connections"):
            row += f"{f'{getattr(warm, kind)} > {getattr(last, kind)}':>12}"
        yield f"{name:<10}{row}"


def chart(by_part: Mapping[str, Sequence[Sample]], warm_up: float) -> Iterator[str]:
    """A line for each part, each from its own least to its own most."""
    for name, samples in by_part.items():
        held = [sample.mib for sample in samples]
        least, most = min(held), max(held)
        drawn = [held[place * len(held) // WIDTH] for place in range(WIDTH)] if len(held) > WIDTH else held
        bars = "".join(BARS[min(7, int(8 * (mib - least) / max(most - least, 1.0)))] for mib in drawn)
        warm = int(len(drawn) * warm_up / max(samples[-1].minutes, 0.01))
        yield f"{name:<10} {least:7.1f} {bars[:warm]}|{bars[warm:]} {most:.1f} MiB"


def requests(seen: Seen) -> Iterator[str]:
    failed = Counter(kind for kind, _ in seen.faults)
    yield f"{'':<22}{'answered':>10}{'failed':>8}{'p50 ms':>9}{'p99 ms':>9}{'most':>9}"
    for kind in sorted({*seen.seconds, *failed}):
        taken = [1000 * seconds for seconds in seen.seconds.get(kind, ())]
        figures = (percentile(taken, 0.5), percentile(taken, 0.99), max(taken, default=float("nan")))
        yield f"{kind:<22}{len(taken):>10,}{failed[kind]:>8}" + "".join(f"{figure:>9.0f}" for figure in figures)


def too_steep(by_part: Mapping[str, Sequence[Sample]], warm_up: float) -> list[str]:
    """Parts whose memory grows too fast, or of which too little was seen to say."""
    return [name for name, samples in by_part.items() if not slope(samples, warm_up) < MOST_SLOPE]
