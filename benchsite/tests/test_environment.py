"""Settings are what was written, or are refused by their name: no guard is off because of how its variable was written."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from benchsite.environment.variables import Environment


@pytest.mark.parametrize("written", ["plain-secret", "$ecret-word", "$HOME", "$$x", r"\$x", r"a\$b$c", "p%40ss#1"])
def test_a_value_is_taken_as_it_was_written(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("BENCH_OF_TESTS", written)
    assert Environment().str("BENCH_OF_TESTS", default="") == written


@pytest.mark.parametrize(
    ("written", "on"),
    [("1", True), ("True", True), (" yes ", True), ("2", True), ("on", True), ("0", False), ("False", False), ("", False)],
)
def test_a_switch_is_on_or_off(monkeypatch: pytest.MonkeyPatch, written: str, on: bool) -> None:
    monkeypatch.setenv("BENCH_OF_TESTS", written)
    assert Environment().switch("BENCH_OF_TESTS", default=not on) is on


@pytest.mark.parametrize("default", [True, False])
def test_a_switch_that_is_not_set_is_as_by_default(monkeypatch: pytest.MonkeyPatch, default: bool) -> None:
    monkeypatch.delenv("BENCH_OF_TESTS", raising=False)
    assert Environment().switch("BENCH_OF_TESTS", default=default) is default


@pytest.mark.parametrize("written", ['"1"', "required", "enabled", "-1", "1 # on"])
def test_what_is_neither_on_nor_off_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("BENCH_OF_TESTS", written)
    with pytest.raises(ImproperlyConfigured, match="BENCH_OF_TESTS cannot be read: it is 1 or 0") as refused:
        Environment().switch("BENCH_OF_TESTS", default=False)
    assert written not in str(refused.value).replace("1 or 0", "")


def test_a_file_adds_what_the_environment_does_not_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCH_OF_TESTS", "said")
    monkeypatch.setenv("BENCH_OF_FILES", "")
    monkeypatch.delenv("BENCH_OF_FILES")
    path = tmp_path / ".env"
    path.write_text("# a comment\n\n   \nexport BENCH_OF_FILES='$written'\nBENCH_OF_TESTS=other\n")
    env = Environment()
    env.read_file(path)
    assert (env.str("BENCH_OF_FILES"), env.str("BENCH_OF_TESTS")) == ("$written", "said")


def test_a_comment_may_be_indented_and_is_not_quoted(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("  # BENCH_OF_FILES=secret-word\n\t#\n  \n")
    Environment().read_file(path)
    assert caplog.messages == []


def test_no_file_adds_nothing(tmp_path: Path) -> None:
    Environment().read_file(tmp_path / ".env")


@pytest.mark.parametrize("line", ["BENCH_OF_FILES = secret-word", " BENCH_OF_FILES=secret-word", "secret-word"])
def test_a_line_that_sets_nothing_is_refused_without_its_words(tmp_path: Path, line: str) -> None:
    path = tmp_path / ".env"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(ImproperlyConfigured, match=r"\.env, line 2: NAME=value") as refused:
        Environment().read_file(path)
    assert "secret-word" not in str(refused.value)
