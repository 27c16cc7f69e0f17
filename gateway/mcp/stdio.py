"""The same tools over standard input and output, for a client on this machine: each call asks a running bench over HTTP."""

from gateway.client import Bench
from gateway.mcp.server import build_server


async def serve_stdio(url: str, key: str) -> None:
    """Serve until the client closes standard input. Whether a bench runs at `url` is found out by the first call.

    While it serves, whatever else in this process prints goes to standard error: standard output carries the protocol alone.
    """
    await build_server(lambda _: Bench(url, key=key)).run_stdio_async()
