"""The gateway's settings, read when used, so that override_settings works everywhere."""

from django.conf import settings


class Conf:
    @property
    def asks_through_llm(self) -> bool:
        return bool(settings.BENCH_CLIENT == "llm")

    @property
    def seat_timeout(self) -> float:
        return float(settings.BENCH_SEAT_TIMEOUT)

    @property
    def first_token_timeout(self) -> float:
        return float(settings.BENCH_FIRST_TOKEN_TIMEOUT)

    @property
    def connect_timeout(self) -> float:
        return float(settings.BENCH_CONNECT_TIMEOUT)

    @property
    def seat_workers(self) -> int:
        return int(settings.BENCH_SEAT_WORKERS)

    @property
    def worker_pool(self) -> str:
        return str(settings.BENCH_WORKER_POOL)

    @property
    def max_body_bytes(self) -> int:
        return int(settings.BENCH_MAX_BODY_BYTES)

    @property
    def keepalive_seconds(self) -> float:
        return float(settings.BENCH_KEEPALIVE_SECONDS)

    @property
    def traces(self) -> bool:
        """Whether spans are wanted, and can be made."""
        return bool(settings.BENCH_TRACES)

    @property
    def version(self) -> str:
        return str(settings.BENCH_VERSION)

    @property
    def port(self) -> int:
        return int(settings.BENCH_PORT)

    @property
    def bench_url(self) -> str:
        """The running bench that commands and agents ask."""
        return str(settings.BENCHWARMERS_URL) or f"http://127.0.0.1:{self.port}"

    @property
    def bench_key(self) -> str:
        """The gateway key that they send, or nothing."""
        return str(settings.BENCHWARMERS_KEY)

    @property
    def allowed_origins(self) -> list[str]:
        return list(settings.BENCH_ALLOWED_ORIGINS)

    @property
    def public_url(self) -> str:
        """The URL that others use, as browsers write an origin (bench.E003), or nothing."""
        return str(settings.BENCHWARMERS_PUBLIC_URL)

    @property
    def allowed_hosts(self) -> list[str]:
        """Hosts that are answered besides this machine's own: the public URL's, which some clients send with its port."""
        scheme, _, public = self.public_url.partition("://")
        return [*settings.BENCH_ALLOWED_HOSTS, *([public, f"{public}:{443 if scheme == 'https' else 80}"] if public else [])]


conf = Conf()
