"""Whether a process has the secret of the bench whose Redis it reads, by what the web processes keep there, sealed.

A worker with another takes seats from the queue that it cannot open, and each waits until it is queued again. Guards nothing:
what was sealed otherwise opens nowhere (sealed.py).
"""

from gateway.workers.celery.parcels import redis_client
from gateway.workers.celery.sealed import SealError, seal, unseal

USE = "kinship"
SIGN = "bench-kinship"
# Written every second: soon after a bench has stopped, it may start with another secret.
KEPT_SECONDS = 10
STRANGER = (
    "The secret_key in this process's data folder (BENCH_DATA_DIR) is another than that of the web processes with the same "
    "REDIS_URL. Copy theirs, or give each bench a Redis database of its own"
)


def show_kinship() -> None:
    """Say for a while whose Redis this is. Raises RedisError, also where it answers and takes nothing."""
    redis_client().set(SIGN, seal(b"", USE), ex=KEPT_SECONDS)


def is_stranger() -> bool:
    """Whether another bench's web processes say that it is theirs. Raises RedisError."""
    sign = redis_client().get(SIGN)
    if not isinstance(sign, bytes):
        return False
    try:
        unseal(sign, USE)
    except SealError:
        return True
    return False
