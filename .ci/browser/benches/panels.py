"""A bench whose panels have every kind of seat, and what its panels are asked."""

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer

MODELS = {
    "quick": {"model": "say-No-stale-read-here."},
    "echo": {"model": "echo"},
    "thinking": {"model": "think-tags"},
    "late": {"model": "slow-2.5"},
    "failing": {"model": "err-503"},
    "silent": {"model": "empty"},
    "gone": {"model": "say-gone", "status": "retired"},
}
COLLECTIONS = {
    "core": ["echo", "quick", "thinking", "failing", "silent", "gone"],
    "live": ["quick", "late", "echo"],
    "linked": ["quick"],
}
PROMPT = """Is there a race in `admit`?

# What I see

The **lock** is taken *twice*:

1. once in `take`, which holds it while it asks the database and everybody else waits
2. once in `put`

```python
def take(self, network: str) -> int:
    with self._lock:  # and here is a line that is longer than any narrow screen is wide, so that it has to be scrolled
        return self._limiter.test(FROM_ONE, network)
```

| where | holds | for |
|---|---|---|
| take | lock | 12 ms |

> Said in review: see [the docs](https://docs.example/locks).
"""


def bench_of(upstream_url: str) -> str:
    bench = bench_file(upstream_url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    return bench.replace("[collections.linked]", "[collections.linked]\nverdict_links = true")


def ask(server: RunningServer, collection: str, prompt: str = PROMPT) -> str:
    reply = server.chat(f"bench/{collection}", prompt)
    assert reply.status == 200, reply.body
    return reply.json["bench"]["panel"]


def path_of(server: RunningServer, panel_id: str) -> str:
    return f"/admin/evidence/panel/of/{panel_id}/"


def verdicts_of(server: RunningServer, panel_id: str) -> list[tuple]:
    return server.rows(
        "SELECT c.seat_name, v.useful, v.note, v.real FROM evidence_verdict v JOIN evidence_call c ON c.id = v.call_id "
        "JOIN evidence_panel p ON p.id = c.panel_id WHERE p.panel_id = ? ORDER BY v.id",
        panel_id,
    )
