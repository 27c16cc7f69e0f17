"""deploy/ as those who run it read it: the image's copy, compose's services with their variables, units, Kubernetes' parts."""

import fnmatch
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).parents[2]
DEPLOY = TOP / "deploy"
NGINX, SYSTEMD = DEPLOY / "nginx", DEPLOY / "systemd"
DOCKERFILE = DEPLOY / "Dockerfile"
# What somebody writes into benchsite.env.
FILLED_IN = {
    "BENCHWARMERS_ADMIN_TOKEN": "an-admin-token-of-a-test",
    "BENCHWARMERS_PUBLIC_URL": "http://localhost:8080",
    "POSTGRES_PASSWORD": "letters1",
    "REDIS_PASSWORD": "letters2",
}
INTERPOLATED = re.compile(r"\$\{(\w+)(?::\?[^}]*)?\}")


def told(example: Path) -> set[str]:
    """The variables that an example of settings has, the commented ones too."""
    return set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", example.read_text(), re.MULTILINE))


def compose() -> dict[str, Any]:
    """compose.yaml with `<<` and what is filled in, as `docker compose config` has it."""
    text = INTERPOLATED.sub(lambda found: FILLED_IN[found[1]], (DEPLOY / "compose.yaml").read_text())
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def kubernetes() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "benchsite.yaml").read_text()))


def pods() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each of Kubernetes' parts: its name, its pod and the pod's only container."""
    for one in kubernetes():
        if one["kind"] in ("Deployment", "Job"):
            pod = one["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            yield container["name"], pod, container


def kubernetes_environment(container: dict[str, Any]) -> dict[str, str]:
    """What the container is told, at an address of its own."""
    maps = {(one["kind"], one["metadata"]["name"]): one for one in kubernetes()}
    environment: dict[str, str] = {}
    for source in container["envFrom"]:
        ((kind, where),) = source.items()
        found = maps[{"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], where["name"]]
        environment |= found.get("data") or found["stringData"]
    for one in container.get("env", ()):
        environment[one["name"]] = one.get("value", "10.1.2.3").replace("$(POD_IP)", "10.1.2.3")
    return environment


def unit(name: str) -> dict[str, list[str]]:
    """A unit's settings, each as often as it is there, of the instance 8123."""
    text = (SYSTEMD / name).read_text().replace("%i", "8123").replace("%%", "%")
    settings: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
        settings.setdefault(key, []).append(value)
    return settings


def unit_environment(name: str) -> dict[str, str]:
    """What the unit's process is told: by the unit, by the file as benchsite.env.example has it for systemd, by `env`."""
    example = (DEPLOY / "benchsite.env.example").read_text().partition("# For systemd")[2]
    file = dict(re.findall(r"^#([A-Z_]+)=(.+)$", example, re.MULTILINE))
    settings = unit(name)
    own = [word for line in settings.get("Environment", ()) for word in shlex.split(line)]
    command = settings["ExecStart"][0].removeprefix("/usr/bin/env ").split()
    last = [word for word in command if re.match(r"[A-Z_]+=", word)]
    return dict(word.split("=", 1) for word in own) | file | FILLED_IN | dict(word.split("=", 1) for word in last)


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(re.findall(r"(BENCH\w+)=(\S+)", DOCKERFILE.read_text()))


def let_in(path: Path) -> bool:
    """Whether Dockerfile.dockerignore lets a file of the tree into the build: the last pattern that fits it decides."""
    names = [path.as_posix(), *(above.as_posix() for above in path.parents if above.name)]
    inside = True
    for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines():
        pattern = line.lstrip("!")
        if not line or line.startswith("#"):
            continue
        anywhere = pattern.removeprefix("**/")
        if any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(Path(name).name, anywhere) for name in names):
            inside = line.startswith("!")
    return inside


def copied() -> list[tuple[str, str]]:
    """What the image copies from the tree, and where to below its folder, by COPY lines that name no stage."""
    pairs = []
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE.read_text(), re.MULTILINE):
        *sources, target = line.split()
        pairs += [(source, target) for source in sources]
    return pairs
