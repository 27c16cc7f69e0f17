"""`ask`, as somebody in a shell has it: a real server, a process of its own, a terminal where that matters."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from gateway.management.attaching import LARGEST, CannotAttachError, attached
from gateway.management.showing import plain
from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer, free_port, running_server
from gateway.tests.test_keys import make_key

SOON = 60.0
MODELS = {
    "fast": {"model": "say-No-stale-read."},
    "slow": {"model": "slow-0.7"},
    "slower": {"model": "slow-2"},
    "echo": {"model": "echo", "status": "ad_hoc"},
    "eyes": {"model": "say-I-see.", "vision": True, "status": "ad_hoc"},
    "ticker": {"model": "tick-0.05"},
    "broken": {"model": "err-500", "status": "ad_hoc"},
}
COLLECTIONS = {
    "pair": ["fast", "slow"],
    "late": ["fast", "slower"],
    "ticking": ["ticker", "fast"],
    "echoing": ["echo"],
    "seeing": ["eyes"],
    "failing": ["broken"],
}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
# As a model may write it: a title, a colour, a bell, C1's CSI, a line that turns itself around, and a line written over.
STEERING = "\x1b]0;owned\x07 \x1b[31mred \x9b2J \u202eabc\u202c safe\rover"


@pytest.fixture(scope="module")
def bench(upstream, tmp_path_factory):
    toml = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("asked"), toml) as server:
        yield server


def command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", "ask", *arguments]


def environment(server: RunningServer | None, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("BENCHWARMERS_", "BENCH_PORT"))}
    return inherited | ({"BENCHWARMERS_URL": server.base_url} if server else {}) | more


def ask(server: RunningServer | None, *arguments: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*arguments),
        check=False,
        cwd=settings.BASE_DIR,
        env=environment(server, **more),
        input=stdin,
        capture_output=True,
        timeout=SOON,
    )


def logged(server: RunningServer, panel: str) -> str:
    return server.rows("select request from evidence_panel where panel_id = ?", panel)[0][0]


class Child:
    """A command under way, whose output and error are read as they come."""

    def __init__(self, server: RunningServer, *arguments: str, out: int = subprocess.PIPE, err: int = subprocess.PIPE) -> None:
        self.process = subprocess.Popen(
            command(*arguments),
            cwd=settings.BASE_DIR,
            env=environment(server),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )

    def wait(self) -> int:
        return self.process.wait(SOON)


class Screen:
    """A pseudo-terminal: what a command writes to it, as the bytes that a terminal would get."""

    def __init__(self) -> None:
        self.ours, self.theirs = pty.openpty()
        self.got = b""

    def read_until(self, wanted: bytes) -> bytes:
        """Everything so far, once `wanted` is among it."""
        deadline = time.monotonic() + SOON
        while wanted not in self.got:
            assert time.monotonic() < deadline, self.got
            self._read()
        return self.got

    def read_rest(self) -> bytes:
        """Everything, once nobody writes any more."""
        os.close(self.theirs)
        while self._read():
            pass
        return self.got

    def _read(self) -> bool:
        if not select.select([self.ours], [], [], 0.5)[0]:
            return True
        try:
            part = os.read(self.ours, 65536)
        except OSError:
            # How Linux tells the end of a terminal.
            return False
        self.got += part
        return bool(part)


@pytest.fixture
def screen() -> Iterator[Screen]:
    opened = Screen()
    yield opened
    os.close(opened.ours)


def test_every_answer_is_written_and_nothing_else(bench):
    done = ask(bench, "bench/pair", "Is there a race?", "--system", "Be brief.")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    panel = text.split(" · ")[1]
    assert text.startswith(f"# bench/pair · {panel} · 2 members + 0 explorers")
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## member · fast", "## member · slow"]
    assert "No stale read." in text and "/bench/verdict" in text
    assert logged(bench, panel) == "system: Be brief.\n\nuser: Is there a race?"


def test_a_section_is_there_before_the_next_seat_has_ended(bench):
    child = Child(bench, "late", "x")
    read = b""
    while b"## member" not in read:
        read += os.read(child.process.stdout.fileno(), 65536)
    assert b"fast" in read and b"slower" not in read.partition(b"## ")[2]
    rest, err = child.process.communicate(timeout=SOON)
    assert (child.process.returncode, err) == (0, b"")
    assert "## member · slower".encode() in rest


def test_words_files_and_standard_input_are_one_prompt(bench, tmp_path):
    code = tmp_path / "worker.py"
    code.write_text("print('``` is no end')\n")
    done = ask(bench, "pair", "Review this", "-f", str(code), "--json", stdin=b"+ a line\n- another\n")
    panel = json.loads(done.stdout)["panel"]
    assert logged(bench, panel) == (
        f"user: Review this\n\nFile {code}:\n\n````py\nprint('``` is no end')\n````\n\n+ a line\n- another"
    )
    alone = ask(bench, "pair", "--json", stdin=b"All of it\n")
    assert logged(bench, json.loads(alone.stdout)["panel"]) == "user: All of it"


def test_json_is_the_bench_object_alone_also_where_all_fail(bench):
    done = ask(bench, "pair", "x", "--json", "--with", "fast", "--merged")
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)
    assert (told["collection"], told["reply"], told["merger"]["status"]) == ("bench/pair", "merged", "ok")
    assert {"status": "done", **told} == bench.request("GET", f"/bench/panels/{told['panel']}").json
    failed = ask(bench, "failing", "x", "--json")
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["seats"][0]["status"] == "error"
    assert b"No seat of panel" in failed.stderr


def test_an_image_goes_as_one(bench, tmp_path, upstream):
    picture = tmp_path / "shot.bin"
    picture.write_bytes(PNG)
    done = ask(bench, "seeing", "What is it?", "--file", str(picture), "--json")
    assert json.loads(done.stdout)["answered"] == 1
    sent = upstream.seen.requests[-1].body["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url"]
    assert sent[1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_nothing_that_an_answer_says_steers_a_terminal(bench, screen):
    child = Child(bench, "echoing", STEERING, out=screen.theirs, err=screen.theirs)
    assert child.wait() == 0
    got = screen.read_rest()
    # Of ours there is one thing alone: the progress, written over.
    assert b"\x1b" not in got.replace(b"\r\x1b[K", b"")
    text = got.decode()
    for character in ("\x07", "\x9b", "\u202e", "\u202c"):
        assert character not in text
    assert "[U+001B]]0;owned[U+0007]" in text and "[U+009B]2J" in text and "safe[U+000D]over" in text
    written_down = json.loads(ask(bench, "echoing", STEERING, "--json").stdout.decode("ascii"))
    assert "\x1b[31mred" in written_down["seats"][0]["answer"]


def test_a_terminal_shows_how_many_have_answered_and_keeps_the_text(bench, screen):
    child = Child(bench, "late", "x", err=screen.theirs)
    assert re.search(rb"late: \d+ s", screen.read_until(b" of 2 seats answered"))
    out, _ = child.process.communicate(timeout=SOON)
    got = screen.read_rest()
    assert child.process.returncode == 0
    panel = out.decode().split(" · ")[1]
    assert f"{panel}: 1 of 2 seats answered, ".encode() in got and b"2 of 2 seats answered" in got
    # One line that is written over, and taken away at the end.
    assert b"\n" not in got
    assert got.endswith(b"\r\x1b[K")
    assert b"seats answered" not in out and b"\x1b" not in out


def on_screen(got: bytes) -> str:
    """What somebody sees in the end: our only control takes away the line that it stands in."""
    lines = got.decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r\x1b[K")[2] for line in lines)


@pytest.mark.parametrize("options", [("late",), ("ticking", "--merged")], ids=str)
def test_on_one_terminal_progress_takes_no_text_away(bench, screen, options):
    collection, *rest = options
    child = Child(bench, collection, "x", *rest, out=screen.theirs, err=screen.theirs)
    assert child.wait() == 0
    seen = on_screen(screen.read_rest())
    piped = ask(bench, collection, "x", *rest).stdout.decode()
    same = [re.sub(r"p\d{8}-\d{6}-[0-9a-f]{4}|\d+\.\d s", "…", text) for text in (seen, piped)]
    assert same[0] == same[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_stops_waiting_is_told_how_to_read_the_panel_later(bench, number):
    child = Child(bench, "late", "x")
    read = b""
    while b"## member" not in read:
        read += os.read(child.process.stdout.fileno(), 65536)
    panel = read.decode().split(" · ")[1]
    child.process.send_signal(number)
    _, err = child.process.communicate(timeout=SOON)
    assert child.process.returncode == 128 + number
    assert f"Panel {panel} goes on to its end. To read it: curl {bench.base_url}/bench/panels/{panel}" in err.decode()
    assert b"Traceback" not in err
    deadline = time.monotonic() + SOON
    while (seen := bench.request("GET", f"/bench/panels/{panel}").json)["status"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert (seen["status"], seen["answered"]) == ("done", 2)


def test_a_reader_who_has_had_enough_is_no_failure(bench):
    """As `| head -1` is: the pipe is closed while answers are still to come."""
    child = Child(bench, "late", "x")
    assert os.read(child.process.stdout.fileno(), 10)
    child.process.stdout.close()
    assert child.wait() == 0
    assert child.process.stderr.read() == b""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing", "x"), "Choose one of: bench/echoing: For echoing [test]"),
        (("pair", "x", "--with", "fsat"), "Nearest: fast"),
        (("pair",), "nothing is asked"),
        (("pair", "a\udcff"), "bytes that are not UTF-8"),
        (("pair", "x", "--url", "ftp://127.0.0.1"), "ftp://127.0.0.1 is no bench's address"),
        (("pair", "x", "-f", "no-such-file"), "no-such-file cannot be read: No such file or directory."),
    ],
)
def test_a_refusal_is_its_reason_and_exit_status_1(bench, arguments, said):
    done = ask(bench, *arguments)
    assert (done.returncode, done.stdout) == (1, b"")
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--json", "echoing", "Hi"), ("echoing", "--json", "Hi"), ("echoing", "Hi", "--json")])
def test_options_stand_wherever_they_come_to_mind(bench, arguments):
    done = ask(bench, *arguments)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seats"][0]["answer"] == "Hi"


@pytest.mark.parametrize(("output", "status", "said"), [("1>&-", 0, b""), (">/dev/full", 1, b"No space left on device")])
def test_an_output_that_takes_nothing_is_no_crash(bench, output, status, said):
    line = f'exec "$@" {output}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command("echoing", "Hi")],
        check=False,
        cwd=settings.BASE_DIR,
        env=environment(bench),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, said in done.stderr, b"Traceback" in done.stderr) == (status, True, False), done.stderr


def test_without_a_server_it_is_said_how_to_start_one():
    port = free_port()
    done = ask(None, "core", "x", BENCH_PORT=str(port))
    assert (done.returncode, done.stdout) == (1, b"")
    said = done.stderr.decode()
    assert f"http://127.0.0.1:{port} does not answer" in said
    assert "python manage.py serve" in said and "BENCHWARMERS_URL" in said


def test_a_key_is_taken_from_the_environment(upstream, tmp_path):
    toml = bench_file(upstream.url, {"a": {"model": "say-a"}}, {"mine": ["a"]}) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path, toml, BENCHWARMERS_REQUIRE_KEYS="1") as server:
        without = ask(server, "mine", "x")
        assert (without.returncode, b"BENCHWARMERS_KEY" in without.stderr) == (1, True)
        key = make_key(server, "app", "--rpm", "1")
        assert ask(server, "mine", "x", BENCHWARMERS_KEY=key).returncode == 0
        limited = ask(None, "mine", "x", "--url", server.base_url, BENCHWARMERS_KEY=key)
        assert (limited.returncode, b"Try again in" in limited.stderr) == (1, True)
        assert key.encode() not in limited.stderr
        broken = ask(server, "mine", "x", BENCHWARMERS_KEY=f"{key}\nb")
        assert (broken.returncode, b"is none" in broken.stderr, key.encode() in broken.stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"%PDF-1.7\0\xff", "neither text (UTF-8) nor an image"),
        ("a.txt", b"\xff\xfe\xfd", "neither text"),
        ("a`\x1b[2J\n.txt", b"\0", "a'[U+001B][2J[U+000A].txt is neither"),
        ("a.log", b"x" * (LARGEST + 1), "larger than 10 MB"),
    ],
)
def test_what_no_model_could_read_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CannotAttachError) as refused:
        attached("x", [path], None)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value) and "\x1b" not in str(refused.value)


def test_folders_and_names_that_none_can_have_are_refused(tmp_path):
    for path in (tmp_path, Path("a\0b"), Path("x" * 5_000)):
        with pytest.raises(CannotAttachError, match="cannot be read"):
            attached("x", [path], None)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "png"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "jpeg"),
        (b"GIF89a" + bytes(9), "gif"),
        (b"RIFF\n\0\0\0WEBPVP8 ", "webp"),
    ],
)
def test_images_are_told_by_their_bytes(tmp_path, content, kind):
    path = tmp_path / "no-ending"
    path.write_bytes(content)
    sent = attached("x", [path], None)
    assert sent.prompt == "x"
    assert sent.images[0].startswith(f"data:image/{kind};base64,")


def test_a_text_is_taken_in_whatever_way_an_editor_wrote_it(tmp_path):
    for content in ("é\nb".encode(), "\ufeffé\nb".encode(), "é\r\nb".encode("utf-16")):
        path = tmp_path / "a.md"
        path.write_bytes(content)
        assert attached("", [path], None).prompt == f"File {path}:\n\n```md\né\nb\n```"


def test_text_that_steers_nothing_is_left_as_it_is():
    said = "Zürich\t👩‍👩‍👧 می‌خواهم \u00a0\u2028 `x`\r\nend\n"
    assert plain(said) == said.replace("\r\n", "\n")
    assert plain("\ud83d") == "[U+D83D]"
    assert plain("\u2066\u200f\x7f\x00\x85") == "[U+2066][U+200F][U+007F][U+0000][U+0085]"


def test_any_ending_reads_as_its_own(tmp_path: Any) -> None:
    for name, fence in (("Makefile", "```\n"), ("x.C++", "```\n"), ("x.TSX", "```tsx\n"), ("x." + "y" * 40, "```\n")):
        path = tmp_path / name
        path.write_text("z")
        assert f"\n\n{fence}z\n```" in attached("", [path], None).prompt
