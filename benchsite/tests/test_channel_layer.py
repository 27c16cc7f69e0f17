"""The channel layer that REDIS_URL gives."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchsite.processes import channel_layer
from benchsite.processes.channel_layer import channel_layer_by


def test_it_is_redis_where_redis_is_named():
    layer = channel_layer_by("redis://127.0.0.1:6379/2")
    assert layer["BACKEND"] == "channels_redis.core.RedisChannelLayer"
    assert layer["CONFIG"]["hosts"][0]["address"] == "redis://127.0.0.1:6379/2"


def test_it_is_this_process_without_redis():
    assert channel_layer_by("") == {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(channel_layer, "find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match="requirements-distributed"):
        channel_layer_by("redis://127.0.0.1:6379/2")
