"""What the image holds is enough: made here as the Dockerfile says, it migrates and serves as somebody who may write nothing.

Without Docker: the same files, beside the packages of the same requirements, which are taken from the virtual environment.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import Asker, until
from files import DOCKERFILE, TOP, copied, image_environment, let_in

from benchmarks.processes import free_port

PRODUCT = ("benchsite", "gateway", "collections_app", "keys", "evidence", "templates", "static")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the image has it in /srv, its packages beside it; nobody may write into it."""
    made = tmp_path_factory.mktemp("image")
    for source, target in copied():
        for path in tracked(source) if not target.startswith("/tmp/") else ():
            if let_in(path):
                to = made / "benchsite" / (target if target != "./" else source) / path.relative_to(source)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(TOP / path, to)
    (made / "packages").mkdir()
    for entry in sorted(installed()):
        (made / "packages" / entry.name).symlink_to(entry)
    for path in (made, *made.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() else 0o444)
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


def tracked(source: str) -> list[Path]:
    """The files of a COPY's source that are the tree's own."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", source]
    found = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in found.split("\0") if name and (TOP / name).exists()]


def installed() -> Iterator[Path]:
    """The folders and modules of the packages that the image installs, and of no others."""
    requirements = re.findall(r"COPY (requirements\S+) (requirements\S+) /tmp/", DOCKERFILE.read_text())[0]
    texts = [(TOP / name).read_text() for name in requirements]
    entries = set()
    for name, marker in re.findall(r"^([\w.-]+)==\S+(?: ; (.+?))? \\$", "\n".join(texts), re.MULTILINE):
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            assert marker, f"{name} is not installed"  # One for another platform.
            continue
        root = Path(str(distribution.locate_file("")))
        tops = {Path(str(file)).parts[0] for file in distribution.files or ()}
        entries |= {root / top for top in tops if top not in ("..", "__pycache__")}
    return iter(entries)


def command(*arguments: str) -> list[str]:
    """A command of the image's, by the Python that the virtual environment was made of: without that one's packages.

    Root is without what lets it write where nobody may.
    """
    plain = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    return [*plain, sys._base_executable, *arguments]  # type: ignore[attr-defined]


def environment(image: Path, data: Path, **more: str) -> dict[str, str]:
    """The image's, with what `docker run -e` would say, and with nothing of this machine's."""
    ours = {"PYTHONPATH": str(image / "packages"), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    said = {"BENCHWARMERS_ADMIN_TOKEN": "an-admin-token-of-a-test", "BENCHWARMERS_PUBLIC_URL": "http://localhost:8080"}
    return image_environment() | ours | {"BENCH_DATA_DIR": str(data)} | said | more


def run(image: Path, data: Path, *arguments: str) -> str:
    done = subprocess.run(
        command(*arguments),
        cwd=image / "benchsite",
        env=environment(image, data),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_migrates_and_serves_and_writes_into_its_data_folder_alone(image: Path, data: Path) -> None:
    before = sorted(path for path in (image / "benchsite").rglob("*"))
    run(image, data, "manage.py", "check", "--fail-level", "WARNING")
    run(image, data, "manage.py", "migrate", "--verbosity", "0")
    port = free_port()
    log = data.with_name(f"{data.name}-log")
    with log.open("wb") as written:
        server = subprocess.Popen(
            command("manage.py", "serve", "--web"),
            cwd=image / "benchsite",
            env=environment(image, data, BENCH_PORT=str(port)),
            stdout=written,
            stderr=written,
        )
    try:
        bench = Asker(port, {})
        until(lambda: bench.ask("GET", "/readyz").status == 200, process=server, log=log)
        assert subprocess.run(command("-c", health_check(port)), check=False).returncode == 0
        assert [bench.ask("GET", path).status for path in ("/admin/login/", "/static/admin/css/base.css")] == [200, 200]
    finally:
        server.terminate()
        ended = server.wait(60)
    assert ended == 0, log.read_text()
    assert subprocess.run(command("-c", health_check(port)), check=False, capture_output=True).returncode == 1
    assert sorted(path for path in (image / "benchsite").rglob("*")) == before
    assert {"bench.sqlite3", "secret_key"} <= {path.name for path in data.iterdir()}


def health_check(port: int) -> str:
    """The image's own, on another port."""
    found = re.search(r'^HEALTHCHECK .*CMD \["python", "-c", "(.+)"\]$', DOCKERFILE.read_text(), re.MULTILINE)
    assert found and found[1].count("8123") == 1
    return found[1].replace("8123", str(port))


def test_a_worker_has_what_it_needs(image: Path, data: Path) -> None:
    assert "benchsite.run_job" in run(image, data, "-c", "import benchsite.celery as site; print(*site.app.tasks)")


def test_it_holds_the_product_and_nothing_else(image: Path) -> None:
    held = {path.relative_to(image / "benchsite").as_posix() for path in (image / "benchsite").rglob("*") if path.is_file()}
    assert {name.partition("/")[0] for name in held} == {*PRODUCT, "LICENSE", "manage.py", "pyproject.toml"}
    assert [name for name in held if "/tests/" in name or name.endswith((".sqlite3", ".env", ".pyc"))] == []
    assert {path.as_posix() for source in PRODUCT for path in tracked(source) if "tests" not in path.parts} <= held


def test_every_file_that_it_copies_is_there_and_is_let_in() -> None:
    sources = {source for source, _ in copied()}
    assert {"manage.py", "requirements-distributed.txt", *PRODUCT} <= sources
    assert [source for source in sources if not (TOP / source).exists() or not let_in(Path(source))] == []
    assert [name for name in (".env", ".git/config", "var/secret_key", "docs/README.md") if let_in(Path(name))] == []
