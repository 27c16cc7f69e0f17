"""The llm command as an upstream: what it is given, how its output is read, and that no call outlives its time."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from gateway.chat import ImagePart, Message, TextPart
from gateway.tests.fake_upstream import FakeUpstream
from gateway.upstream import complete
from gateway.upstream.contract import Completion, Delta, Target, UpstreamError

QUESTION = (Message("user", (TextPart("What is the answer?"),)),)
PICTURE = (Message("user", (TextPart("What is this?"), ImagePart("data:image/png;base64,iVBORw0KGgo="))),)
KEY = "9f8e7d6c5b4aQWERTYUIOP"
STAND_IN = Path(__file__).with_name("stand_in_llm.py")
Called = Callable[[], dict[str, Any]]


@pytest.fixture(autouse=True)
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Called:
    """Put the stand-in on the PATH; returns what reads how it was called last."""
    command = tmp_path / "bin" / "llm"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\n{STAND_IN.read_text()}")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setenv("ANOTHER_KEY", "sk-another-000000000000")
    return lambda: json.loads((tmp_path / "called.json").read_text())


def target(model: str, **settings: Any) -> Target:
    limits = {"connect_timeout": 1, "first_token_timeout": 10, "seat_timeout": 20}
    return Target(**{"protocol": "llm_cli", "base_url": "", "model": model, **limits, **settings})


def ask(model: str, messages: tuple[Message, ...] = QUESTION, **settings: Any) -> Completion:
    return complete(target(model, **settings), messages)


def failed(model: str, messages: tuple[Message, ...] = QUESTION, **settings: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        ask(model, messages, **settings)
    return caught.value


def test_it_is_asked_on_standard_input_and_its_output_is_the_answer(called: Called) -> None:
    completion = ask("ok", options={"temperature": 0.2, "json_object": True, "seed": None})
    assert completion.text == "The answer is 42."
    assert (completion.input_tokens, completion.output_tokens) == (1007, 5)
    assert completion.upstream_status is None
    assert completion.first_token_seconds is not None
    assert called()["given"] == "What is the answer?"
    assert called()["arguments"][:3] == ["-m", "ok", "--no-log"]
    assert called()["arguments"][-6:] == ["-o", "temperature", "0.2", "-o", "json_object", "true"]


def test_text_comes_as_it_is_written() -> None:
    pieces: list[Delta] = []
    complete(target("ok"), QUESTION, on_delta=pieces.append)
    assert [piece.text for piece in pieces if piece.text] == ["The ", "answer ", "is ", "42."]


def test_characters_cut_between_reads_and_line_ends_are_whole() -> None:
    assert ask("bytewise").text == "Žluťoučký 🐎\n\nkůň"


def test_a_conversation_is_told_with_who_said_what(called: Called) -> None:
    ask("ok", (Message("system", (TextPart("Be brief."),)), *QUESTION, Message("assistant", (TextPart("42"),)), *QUESTION))
    assert called()["given"] == ("System: Be brief.\n\nUser: What is the answer?\n\nAssistant: 42\n\nUser: What is the answer?")


def test_nothing_of_a_prompt_becomes_an_argument_or_a_shell_word(called: Called, tmp_path: Path) -> None:
    hostile = f"-m other --functions 'x' $(touch {tmp_path}/owned) `id`; \x00 -s \ud83d"
    ask("ok", (Message("system", (TextPart("--key=stolen"),)), Message("user", (TextPart(hostile),))))
    assert not {"other", "--functions", "--key=stolen", "-s"} & set(called()["arguments"])
    assert not (tmp_path / "owned").exists()
    assert called()["given"].endswith("; \x00 -s ?")


def test_it_sees_its_own_endpoints_key_and_no_other_of_the_servers_environment(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_USER_PATH", "/somewhere")
    ask("ok", api_key_env="A_KEY")
    seen = called()["environment"]
    assert seen["A_KEY"] == KEY
    assert seen["LLM_USER_PATH"] == "/somewhere"
    assert not {"ANOTHER_KEY", "DJANGO_SETTINGS_MODULE", "BENCH_DATA_DIR"} & seen.keys()


def test_it_runs_in_an_empty_folder_that_is_gone_afterwards(called: Called) -> None:
    ask("ok")
    assert not Path(called()["folder"]).exists()


@pytest.mark.parametrize("model", ["", "-m", "--save=x", "ok\x00"])
def test_a_served_id_that_is_no_plain_argument_is_refused(model: str, tmp_path: Path) -> None:
    assert failed(model).kind in ("refused", "unavailable")
    assert not (tmp_path / "called.json").exists()


def test_an_option_that_is_no_name_is_refused(tmp_path: Path) -> None:
    assert "cannot be given to llm" in failed("ok", options={"--key": "x"}).message
    assert not (tmp_path / "called.json").exists()


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        ("unknown", "not_found", "llm: 'Unknown model: unknown'"),
        ("keyless", "unauthorized", "No key found"),
        ("limited", "rate_limited", "llm: Rate limit reached. Try again in 20s"),
        ("unpaid", "payment_required", "You exceeded your current quota"),
        ("long", "context_too_long", "llm: This model's maximum context length is 4096 tokens"),
        ("option", "refused", "Extra inputs are not permitted"),
        ("broken", "unavailable", "llm: ModuleNotFoundError: No module named x"),
        ("silent", "unavailable", "llm ended with exit code 3 and said nothing"),
        ("killed", "unavailable", "llm was ended by signal 9 and said nothing"),
    ],
)
def test_a_failure_is_told_in_its_own_words_and_classified(model: str, kind: str, words: str) -> None:
    error = failed(model)
    assert error.kind == kind
    assert words in error.message
    assert "Traceback" not in error.message
    assert "/home" not in error.message
    assert error.status is None


def test_what_had_come_before_a_failure_and_what_the_provider_says_of_waiting_are_kept() -> None:
    error = failed("limited")
    assert error.partial == "The "
    assert error.retry_after == 20
    assert failed("long").window == 4096


def test_no_key_and_no_query_string_is_in_a_failures_words() -> None:
    message = failed("leaky", api_key_env="A_KEY").message
    assert len(message) <= 300
    assert KEY not in message
    assert "abcdef012345" not in message


@pytest.mark.parametrize(
    ("model", "limits", "words"),
    [
        ("slow", {"first_token_timeout": 1}, "llm: no first token within 1 s"),
        ("hung", {"first_token_timeout": 1}, "llm: no further token for 1 s"),
        ("hung", {"seat_timeout": 1}, "llm: no whole answer within 1 s"),
    ],
)
def test_a_hung_command_ends_in_time(model: str, limits: dict[str, float], words: str, called: Called) -> None:
    started = time.perf_counter()
    error = failed(model, **limits)
    assert time.perf_counter() - started < 10
    assert (error.kind, error.message) == ("timeout", words)
    assert error.partial == ("The " if model == "hung" else "")
    assert gone(called()["ids"][0])


def test_what_a_command_started_dies_with_it(called: Called) -> None:
    assert failed("family", first_token_timeout=1).kind == "timeout"
    assert all(gone(pid) for pid in called()["ids"])


def test_a_command_that_left_a_child_behind_is_not_waited_for(called: Called) -> None:
    started = time.perf_counter()
    assert ask("lingering").text == "The answer is 42."
    assert time.perf_counter() - started < 5
    assert all(gone(pid) for pid in called()["ids"])


def test_a_caller_who_breaks_off_ends_it(called: Called) -> None:
    def stop(delta: Delta) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        complete(target("hung"), QUESTION, on_delta=stop)
    assert gone(called()["ids"][0])


def test_an_answer_without_end_is_cut_off() -> None:
    error = failed("huge")
    assert error.kind == "bad_reply"
    assert "larger than 8,000,000 bytes" in error.message


def test_a_large_prompt_goes_in_whole_and_one_that_is_not_read_stops_nothing(called: Called) -> None:
    large = (Message("user", (TextPart("x" * 3_000_000),)),)
    assert ask("ok", large).text == "The answer is 42."
    assert len(called()["given"]) == 3_000_000
    assert ask("deaf", large).text == "The answer is 42."


def test_thoughts_on_standard_error_are_kept_apart_and_are_signs_of_life() -> None:
    completion = ask("thinking", first_token_timeout=1)
    assert completion.reasoning == "Six times seven."
    assert completion.text == "The answer is 42."


def test_an_empty_answer_says_so() -> None:
    completion = ask("empty")
    assert (completion.text, completion.empty_why) == ("", "nothing came")


def test_a_notice_is_no_answer() -> None:
    assert failed("notice").kind == "rate_limited"


def test_a_missing_command_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    error = failed("ok")
    assert error.kind == "unavailable"
    assert "pipx install llm" in error.message


def test_an_image_cannot_go_through_it(tmp_path: Path) -> None:
    error = failed("ok", PICTURE)
    assert error.kind == "refused"
    assert "images cannot go through the llm command" in error.message
    assert not (tmp_path / "called.json").exists()


@pytest.fixture(scope="module")
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as server:
        yield server


def test_by_choice_it_answers_for_every_endpoint_but_never_for_an_image(
    upstream: FakeUpstream, settings: Any, called: Called
) -> None:
    settings.BENCH_CLIENT = "llm"
    http = {"protocol": "openai_chat", "base_url": upstream.url}
    assert ask("say-Built-in.", **http).text == "The answer is 42."
    assert called()["arguments"][:2] == ["-m", "say-Built-in."]
    assert upstream.stats["say-Built-in."] == 0
    assert ask("say-Built-in.", PICTURE, **http).text == "Built in. "
    settings.BENCH_CLIENT = "builtin"
    assert ask("say-Built-in.", **http).text == "Built in. "


def gone(pid: int) -> bool:
    """Whether a process has ended, or ends at once."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return not os.path.exists(f"/proc/{pid}")
