"""Who runs the seats: a pool named by BENCH_WORKER_POOL, one for the process."""

from functools import cache
from typing import cast

from django.utils.module_loading import import_string

from gateway.conf import conf
from gateway.workers.contract import WorkerPool


@cache
def worker_pool() -> WorkerPool:
    """The process's worker pool."""
    return cast(WorkerPool, import_string(conf.worker_pool)())
