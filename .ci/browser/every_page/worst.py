"""A bench with the worst that names, questions, answers and verdicts can hold, behind a login, and who looks at its pages."""

import json

import hostile
from playwright.sync_api import Page, expect

from gateway.tests.bench_file import bench_file
from gateway.tests.running_server import RunningServer

TOKEN = "a-token-of-24-characters"
MODELS = {
    hostile.ALIAS: {"model": "echo", "family": ["worst"]},
    "served": {"model": hostile.SERVED},
    "failing": {"model": "echo-error"},
    "cut": {"model": "echo-cut"},
    "thinking": {"model": "think-tags"},
    "gone": {"model": "say-gone", "status": "retired"},
}


def bench_of(upstream_url: str) -> str:
    bench = bench_file(upstream_url, MODELS, {hostile.COLLECTION: list(MODELS)}) + "\n[limits]\nmax_explorers = 0\n"
    return bench.replace(f'"For {hostile.COLLECTION}"', json.dumps(hostile.LINE[:300]))


def log_in(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.base_url}/admin/")
    page.fill("input[name=token]", TOKEN)
    page.click("button:has-text('Log in')")
    expect(page).to_have_url(f"{server.base_url}/admin/")


def ask_the_worst(server: RunningServer, key: str) -> None:
    """A panel whose request, answers, errors and verdicts are hostile."""
    body = {"model": f"bench/{hostile.COLLECTION}", "messages": [{"role": "user", "content": hostile.TEXT}]}
    headers = {"Authorization": f"Bearer {key}"}
    seats = server.request("POST", "/v1/chat/completions", body, headers).json["bench"]["seats"]
    assert any(hostile.TEXT[:60] in (seat["answer"] or "") for seat in seats)
    for call in (seat["call"] for seat in seats if seat["status"] == "ok"):
        worst = {"note": hostile.TEXT, "real": [hostile.LINE], "false": [hostile.LINE], "correction": hostile.TEXT}
        reply = server.request("POST", "/bench/verdict", {"call": call, "useful": True, **worst}, headers)
        assert reply.status == 200, reply.body
