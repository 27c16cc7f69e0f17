"""The channel layer that REDIS_URL gives, as Django's settings say it: Redis, or this process's memory without one.

Opens no connection.
"""

from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured

CONNECT_SECONDS = 2.0
# Messages that may wait for one process to read them; what is beyond is dropped, and read from the database instead.
CAPACITY = 2000


def channel_layer_by(redis_url: str) -> dict[str, Any]:
    """Return CHANNEL_LAYERS["default"]. Raises ImproperlyConfigured."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    if find_spec("channels_redis") is None:
        raise ImproperlyConfigured(
            "REDIS_URL is set, and channels-redis is not installed: "
            "pip install --require-hashes -r requirements-distributed.txt"
        )
    host = {"address": redis_url, "socket_connect_timeout": CONNECT_SECONDS, "health_check_interval": 10}
    return {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [host], "capacity": CAPACITY, "prefix": "bench-channel"},
    }


def pages_layer_by(redis_url: str) -> dict[str, Any]:
    """Return CHANNEL_LAYERS["pages"], by which open pages hear of panels: one that does without Redis when that is away."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    return {"BACKEND": "benchsite.processes.pages.PagesLayer", "CONFIG": {"redis_url": redis_url}}
