"""Something recognisable in every place that a request has, sent to every kind of route, well and badly formed.

None of it may be found afterwards: not in what the server wrote to its log, not in a file of its data folder, not in a reply.
What may be quoted back to the caller who sent it, and what the call log is there to keep, is listed here and in SECURITY.md.
"""

import time

import pytest

from benchsite.tests.marked_requests import Sender, everything, hello, mark, marked
from gateway.tests.running_server import running_server

TOKEN = "a-token-of-this-test-alone"
# What the call log is for: the prompt, and names of models that were asked for and of settings that a panel does not pass
# on. A key of idempotency is a name too.
KEPT = {"prompt", "nominated", "field", "idempotency-key"}


@pytest.fixture(scope="module", params=["as installed", "with keys"])
def sent(request, loud_bench, tmp_path_factory):
    """A server, and everything sent to it. With keys, most is refused at the door."""
    keys = {"BENCHWARMERS_ADMIN_TOKEN": TOKEN} if request.param == "with keys" else {}
    loudly = {"DJANGO_SETTINGS_MODULE": "benchsite.tests.failing_settings", "PYTHONASYNCIODEBUG": "1"}
    with running_server(tmp_path_factory.mktemp("written"), loud_bench, **loudly, **keys) as server:
        sender = Sender(server)
        everything(sender)
        yield sender


def settled(server):
    """The whole log, once it has said something of the last request."""
    server.request("GET", "/healthz")
    deadline = time.monotonic() + 5
    while not server.log.rstrip().endswith("-") and time.monotonic() < deadline:
        time.sleep(0.02)
    return server.log


def files_of(server):
    """Everything that was kept but the log, as text."""
    files = {name: content.decode("latin-1") for name, content in server.kept().items() if name != "server.log"}
    assert "0001_initial" in "".join(files.values())
    return files


def test_no_reply_quotes_more_than_names(sent):
    assert sent.found == [], "\n".join(sent.found)


def test_the_log_has_a_line_for_everything_and_nothing_of_it(sent):
    log = settled(sent.server)
    assert log.count("bench.access") > 350
    assert marked(log) == set()
    assert TOKEN not in log
    # What failed is still said, and where.
    for told in ("ValueError", "failing_site.py", "bench.uncaught", "asyncio"):
        assert told in log


def test_the_data_folder_keeps_prompts_and_names_alone(sent):
    files = files_of(sent.server)
    assert {name: found for name, text in files.items() if (found := marked(text) - KEPT)} == {}
    assert [name for name, text in files.items() if TOKEN in text] == []


def test_a_key_that_is_let_in_is_named_and_is_nowhere(sent):
    """And what is to be kept is found, as all else would be, were it anywhere."""
    server = sent.server
    key = server.manage("create_key", "reading-app").stdout.strip()
    assert key.startswith("bwk_")
    gemini = {"contents": [{"parts": [{"text": "Hello."}]}]}
    answers = [
        server.request("POST", "/v1/chat/completions", hello(), {"Authorization": f"Bearer {key}"}),
        server.request("POST", f"/v1beta/models/bench/fences:generateContent?key={key}", gemini),
        server.request("POST", f"/v1beta/models/bench/fences:generateContent?key={key[:-1]}x", gemini),
        server.request("POST", f"/v1/chat/completions?key={key}", hello()),
    ]
    refused = 401 if server.environment.get("BENCHWARMERS_ADMIN_TOKEN") else 200
    assert [answer.status for answer in answers] == [200, 200, refused, refused]
    log, files = settled(server), files_of(server)
    assert ("ms reading-app" in log) == (refused == 401)
    for text in (log, *files.values(), *(f"{answer.headers} {answer.body.decode()}" for answer in answers)):
        # Its last four are kept, for people to know it by.
        assert key[4:-4] not in text
    assert mark("prompt") in "".join(files.values())
