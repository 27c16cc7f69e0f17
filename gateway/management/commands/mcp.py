"""python manage.py mcp: the bench as tools of an agent on this machine, over standard input and output."""

import asyncio
import signal
from typing import Any

from collections_app.management.base import BenchCommand
from gateway.conf import conf
from gateway.management.terminal import printable, somebody_is_there
from gateway.mcp.stdio import serve_stdio

HELP = """\
Serve a running bench's tools to an agent by the Model Context Protocol, over standard input and output.

An agent's client starts it; nobody types here. It asks the bench at BENCHWARMERS_URL (the one of this folder when unset), with
the gateway key in BENCHWARMERS_KEY where that bench asks for keys. A client that can speak HTTP needs no command: the bench
serves the same tools at /mcp.
"""
EXAMPLE = """
BENCHWARMERS_URL=http://127.0.0.1:8123 python manage.py mcp

As a client's configuration has it:
  {"mcpServers": {"bench": {"command": "/path/to/.venv/bin/python", "args": ["/path/to/manage.py", "mcp"]}}}
"""


class Command(BenchCommand):
    help = HELP
    example = EXAMPLE
    # It starts in the middle of an agent's work, and whether the bench's settings make sense is the bench's to say.
    checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        if somebody_is_there():
            bench = printable(conf.bench_url, 200)
            self.stderr.write(f"Serving the tools of {bench} to a client on standard input. Ctrl-C ends it.")
        # Python's own way waits for the thread that reads standard input, which ends with its next line alone.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(serve_stdio(conf.bench_url, conf.bench_key))
