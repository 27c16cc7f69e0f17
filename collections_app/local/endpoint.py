"""The local endpoint as `serve` uses it: there while it is wanted, retired while it is not, and never in the way.

What it is made of: wanted.py decides, install.py fetches, child.py runs the server, rows.py writes it down.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError

from collections_app.local import LocalModelUnavailableError, child, install, rows
from collections_app.local.wanted import wish

Report = Callable[[str], None]


@contextmanager
def local_endpoint(report: Report) -> Iterator[str | None]:
    """Run the local endpoint while the block runs, if it is wanted and can be had; yields its base URL, or None.

    `report` gets lines for people. Never raises: whatever goes wrong is reported, and the block runs without it.
    """

    def tell(line: str) -> None:
        report(f"Local model: {line}")

    with ExitStack() as stack:
        yield _start(stack, tell)


def _start(stack: ExitStack, tell: Report) -> str | None:
    wanted = wish()
    if not wanted.wanted:
        _stand_down(tell, wanted.why, loud=wanted.tell)
        return None
    try:
        install.install(settings.BASE_DIR / "requirements-local.txt", tell)
        base_url = _serve(stack)
        rows.put_in_place(base_url)
    except (LocalModelUnavailableError, OSError, IntegrityError) as error:
        stack.close()
        _stand_down(
            tell, f"{error}. Serving without it; the next start tries again. BENCH_LOCAL_MODEL=0 leaves it out", loud=True
        )
        return None
    tell(f"bench/{rows.COLLECTION} asks SmolLM2-135M at two settings, for trying the bench: not a second opinion")
    return base_url


def _serve(stack: ExitStack) -> str:
    """Start the model server, on the port of the last start when that is free: then no row changes."""
    port = child.free_port(preferred=urlsplit(rows.stored_base_url()).port or 0)
    command = child.server_command(port, rows.SERVED_ID, rows.WINDOW)
    log = settings.BENCH_DATA_DIR / "local-model.log"
    stack.enter_context(child.running(command, port, folder=settings.BASE_DIR, log=log))
    return f"http://{child.HOST}:{port}/v1"


def _stand_down(tell: Report, why: str, *, loud: bool) -> None:
    retired = rows.retire()
    if retired:
        tell(f"{' and '.join(retired)} retired")
    if retired or loud:
        tell(why)
