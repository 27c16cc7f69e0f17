"""The settings of a server that fails on purpose, as loudly as it can: every error quotes the whole request."""

from benchsite.settings import *  # noqa: F403

ROOT_URLCONF = "benchsite.tests.failing_site"
BENCH_WORKER_POOL = "benchsite.tests.failing_site.LoudPool"
