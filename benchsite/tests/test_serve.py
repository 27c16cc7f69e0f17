"""What `serve` binds to, and when it refuses to."""

from pathlib import Path

import pytest

from gateway.tests.running_server import RunningServer, running_server

TOKEN = "a-token-of-24-characters"


def test_with_a_token_it_opens_to_the_network_under_its_public_url(tmp_path: Path) -> None:
    environment = {"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_ADMIN_TOKEN": TOKEN, "BENCHWARMERS_PUBLIC_URL": "http://bench.lan"}
    with running_server(tmp_path, "", **environment) as server:
        assert server.request("GET", "/readyz", headers={"Host": "bench.lan"}).status == 200
        assert server.request("GET", "/readyz", headers={"Host": "bench.lan:80"}).status == 200
        assert server.request("GET", "/readyz", headers={"Host": "other.lan"}).status == 403
        assert "dashboard         http://bench.lan/admin/" in server.log


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"BENCH_BIND": "0.0.0.0"}, ["bench.E002", "Set BENCHWARMERS_ADMIN_TOKEN", "16 characters"]),
        ({"BENCH_BIND": "192.168.1.5"}, ["bench.E002"]),
        ({"BENCH_BIND": "::"}, ["bench.E002"]),
        ({"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_ADMIN_TOKEN": "fifteen-letters"}, ["bench.E001", "16 characters"]),
        ({"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_ADMIN_TOKEN": " " * 20}, ["bench.E002"]),
        ({"BENCHWARMERS_PUBLIC_URL": "https://bench.example"}, ["bench.E004"]),
    ],
)
def test_it_refuses_what_nobody_would_guard_and_says_what_to_set(
    tmp_path: Path, environment: dict[str, str], told: list[str]
) -> None:
    done = RunningServer(tmp_path, environment=environment).manage("serve")
    assert done.returncode == 1
    for words in told:
        assert words in done.stderr
    assert not (tmp_path / "bench.sqlite3").exists()


def test_its_checks_cannot_be_skipped(tmp_path: Path) -> None:
    done = RunningServer(tmp_path, environment={"BENCH_BIND": "0.0.0.0"}).manage("serve", "--skip-checks")
    assert done.returncode != 0
    assert "unrecognized arguments: --skip-checks" in done.stderr
