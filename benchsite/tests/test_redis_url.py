"""REDIS_URL means the same to every library that is given it, or is refused at the start, without its password."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu.utils.url import parse_url
from redis import Redis

from benchsite.environment.redis_url import redis_url_in


@pytest.mark.parametrize(
    ("url", "host", "port", "database", "password"),
    [
        ("redis://redis.internal:6380/3", "redis.internal", 6380, 3, None),
        ("redis://:p%40ss%25%2F%23@127.0.0.1/1", "127.0.0.1", None, 1, "p@ss%/#"),
        ("redis://bench:p%ss@[::1]:6379", "::1", 6379, 0, "p%ss"),
        ("rediss://:word@h/2?ssl_ca_certs=/etc/ca.pem", "h", None, 2, "word"),
    ],
)
def test_it_means_the_same_to_the_queue_and_to_all_else(url: str, host: str, port: int, database: int, password: str) -> None:
    given = redis_url_in(f" {url} ")
    queue, others = parse_url(given), Redis.from_url(given).connection_pool.connection_kwargs
    assert (queue["hostname"], queue["password"]) == (others["host"], others.get("password")) == (host, password)
    assert (queue["port"] or None) == others.get("port") == port
    assert int((queue["virtual_host"] or "/").strip("/") or 0) == others.get("db", 0) == database


def test_no_url_is_none() -> None:
    assert redis_url_in("") == ""


@pytest.mark.parametrize(
    ("written", "checks"),
    [("rediss://h/0", "required"), ("rediss://h/0?ssl_cert_reqs=none", "none"), ("rediss://h", "required")],
)
def test_a_certificate_is_checked_by_all_unless_the_url_says_otherwise(written: str, checks: str) -> None:
    given = redis_url_in(written)
    queue: dict[str, Any] = parse_url(given)["ssl"]
    assert (queue["ssl_cert_reqs"].value != 0) is (checks == "required")
    assert Redis.from_url(given).connection_pool.connection_kwargs["ssl_cert_reqs"] == checks


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("unix:///run/secret-word.sock", "begins with redis://"),
        ("REDIS://:secret-word@h", "begins with redis://"),
        ("$REDIS_URL", "begins with redis://"),
        ("redis://:secret-word#1@h/0", "cannot be read"),
        ("redis://:secret-word/1@h/0", "cannot be read"),
        ("redis://:secret-word?1@h/0", "cannot be read"),
        ("redis://:secret-word[1@h/0", "cannot be read"),
        ("redis://:secret-word@h:port/0", "cannot be read"),
        ("redis://:secret-word@h:70000/0", "cannot be read"),
        ("redis://", "names no host"),
        ("redis://:secret-word@/0", "names no host"),
        ("redis://h/0#secret-word", "has a # in it"),
        ("redis://:secret-word@h/bench", "database's number"),
        ("redis://:secret-word@h/2/", "database's number"),
        ("redis://:secret-word@h/0?db=1", "a query that not all understand"),
        ("redis://:secret-word@h/0?ssl_cert_reqs=none", "of rediss:// alone"),
        ("rediss://:secret-word@h/0?protocol=3", "a query that not all understand"),
        ("rediss://:secret-word@h/0?ssl_cert_reqs=CERT_NONE", "otherwise than none or optional or required"),
        ("rediss://:secret-word@h/0?ssl_ca_certs=/a&ssl_ca_certs=/b", "says ssl_ca_certs twice"),
    ],
)
def test_another_is_refused_without_its_password(url: str, told: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=told) as refused:
        redis_url_in(url)
    assert "secret-word" not in str(refused.value)
