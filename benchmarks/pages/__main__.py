"""Every page of the dashboard on a large bench: its time, of the clock and of the processor, and its queries.

Run as `python -m benchmarks.pages [FOLDER]`. The bench is made in that folder once, in about a minute, and kept; without one
it is made in a temporary folder. Exits 1 when a page takes longer, or asks more, than it may.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import django
from django.core.management import call_command
from django.utils.module_loading import import_string

MOST_MS, MOST_QUERIES = 400.0, 40
# Of the clock: a database that is another process does its work there.
MOST_CLOCK_MS = 1500.0


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="benchsite-pages-") as made:
        os.environ |= {"BENCH_DATA_DIR": str(args.folder or made), "BENCHWARMERS_ADMIN_TOKEN": ""}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
        django.setup()
        call_command("migrate", verbosity=0)
        # Models can be imported from here on, and no sooner.
        if not import_string("evidence.models.Panel").objects.exists():
            print(f"Making the bench in {os.environ['BENCH_DATA_DIR']}")
            import_string("benchmarks.pages.rows.fill")()
        return report(args.only)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where the bench is made, and kept")
    parser.add_argument("--only", default="", metavar="WORDS", help="pages whose address has these words in it")
    return parser.parse_args()


def report(only: str) -> int:
    """Print a line a page as it is measured; returns the exit code."""
    limits = f"at most {MOST_MS:.0f} ms of the processor, {MOST_CLOCK_MS:.0f} of the clock, {MOST_QUERIES} queries"
    print(f"{'ms':>6} {'cpu ms':>7} {'queries':>8}   ({limits})")
    over = 0
    for cost in import_string("benchmarks.pages.visiting.costs")(only):
        within = cost.status < 400 and cost.cpu < MOST_MS and cost.clock < MOST_CLOCK_MS and cost.queries <= MOST_QUERIES
        over += not within
        note = "" if within else f"   {f'status {cost.status}' if cost.status >= 400 else 'OVER'}"
        print(f"{cost.clock:6.0f} {cost.cpu:7.0f} {cost.queries:8}   {cost.path}{note}", flush=True)
    print(f"{over} over" if over else "all within")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
