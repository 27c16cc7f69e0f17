"""Seats on other machines: the pool that queues them, and the workers that ask. Named by BENCH_WORKER_POOL, else not loaded."""

from gateway.workers.celery.pool import CeleryWorkerPool

__all__ = ["CeleryWorkerPool"]
