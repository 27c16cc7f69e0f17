"""A Stop hook: reminds once a session of verdicts owed for panels that were asked in it.

Silent whenever there is nothing to say or anything goes wrong; asks the bench and nobody else, runs no command, and takes
nothing from the transcript but panels' ids. Standard library alone, on whichever python3 there is.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import re
import stat
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

PANEL = re.compile(r"p\d{8}-\d{6}-[0-9a-f]{4}")
CALL = re.compile(PANEL.pattern + r"\.[a-z]+\d*")
ASKING_TOOL = re.compile(r"mcp__[\w-]*bench[\w-]*__ask")
ASKING_COMMAND = re.compile(r"manage\.py +ask\b")
DEFAULT_URL = "http://127.0.0.1:8123"
# All that is done takes at most about this long; what is not known by then is left out.
SECONDS = 3.0
REQUEST_SECONDS = 1.0
LONGEST_READ = 64_000_000
MOST_PANELS = 10
MOST_NAMED = 12


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key goes to the bench that was named, and nowhere else."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


def main(text: str, environment: Mapping[str, str]) -> str:
    """Return what to print for a hook's input, `text`; empty for nothing."""
    event = json.loads(text)
    if event.get("stop_hook_active"):
        return ""
    deadline = time.monotonic() + SECONDS
    marker = marker_of(str(event["session_id"]))
    if os.path.exists(marker):
        return ""
    panels = panels_asked(event["transcript_path"], deadline)[-MOST_PANELS:]
    owed = [call for panel in panels for call in sorted(owed_for(panel, environment, deadline))]
    if not owed or not claimed(marker):
        return ""
    return json.dumps({"decision": "block", "reason": reminder(owed)})


def panels_asked(path: str, deadline: float) -> list[str]:
    """Return the ids of panels that this session's transcript shows it asked, oldest first.

    Of a result, the first id: what answers say below it is no panel of this session.
    """
    asked: set[str] = set()
    panels: list[str] = []
    for block in blocks(path, deadline):
        if block.get("type") == "tool_use" and asks(block):
            asked.add(str(block.get("id")))
        elif block.get("type") == "tool_result" and str(block.get("tool_use_id")) in asked:
            panels += PANEL.findall(json.dumps(block.get("content")))[:1]
    return list(dict.fromkeys(panels))


def blocks(path: str, deadline: float) -> Iterator[dict[str, Any]]:
    """Yield what the messages of a transcript are made of."""
    for entry in entries(path, deadline):
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        yield from (block for block in (content if isinstance(content, list) else []) if isinstance(block, dict))


def asks(block: dict[str, Any]) -> bool:
    """Whether a use of a tool asks a panel: over MCP, or with the command."""
    given = block.get("input")
    command = given.get("command") if isinstance(given, dict) else None
    return bool(ASKING_TOOL.fullmatch(str(block.get("name"))) or (isinstance(command, str) and ASKING_COMMAND.search(command)))


def entries(path: str, deadline: float) -> Iterator[dict[str, Any]]:
    """Yield the transcript's lines that are JSON objects, of its last LONGEST_READ bytes."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return
    with open(path, "rb") as transcript:
        transcript.seek(max(0, os.path.getsize(path) - LONGEST_READ))
        for line in transcript:
            if time.monotonic() > deadline:
                return
            # Most lines speak of no panel, and parsing is what takes long.
            if b"tool_" in line and (b"ask" in line or PANEL.search(line.decode("utf-8", "replace"))):
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(entry, dict):
                    yield entry


def owed_for(panel: str, environment: Mapping[str, str], deadline: float) -> list[tuple[str, str]]:
    """Return (call id, alias) of a panel's answers that wait for a verdict, as the bench has it."""
    left = deadline - time.monotonic()
    if left <= 0:
        return []
    base = (environment.get("BENCHWARMERS_URL") or DEFAULT_URL).rstrip("/")
    if urllib.parse.urlsplit(base).scheme not in ("http", "https"):
        return []
    request = urllib.request.Request(base + "/bench/verdicts/owed?limit=20&panel=" + panel)  # noqa: S310 (just judged)
    if environment.get("BENCHWARMERS_KEY"):
        request.add_header("Authorization", "Bearer " + environment["BENCHWARMERS_KEY"])
    try:
        with opener(base).open(request, timeout=min(left, REQUEST_SECONDS)) as reply:
            found = json.loads(reply.read(1_000_000))["owed"]
    except urllib.error.HTTPError:
        # Asked elsewhere, or with another key: there may be others that are known here.
        return []
    return [(one["call"], re.sub(r"[^\w.:/-]", "", one["alias"])) for one in found if CALL.fullmatch(one["call"])]


def opener(base: str) -> urllib.request.OpenerDirector:
    """Whatever asks `base`: a proxy of the environment has no business with this machine's own addresses."""
    host = urllib.parse.urlsplit(base).hostname or ""
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if host == "localhost" or is_loopback(host):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def marker_of(session: str) -> str:
    """Where it is noted that a session was reminded, in a folder that only its owner can write. Raises OSError."""
    folder = os.path.join(tempfile.gettempdir(), f"bench-plugin-{getattr(os, 'getuid', int)()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise OSError(folder + " is somebody else's")
    return os.path.join(folder, hashlib.sha256(session.encode("utf-8", "replace")).hexdigest())


def claimed(marker: str) -> bool:
    """Whether this process is the one that reminds: of two at once, one is."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def reminder(owed: list[tuple[str, str]]) -> str:
    named = ", ".join(f"{call} ({alias})" for call, alias in owed[:MOST_NAMED])
    more = f" and {len(owed) - MOST_NAMED} more" if len(owed) > MOST_NAMED else ""
    return (
        f"Panels that you asked in this session have answers without a verdict: {named}{more}. For each that you checked "
        "against the real work, call the bench's verdict tool now, with its real and its false claims. Send none for what "
        "you did not check. Then go on; you are reminded once."
    )


if __name__ == "__main__":
    try:
        said = main(sys.stdin.read(), os.environ)
    except Exception:  # noqa: BLE001 (whatever is wrong here, the session it would disturb is worth more)
        said = ""
    sys.stdout.write(said)
