"""What deploy/ tells the bench: only what there is, without complaint, and numbers that fit each other."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import (
    DEPLOY,
    FILLED_IN,
    INTERPOLATED,
    NGINX,
    SYSTEMD,
    TOP,
    compose,
    image_environment,
    kubernetes,
    kubernetes_environment,
    pods,
    told,
    unit,
    unit_environment,
)

PRODUCT = told(TOP / ".env.example")
EXAMPLE = told(DEPLOY / "benchsite.env.example")
SERVICES: dict[str, Any] = compose()["services"]
OURS = {name: one for name, one in SERVICES.items() if one["image"] == "benchsite"}
UNITS = sorted(path.name for path in SYSTEMD.iterdir())
# How each part is started, wherever.
COMMANDS = {
    "migrate": "manage.py migrate",
    "web": "manage.py serve --web",
    "worker": "celery -A benchsite worker",
    "beat": "celery -A benchsite beat --pidfile=",
}


def environments() -> list[Any]:
    """Every process's whole environment, by where it is from; those that are alike once."""
    image = image_environment()
    found = {f"compose {name}": image | FILLED_IN | one["environment"] for name, one in OURS.items()}
    found |= {f"kubernetes {name}": image | kubernetes_environment(container) for name, _, container in pods()}
    found |= {f"systemd {name}": unit_environment(name) for name in UNITS}
    alike = {frozenset(environment.items()): where for where, environment in found.items()}
    return [pytest.param(dict(environment), id=where) for environment, where in alike.items()]


@pytest.mark.parametrize("environment", environments())
def test_every_variable_is_one_that_somebody_reads(environment: dict[str, str]) -> None:
    assert set(environment) - PRODUCT - EXAMPLE - {"POD_IP"} == set()


@pytest.mark.parametrize("environment", environments())
def test_the_bench_has_no_complaint(environment: dict[str, str], tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("BENCH", "DATABASE_", "REDIS_"))}
    done = subprocess.run(
        [TOP / ".venv" / "bin" / "python", "manage.py", "check", "--fail-level", "WARNING"],
        cwd=TOP,
        env=plain | environment | {"BENCH_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_all_that_compose_fills_in_is_in_the_example() -> None:
    used = set(INTERPOLATED.findall((DEPLOY / "compose.yaml").read_text()))
    assert used and used <= EXAMPLE


def test_every_variable_of_the_example_is_one_that_somebody_reads() -> None:
    keys = set((TOP / "collections_app/local/provider_keys.txt").read_text().split())
    assert EXAMPLE - PRODUCT - keys - {"POSTGRES_PASSWORD", "REDIS_PASSWORD"} == set()


def test_all_ways_start_the_same_commands() -> None:
    assert {name: " ".join(one["command"]).removeprefix("python ") for name, one in OURS.items()} == COMMANDS
    assert {name: " ".join(one["command"]).removeprefix("python ") for name, _, one in pods()} == COMMANDS
    for name, command in COMMANDS.items():
        (path,) = SYSTEMD.glob(f"benchsite-{name}*.service")
        assert command in unit(path.name)["ExecStart"][0]


def test_every_file_that_compose_mounts_is_there() -> None:
    mounted = [one.partition(":")[0] for service in SERVICES.values() for one in service.get("volumes", ())]
    files = [name for name in mounted if name.startswith(".")]
    assert len(files) == 2
    assert [name for name in files if not (DEPLOY / name).is_file()] == []


def test_a_stop_waits_longer_than_the_bench_needs() -> None:
    # Beside that, a stop waits for the database, and for last words (benchsite/server.py).
    drained = number("BENCH_DRAIN_SECONDS") + 5 + 2
    waits = [seconds(one["stop_grace_period"]) for one in OURS.values()]
    waits += [pod["terminationGracePeriodSeconds"] - 5 for name, pod, _ in pods() if name in ("web", "worker")]
    waits += [float(unit(name)["TimeoutStopSec"][0]) for name in UNITS if "TimeoutStopSec" in unit(name)]
    assert len(waits) == 4 + 2 + 3
    assert min(waits) > drained


def test_nginx_waits_longer_than_a_seat_and_leaves_long_bodies_to_the_bench() -> None:
    site = (NGINX / "benchsite.conf").read_text()
    assert seconds(directive(site, "proxy_read_timeout")) > number("BENCH_SEAT_TIMEOUT")
    assert int(directive(site, "client_max_body_size").removesuffix("m")) * 1_000_000 > 4 * number("BENCH_MAX_BODY_BYTES")
    (ingress,) = (one for one in kubernetes() if one["kind"] == "Ingress")
    said = {name.rpartition("/")[2]: value for name, value in ingress["metadata"]["annotations"].items()}
    assert f"{said['proxy-read-timeout']}s" == directive(site, "proxy_read_timeout")
    assert said["proxy-body-size"] == directive(site, "client_max_body_size")
    assert said["proxy-buffering"] == said["proxy-request-buffering"] == "off" == directive(site, "proxy_buffering")


@pytest.mark.parametrize("upstream", ["upstream.conf", "compose-upstream.conf"])
def test_nginx_hangs_up_before_the_bench_does(upstream: str) -> None:
    grace = re.search(r"^GRACE_SECONDS = ([\d.]+)$", (TOP / "benchsite/http/channel.py").read_text(), re.MULTILINE)
    assert grace
    assert seconds(directive((NGINX / upstream).read_text(), "keepalive_timeout")) <= float(grace[1]) / 2


def directive(text: str, name: str) -> str:
    (value,) = re.findall(rf"^ *{name} (\S+);$", text, re.MULTILINE)
    return str(value)


def seconds(written: str) -> float:
    return float(written.removesuffix("s"))


def number(name: str) -> float:
    """A setting's default."""
    found = re.search(rf"^#{name}=([\d.]+)$", (TOP / ".env.example").read_text(), re.MULTILINE)
    assert found
    return float(found[1])
