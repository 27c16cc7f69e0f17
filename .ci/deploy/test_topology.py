"""What compose.yaml has, started from Debian's packages and asked through nginx: panels, streams, pages, refusals, a death."""

import asyncio
import json
import re
from collections.abc import Iterator
from http.client import HTTPException
from http.cookies import SimpleCookie
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import pytest
from asking import Answer, Asker, until
from files import compose
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.cluster.topology import Cluster
from benchmarks.processes import Server
from benchmarks.server import plain_environment
from gateway.tests.bench_file import bench_file

TOKEN = "an-admin-token-of-a-test"
TOO_LONG = b'"' + b"x" * 20_000_001 + b'"'
PROMPT = [{"role": "user", "content": "Say anything."}]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    command = ["-m", "benchmarks.mock_upstream", "--port", "{port}"]
    with Server("upstream", command, log=folder / "upstream.log", env=plain_environment({})) as upstream:
        cluster = Cluster(folder, upstream.url, BENCHWARMERS_ADMIN_TOKEN=TOKEN, BENCH_KEEPALIVE_SECONDS="0.2")
        models = {"fast": {"model": "m-20"}, "slow": {"model": "m-4000", "status": "retiring"}}
        bench = bench_file(f"{upstream.url}/v1", models, {"quick": ["fast"], "long": ["fast", "slow"]})
        (folder / "bench.toml").write_text(bench)
        with cluster:
            yield cluster


@pytest.fixture(scope="module")
def key(cluster: Cluster) -> dict[str, str]:
    key = {"Authorization": f"Bearer {cluster.key('tester')}"}
    for web in [Asker(port, key) for port in cluster.web_ports]:
        # It looks for workers every second, and has looked last, perhaps, before they came.
        until(lambda web=web: post(web, "quick").status == 200)
    return key


@pytest.fixture
def bench(cluster: Cluster, key: dict[str, str]) -> Asker:
    """The bench as its callers know it: nginx."""
    return Asker(cluster.port, key)


@pytest.fixture
def webs(cluster: Cluster, key: dict[str, str]) -> list[Asker]:
    """Each web process by its own port."""
    return [Asker(port, key) for port in cluster.web_ports]


def post(bench: Asker, collection: str, **fields: Any) -> Answer:
    return bench.ask("POST", "/v1/chat/completions", {"model": f"bench/{collection}", "messages": PROMPT} | fields)


def ask(bench: Asker, collection: str = "quick", **fields: Any) -> Answer:
    answer = post(bench, collection, **fields)
    assert answer.status == 200, answer.body
    return answer


def test_all_of_compose_runs_and_is_well(cluster: Cluster, bench: Asker) -> None:
    services = {name: one.get("deploy", {}).get("replicas", 1) for name, one in compose()["services"].items()}
    kinds = [re.sub(r"\d+$", "", name) for name in cluster.parts]
    assert {name: kinds.count(name) for name in kinds} | {"migrate": 1} == services
    assert [bench.ask("GET", path).status for path in ("/healthz", "/readyz")] == [200, 200]
    assert {part.name: part.runs() for part in cluster.parts.values()} == dict.fromkeys(cluster.parts, True)


def test_a_panel_is_asked_of_one_process_and_judged_and_read_on_any(bench: Asker, webs: list[Asker]) -> None:
    asked = ask(bench).json["bench"]
    (call,) = (seat["call"] for seat in asked["seats"])
    verdict = {"call": call, "useful": True, "note": "Right."}
    # Whoever is told it again has it already.
    assert [one.ask("POST", "/bench/verdict", verdict).json["written"] for one in (bench, *webs)] == [True, False, False]
    assert [web.ask("GET", f"/bench/panels/{asked['panel']}").json["status"] for web in webs] == ["done", "done"]


def test_a_stream_comes_as_it_is_written_and_is_followed_on_any_process(bench: Asker, webs: list[Asker]) -> None:
    body = {"model": "bench/long", "messages": PROMPT, "stream": True}
    pieces = bench.stream("POST", "/v1/chat/completions", body)
    panel = found(r"p\d{8}-\d{6}-[0-9a-f]{4,}", pieces)
    # Its slow seat has not answered yet: what came was not held back until the end.
    assert [runs(web, panel) for web in webs] == [True, True]
    events = [b"".join(web.stream("GET", f"/bench/panels/{panel}/events")) for web in webs]
    rest = b"".join(pieces)
    assert b"Answer of m-4000" in rest and b"[DONE]" in rest
    assert [b"Answer of m-4000" in one for one in events] == [True, True]
    assert [runs(web, panel) for web in webs] == [False, False]


def runs(web: Asker, panel: str) -> bool:
    return "running" in json.dumps(web.ask("GET", f"/bench/panels/{panel}").json)


def found(pattern: str, pieces: Iterator[bytes]) -> str:
    """What the pattern finds in a stream's beginning, of which no more is read than that needs."""
    read = ""
    for piece in pieces:
        read += piece.decode()
        if match := re.search(pattern, read):
            return match[0]
    raise AssertionError(read)


def log_in(bench: Asker) -> str:
    """Log in with the admin token as a browser does; returns the cookies."""
    form = "/admin/login/"
    csrf = cookies(bench.ask("GET", form))
    sent = urlencode({"token": TOKEN, "csrfmiddlewaretoken": csrf.partition("=")[2]}).encode()
    origin = {"Origin": f"http://127.0.0.1:{bench.port}", "Content_Type": "application/x-www-form-urlencoded"}
    answer = bench.ask("POST", form, sent, Cookie=csrf, **origin)
    assert (answer.status, answer.headers["Location"]) == (302, "/admin/"), answer.body
    return cookies(answer)


def cookies(answer: Answer) -> str:
    jar: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_all("Set-Cookie") or ():
        jar.load(line)
    return "; ".join(f"{one.key}={one.value}" for one in jar.values())


def test_the_token_opens_the_dashboard_on_every_process_and_its_pages_hear_of_panels(bench: Asker) -> None:
    session = log_in(bench)
    # nginx asks the one and then the other.
    assert [bench.ask("GET", "/admin/", Cookie=session).status for _ in range(4)] == [200] * 4
    assert bench.ask("GET", "/admin/").status == 302

    async def heard() -> None:
        origin = f"http://127.0.0.1:{bench.port}"
        address = f"ws://127.0.0.1:{bench.port}/admin/live/"
        with pytest.raises(InvalidStatus):
            async with connect(address, origin=origin, proxy=None):  # type: ignore[arg-type]
                pass
        page_of = [connect(address, origin=origin, additional_headers={"Cookie": session}, proxy=None) for _ in range(2)]  # type: ignore[arg-type]
        async with page_of[0] as one, page_of[1] as other:
            panel = (await asyncio.to_thread(ask, bench)).json["bench"]["panel"]
            for page in (one, other):
                assert panel in json.dumps([json.loads(await asyncio.wait_for(page.recv(), 60))])

    asyncio.run(heard())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/api/chat", "/v1beta/models/bench:generateContent"])
def test_too_long_a_body_is_refused_in_the_words_of_its_format(bench: Asker, webs: list[Asker], path: str) -> None:
    refused, by_itself = (asker.ask("POST", path, TOO_LONG) for asker in (bench, webs[0]))
    assert (refused.status, refused.json["error"]) == (413, by_itself.json["error"])
    assert "20,000,000" in refused.body.decode()


def test_numbers_are_had_of_each_process_and_not_through_nginx(bench: Asker, webs: list[Asker], cluster: Cluster) -> None:
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert bench.ask("GET", "/metrics", **token).status == 404
    ports = [*cluster.web_ports, *cluster.metrics_ports]
    assert [Asker(port, token).ask("GET", "/metrics").status for port in ports] == [200] * 4


def test_web_processes_are_restarted_one_by_one_and_nobody_is_turned_away(bench: Asker, cluster: Cluster) -> None:
    over, came = Event(), []

    def keep_asking() -> None:
        while not over.is_set():
            try:
                came.append(bench.ask("POST", "/v1/chat/completions", {"model": "bench/quick", "messages": PROMPT}).status)
            except (OSError, HTTPException) as error:
                came.append(repr(error))

    asking = [Thread(target=keep_asking, daemon=True) for _ in range(4)]
    for thread in asking:
        thread.start()
    try:
        for web in cluster.webs:
            web.stop()
            web.start()
    finally:
        over.set()
    for thread in asking:
        thread.join()
    assert len(came) > 20
    assert set(came) == {200}


def test_of_two_processes_one_may_die_and_without_any_that_is_said_in_json(bench: Asker, cluster: Cluster) -> None:
    first, second = cluster.webs
    first.kill()
    assert [ask(bench).json["bench"]["seats"][0]["status"] for _ in range(6)] == ["ok"] * 6
    second.kill()
    away = bench.ask("GET", "/v1/models")
    assert (away.status, away.json["error"]["type"]) == (502, "server_error")


def test_nothing_that_was_asked_is_in_a_log(cluster: Cluster) -> None:
    logs = [path for path in Path(cluster.folder).glob("*.log") if path.name != "upstream.log"]
    assert len(logs) >= 8
    assert [path.name for path in logs if PROMPT[0]["content"] in path.read_text() or TOKEN in path.read_text()] == []
