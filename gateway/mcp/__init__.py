"""Agents: the bench as tools of the Model Context Protocol, at /mcp and on stdio, by the official SDK.

A client of the bench like any other (gateway/client): it reaches no row, no panel and no format but by asking for it.
"""

# In a request's scope: the app that its tools ask.
BENCH_KEY = "bench.app"
