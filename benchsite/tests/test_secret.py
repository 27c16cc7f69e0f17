"""The site's secret key: made once, its owner's alone, the same at every start."""

import stat
from pathlib import Path

from benchsite.secret import secret_key_in


def test_it_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    made = secret_key_in(tmp_path)
    assert len(made) >= 64
    assert secret_key_in(tmp_path) == made
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_one_that_was_kept_before_stays(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("kept")
    assert secret_key_in(tmp_path) == "kept"
