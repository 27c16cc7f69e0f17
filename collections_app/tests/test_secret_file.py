"""The secret's file: made once, its owner's alone, whole at every moment, and missed in words."""

import os
import stat
import threading
from pathlib import Path

import pytest

from collections_app.secret_file import NAME, SecretFileError, draw_secret, secrets_in, secrets_made_in, write_secrets


def test_it_is_made_on_first_use_for_its_owner_alone(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        made = secrets_made_in(tmp_path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert [len(secret) for secret in made] == [64]
    assert secrets_made_in(tmp_path) == secrets_in(tmp_path) == made
    assert os.listdir(tmp_path) == [NAME]


def test_it_is_no_secret_that_another_folder_has(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert secrets_made_in(tmp_path) != secrets_made_in(tmp_path / "other")


def test_writing_it_leaves_it_its_owners_alone(tmp_path: Path) -> None:
    kept = [draw_secret(), draw_secret()]
    secrets_made_in(tmp_path)
    write_secrets(tmp_path, kept)
    assert secrets_in(tmp_path) == kept
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == [NAME]


def test_many_who_make_it_at_once_agree(tmp_path: Path) -> None:
    made: list[str] = []
    start = threading.Barrier(12)

    def make() -> None:
        start.wait()
        made.extend(secrets_made_in(tmp_path))

    threads = [threading.Thread(target=make) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 12
    assert len(set(made)) == 1
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, f"the file {NAME} is not in the data folder"),
        (b"", "does not hold what was written there"),
        (b"\n \n", "does not hold what was written there"),
        (b"short\n", "does not hold what was written there"),
        (b"\xff" * 64, "cannot be read (UnicodeDecodeError)"),
    ],
)
def test_a_file_that_is_missing_or_spoilt_is_told_and_left_alone(tmp_path: Path, content: bytes | None, why: str) -> None:
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
        with pytest.raises(SecretFileError):
            secrets_made_in(tmp_path)
        assert (tmp_path / NAME).read_bytes() == content
    with pytest.raises(SecretFileError) as missed:
        secrets_in(tmp_path)
    assert why in str(missed.value)


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(SecretFileError, match="IsADirectoryError"):
        secrets_in(tmp_path)
