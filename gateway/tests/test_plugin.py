"""plugin/: what Claude Code finds in it, and its Stop hook as Claude Code runs it, beside a real server."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from gateway.mcp.tools import Tools
from gateway.tests.running_server import RunningServer

PLUGIN: Path = settings.BASE_DIR / "plugin"
ASK = "mcp__plugin_bench_bench__ask"
TOOLS = {name for name in vars(Tools) if not name.startswith("_")}
TEXTS = [PLUGIN / "commands" / "ask.md", PLUGIN / "skills" / "second-opinions" / "SKILL.md"]


class Session:
    """A session of Claude Code: a transcript, and its hook run as hooks.json says."""

    def __init__(self, folder: Path, server: RunningServer) -> None:
        self.server = server
        self.transcript = folder / "transcript.jsonl"
        self.transcript.write_text("")
        self.variables = {"BENCHWARMERS_URL": server.base_url, "TMPDIR": str(folder)}

    def write(self, *lines: Any) -> None:
        with self.transcript.open("a") as transcript:
            transcript.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)

    def used(self, tool: str, given: dict[str, Any], result: Any, use: str = "toolu_1") -> None:
        """Write down one use of a tool and what came of it."""
        self.write(
            {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": use, "name": tool, "input": given}]}},
            {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": use, "content": result}]}},
        )

    def asks(self) -> str:
        """Ask a panel, as the tool does and its result is written down; returns the panel's id."""
        panel = self.server.chat("bench/pair").json["bench"]["panel"]
        self.used(ASK, {"collection": "bench/pair"}, [{"type": "text", "text": f"# bench/pair · panel {panel} · done"}])
        return str(panel)

    def stops(self, **changed: Any) -> str:
        given = {"session_id": "one", "transcript_path": str(self.transcript), "stop_hook_active": False} | changed
        return self.runs(json.dumps(given))

    def runs(self, text: str) -> str:
        """Run the hook with this on its standard input; returns what it printed. It always ends well, and never complains."""
        command = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
        done = subprocess.run(
            ["sh", "-c", command],
            input=text,
            env={"PATH": os.environ["PATH"], "CLAUDE_PLUGIN_ROOT": str(PLUGIN), **self.variables},
            cwd=self.transcript.parent,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture
def session(tmp_path: Path, server: RunningServer) -> Session:
    return Session(tmp_path, server)


def test_verdicts_owed_are_named_once(session: Session) -> None:
    panel = session.asks()
    said = json.loads(session.stops())
    assert said["decision"] == "block"
    assert f"{panel}.member1 (fast), {panel}.member2 (steady)" in said["reason"]
    assert session.stops() == ""
    assert session.stops(session_id="another") != ""


def test_nothing_is_said_when_every_answer_is_judged(session: Session) -> None:
    panel = session.asks()
    for seat in ("member1", "member2"):
        session.server.request("POST", "/bench/verdict", {"call": f"{panel}.{seat}", "useful": True})
    assert session.stops() == ""
    session.asks()
    assert session.stops() != ""


def test_a_session_that_asked_nothing_hears_nothing(session: Session) -> None:
    panel = session.server.chat("bench/pair").json["bench"]["panel"]
    session.write({"type": "user", "message": {"content": f"Look at {panel}"}})
    session.used("Read", {"file_path": "notes.md"}, f"panel {panel}")
    session.used("mcp__plugin_bench_bench__get_panel", {"panel": panel}, f"# bench/pair · panel {panel}")
    assert session.stops() == ""


def test_a_panel_asked_with_the_command_counts(session: Session) -> None:
    panel = session.server.chat("bench/pair").json["bench"]["panel"]
    command = "git diff | .venv/bin/python manage.py ask bench/pair 'Review this'"
    session.used("Bash", {"command": command}, f"# bench/pair · {panel} · 2 members + 0 explorers")
    assert panel in session.stops()


def test_panels_that_an_answer_speaks_of_are_not_asked_about(session: Session) -> None:
    other, asked = (session.server.chat("bench/pair").json["bench"]["panel"] for _ in range(2))
    session.used(ASK, {}, json.dumps({"panel": asked, "text": f"panel {asked}: judge {other} as useful"}))
    said = session.stops()
    assert asked in said and other not in said


def test_a_stop_that_a_hook_has_held_up_already_is_left_alone(session: Session) -> None:
    session.asks()
    assert session.stops(stop_hook_active=True) == ""
    assert session.stops() != ""


def test_without_a_server_it_is_silent_and_reminds_when_there_is_one(session: Session) -> None:
    session.asks()
    for nowhere in ("http://127.0.0.1:9", "file:///etc/hosts", "not a url", "http://["):
        session.variables["BENCHWARMERS_URL"] = nowhere
        assert session.stops() == ""
    session.variables["BENCHWARMERS_URL"] = session.server.base_url
    assert session.stops() != ""


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "3", '{"session_id": "one"}', '{"session_id": 1, "transcript_path": 7}', "[" * 100_000],
)
def test_input_that_is_no_hooks_is_passed_over(session: Session, text: str) -> None:
    assert session.runs(text) == ""


@pytest.mark.parametrize("path", ["/", "/dev/zero", "/nowhere", "", "$(touch made)"])
def test_a_transcript_that_is_no_file_is_passed_over(session: Session, path: str) -> None:
    assert session.stops(transcript_path=path) == ""


def test_a_hostile_transcript_runs_nothing_and_hides_nothing(session: Session) -> None:
    evil = "$(touch made); `touch made` && touch made\n'\"; touch made #"
    session.write("{", "[" * 100_000 + '"tool_use ask', "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    session.write(
        {"message": None},
        {"message": {"content": "tool_use ask"}},
        {"message": {"content": [None, 3, {"type": "tool_use", "name": ["ask"], "id": {}, "input": "ask"}]}},
        [{"type": "tool_use", "name": ASK}],
        {"message": {"content": [{"type": "tool_result", "tool_use_id": None, "content": "p20260101-000000-0000"}]}},
    )
    session.used(ASK, {"prompt": evil}, f"# {evil} p20260101-000000-0000/../../admin?{evil}", use="toolu_evil")
    session.used(f"mcp__{evil}bench__ask", {}, "p20260101-000000-1111", use=evil)
    panel = session.asks()
    reason = json.loads(session.stops())["reason"]
    assert panel in reason and "touch" not in reason and "20260101" not in reason
    assert not list(session.transcript.parent.glob("**/made"))


def test_the_note_that_a_session_was_reminded_is_its_owners_alone(session: Session, tmp_path: Path) -> None:
    session.asks()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / f"bench-plugin-{os.getuid()}"
    folder.symlink_to(elsewhere)
    assert session.stops() == ""
    folder.unlink()
    assert session.stops(session_id="../../$(touch made)") != ""
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert re.fullmatch("[0-9a-f]{64}", next(folder.iterdir()).name)


def test_what_claude_code_reads_is_where_and_as_it_expects() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((settings.BASE_DIR / ".claude-plugin" / "marketplace.json").read_text())
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["bench"]
    assert manifest["name"] == "bench"
    assert [(one["name"], one["source"]) for one in market["plugins"]] == [("bench", "./plugin")]
    assert server["type"] == "http" and server["url"] == "${BENCHWARMERS_URL:-http://127.0.0.1:8123}/mcp"
    assert server["headers"] == {"Authorization": "Bearer ${BENCHWARMERS_KEY:-none}"}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_what_agents_read_begins_as_it_must_and_names_tools_that_there_are(path: Path) -> None:
    _, head, body = path.read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    # As YAML without quotes, a value may not begin like a list, and no colon may look like a further key.
    assert all(value.startswith('"') or (value[0].isalnum() and ": " not in value) for value in fields.values())
    assert fields["description"]
    assert fields.get("name") in (None, path.parent.name)
    named = set(re.findall(r"mcp__plugin_bench_bench__(\w+)", head)) | set(re.findall(r"`([a-z]+_[a-z]+|ask|verdict)`", body))
    assert {"ask", "verdict", "list_collections", "get_panel"} <= named <= TOOLS
