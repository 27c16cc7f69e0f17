"""Verdicts as a number of this process: those given over it, by callers, by links and on the dashboard."""

from prometheus_client import Counter

VERDICTS = Counter("bench_verdicts", "Verdicts that were written down.", ["useful"])
