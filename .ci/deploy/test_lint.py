"""What reads Dockerfiles, compose files, manifests, units and nginx's configuration finds no fault with those of deploy/."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from files import DEPLOY, NGINX, SYSTEMD, TOP

from benchmarks.cluster.proxy import nginx_command

TOOLS = TOP / ".venv" / "deploy" / "bin"
PYTHON = TOP / ".venv" / "bin"


def said(*command: str | Path) -> str:
    """What it says of faults; fails when it finds any."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_image() -> None:
    said(TOOLS / "hadolint", DEPLOY / "Dockerfile")


def test_compose() -> None:
    said(TOOLS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


def test_kubernetes() -> None:
    assert said(TOOLS / "kubernetes-validate", "--strict", DEPLOY / "kubernetes" / "benchsite.yaml").count("passed") == 9


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd on this machine")
def test_units(tmp_path: Path) -> None:
    units = []
    for path in sorted(SYSTEMD.iterdir()):
        here = path.read_text().replace("/srv/benchsite/.venv/bin", str(PYTHON))
        # A template is checked as one that is made of it.
        units.append(tmp_path / path.name.replace("@.", "@8123."))
        (tmp_path / path.name).write_text(here)
        units[-1].write_text(here)
    assert len(units) == 5
    about_ours = [line for line in said("systemd-analyze", "verify", *units).splitlines() if "benchsite" in line]
    assert about_ours == []


@pytest.mark.parametrize("upstream", ["upstream.conf", "compose-upstream.conf"])
def test_nginx(tmp_path: Path, upstream: str) -> None:
    program, *_ = nginx_command(tmp_path, 8080, [8123])
    configuration = tmp_path / "nginx.conf"
    text = (NGINX / upstream).read_text()
    # Debian's nginx looks names up once; compose's finds all that a name has, and later ones.
    text = text.replace("server web:8123 resolve ", "server 127.0.0.1:8123 ")
    assert text.count("server 127.0.0.1:8123") == 1
    around = re.sub(r"upstream bench \{.*?\n\}", lambda _: text, configuration.read_text(), flags=re.DOTALL)
    assert text in around
    configuration.write_text(around)
    assert "is successful" in said(program, "-t", "-p", tmp_path, "-e", "stderr", "-c", configuration)
