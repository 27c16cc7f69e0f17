"""Who is asked: the collections of the benchmark, as the product loads them and as the bare fan-out knows them.

Plain values and a bench.toml; starts and measures nothing.
"""

SEATS = 5
FIVE = ("m-50", "m-62", "m-75", "m-87", "m-100")
SLOW = tuple(f"s{seat}-5000" for seat in range(1, SEATS + 1))
IDLE = ("idle-45000",)
EXPLORERS = tuple(f"e-{milliseconds}" for milliseconds in range(51, 100, 6))

# What each collection asks, so that the bare fan-out does the same work. Explorers of the product rotate; the fan-out's do not.
COLLECTIONS = {
    "bench/five": FIVE,
    "bench/slow5": SLOW,
    "bench/idle": IDLE,
    "bench/explore": ("m-50", "m-75", "m-100", *EXPLORERS[:2]),
}
MEMBERS = {"five": FIVE, "slow5": SLOW, "idle": IDLE, "explore": ("m-50", "m-75", "m-100")}

# How long the slowest seat's upstream takes, in seconds: what no server could be faster than.
SLOWEST = {"bench/five": 0.1, "bench/slow5": 5.0, "bench/idle": 45.0, "bench/explore": 0.1}


def bench_toml(upstream_url: str, *, explorers: int = 2) -> str:
    """The roster as a bench.toml, with so many explorers where members leave seats.

    Members are retiring: a member asked for by name, never an explorer.
    """
    lines = ["[endpoints.mock]", 'protocol = "openai_chat"', f'base_url = "{upstream_url}/v1"']
    for model in (*FIVE, *SLOW, *IDLE):
        lines += _model(model, status="retiring")
    for model in EXPLORERS:
        lines += _model(model, status="active")
    for name, members in MEMBERS.items():
        listed = ", ".join(f'"{member}"' for member in members)
        lines += [f"[collections.{name}]", f"members = [{listed}]", 'description = "Benchmark"', 'shape = "general"']
    lines += ["[limits]", f"max_calls = {SEATS}", f"max_explorers = {explorers}"]
    return "\n".join(lines) + "\n"


def _model(name: str, *, status: str) -> list[str]:
    fields = {"endpoint": "mock", "model": name, "role": "general", "status": status}
    return [f"[models.{name}]", *(f'{key} = "{value}"' for key, value in fields.items()), f'family = ["{name}"]']
