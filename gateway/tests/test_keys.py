"""Keys on every route: which key opens what, in every format's words, plain and streamed."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from gateway.tests.bench_file import bench_file
from gateway.tests.formats import FORMS, GEMINI, error_text
from gateway.tests.running_server import RunningServer, running_server

HI = {"messages": [{"role": "user", "content": "hi"}]}
COUNTS = {
    "/v1/messages/count_tokens": {"model": "bench/{}", **HI},
    "/v1/responses/input_tokens": {"model": "bench/{}", "input": "hi"},
    "/v1beta/models/bench/{}:countTokens": {"contents": [{"parts": [{"text": "hi"}]}]},
    "/api/show": {"model": "bench/{}"},
}
CARDS = ("/v1/models/bench/{}", "/models/bench/{}", "/v1beta/models/bench/{}")
LISTS = ("/v1/models", "/models", "/api/tags", "/v1beta/models", "/bench/collections")
OPEN_TO_ANY_KEY = ("/api/version", "/api/ps", *LISTS)


@pytest.fixture(scope="module")
def guarded(upstream, tmp_path_factory):
    bench = bench_file(upstream.url, {"a": {"model": "say-a"}, "b": {"model": "say-b"}}, {"mine": ["a"], "theirs": ["b"]})
    bench += "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("guarded"), bench, BENCHWARMERS_REQUIRE_KEYS="1") as server:
        yield server


def make_key(server: RunningServer, name: str, *options: str) -> str:
    made = server.manage("create_key", name, *options)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture(scope="module")
def keys(guarded):
    soon = timezone.now() + timedelta(seconds=2)
    made = {
        "right": make_key(guarded, "right", "--collections", "mine"),
        "other": make_key(guarded, "other", "--collections", "theirs"),
        "any": make_key(guarded, "any"),
        "revoked": make_key(guarded, "revoked"),
        "expired": make_key(guarded, "expired", "--expires", soon.isoformat()),
        "strict": make_key(guarded, "strict", "--no-bench-field"),
        "rated": make_key(guarded, "rated", "--rpm", "20"),
        "unknown": "bwk_" + "A" * 43,
        "malformed": "sk-" + "A" * 30,
    }
    revoke = "from keys import models, services; services.revoke(models.GatewayKey.objects.filter(name='revoked'))"
    assert guarded.manage("shell", "-c", revoke).returncode == 0
    deadline = soon + timedelta(seconds=0.1)
    while timezone.now() < deadline:
        threading.Event().wait(0.05)
    return made


def ask(server: RunningServer, form, key: str | None, collection: str = "mine", *, stream: bool = False, **headers: str):
    path, body = form.request(f"bench/{collection}", stream=stream)
    return server.request("POST", path, body, (bearer(key) if key else {}) | headers)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


REFUSED = {"unknown": "unknown", "malformed": "malformed", "revoked": "revoked", "expired": "expired"}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_only_a_right_key_asks_a_panel(guarded, keys, form, stream):
    missing = ask(guarded, form, None, stream=stream)
    assert missing.status == 401
    assert "none was sent" in error_text(form, missing.json)
    assert missing.headers["www-authenticate"] == "Bearer"
    for name, word in REFUSED.items():
        refused = ask(guarded, form, keys[name], stream=stream)
        assert refused.status == 401
        assert word in error_text(form, refused.json)
        assert keys[name].encode() not in refused.body
    scoped = ask(guarded, form, keys["other"], stream=stream)
    assert scoped.status == 403
    assert "may not ask bench/mine" in error_text(form, scoped.json)
    nowhere = ask(guarded, form, keys["other"], "none", stream=stream)
    assert nowhere.status == 404
    assert "bench/mine" not in error_text(form, nowhere.json)
    assert "bench/theirs" in error_text(form, nowhere.json)
    assert ask(guarded, form, keys["right"], stream=stream).status == 200


@pytest.mark.parametrize("path", OPEN_TO_ANY_KEY)
def test_lists_need_a_key_and_show_what_it_may_ask(guarded, keys, path):
    assert guarded.request("GET", path).status == 401
    for name in REFUSED:
        assert guarded.request("GET", path, headers=bearer(keys[name])).status == 401
    mine, theirs, every = (guarded.request("GET", path, headers=bearer(keys[name])) for name in ("right", "other", "any"))
    assert mine.status == theirs.status == every.status == 200
    if path in LISTS:
        assert b"bench/mine" in mine.body and b"bench/theirs" not in mine.body
        assert b"bench/theirs" in theirs.body and b"bench/mine" not in theirs.body
        assert b"bench/mine" in every.body and b"bench/theirs" in every.body


def requests_naming(collection: str):
    for path in CARDS:
        yield "GET", path.format(collection), None
    for path, body in COUNTS.items():
        named = {name: value.format(collection) if isinstance(value, str) else value for name, value in body.items()}
        yield "POST", path.format(collection), named


def test_cards_and_counts_follow_the_scope(guarded, keys):
    for method, path, body in requests_naming("mine"):
        assert guarded.request(method, path, body).status == 401, path
        for name in REFUSED:
            assert guarded.request(method, path, body, bearer(keys[name])).status == 401, path
        refused = guarded.request(method, path, body, bearer(keys["other"]))
        assert refused.status == 403, path
        assert guarded.request(method, path, body, bearer(keys["right"])).status == 200, path
    for method, path, body in requests_naming("none"):
        missing = guarded.request(method, path, body, bearer(keys["other"]))
        assert missing.status == 404, path
        assert b"bench/mine" not in missing.body


def test_a_scoped_key_names_no_model_outside_its_collections(guarded, keys):
    for extra in ({"with": ["b"]}, {"bench": {"merger": "b"}}):
        body = {"model": "bench/mine:merged", **HI} | extra
        scoped, every = (guarded.request("POST", "/v1/chat/completions", body, bearer(keys[name])) for name in ("right", "any"))
        assert scoped.status == 400, extra
        assert "no model on this bench. No alias is like it." in scoped.json["error"]["message"]
        assert b"No alias is like it" not in every.body, extra


def test_a_key_pasted_into_a_name_or_a_path_is_not_said_back(guarded, keys):
    for method, path, body in (
        ("POST", "/v1/chat/completions", {"model": keys["any"], **HI}),
        ("GET", f"/v1/nothing/{keys['any']}", None),
        ("GET", f"/v1/models/{keys['any']}", None),
    ):
        reply = guarded.request(method, path, body, bearer(keys["right"]))
        assert reply.status == 404
        assert keys["any"].encode() not in reply.body


def test_a_panel_is_its_askers_to_read_follow_and_judge(guarded, keys):
    bench = ask(guarded, FORMS[0], keys["right"]).json["bench"]
    verdict = {"call": bench["seats"][0]["call"], "useful": True}
    routes = [
        ("GET", f"/bench/panels/{bench['panel']}", None),
        ("GET", f"/bench/panels/{bench['panel']}/events", None),
        ("POST", "/bench/verdict", verdict),
    ]
    for method, path, body in routes:
        assert guarded.request(method, path, body).status == 401
        for name in REFUSED:
            assert guarded.request(method, path, body, bearer(keys[name])).status == 401
        for name in ("other", "any"):
            assert guarded.request(method, path, body, bearer(keys[name])).status == 403, (path, name)
        assert guarded.request(method, path, body, bearer(keys["right"])).status == 200, path
    assert guarded.rows("select asked_by from evidence_panel where panel_id = ?", bench["panel"]) == [("right",)]


def test_verdicts_owed_are_told_to_whoever_asked_for_the_answers(guarded, keys):
    panel = ask(guarded, FORMS[0], keys["right"]).json["bench"]["panel"]
    path = f"/bench/verdicts/owed?panel={panel}"
    for address in (path, "/bench/verdicts/owed"):
        assert guarded.request("GET", address).status == 401
        for name in REFUSED:
            assert guarded.request("GET", address, headers=bearer(keys[name])).status == 401
    mine = guarded.request("GET", path, headers=bearer(keys["right"]))
    assert [(row["call"], row["question"]) for row in mine.json["owed"]] == [(f"{panel}.member1", "Say anything.")]
    for name in ("other", "any"):
        theirs = guarded.request("GET", path, headers=bearer(keys[name]))
        assert (theirs.status, "another caller" in theirs.json["error"]["message"]) == (403, True)
        every = guarded.request("GET", "/bench/verdicts/owed", headers=bearer(keys[name])).json
        assert panel not in [row["panel"] for row in every["owed"]]


def test_an_idempotency_key_is_its_callers_own(guarded, keys):
    panels = set()
    for name in ("right", "any"):
        reply = ask(guarded, FORMS[0], keys[name], **{"Idempotency-Key": "shared"})
        panels.add(reply.json["bench"]["panel"])
    assert len(panels) == 2


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "x-goog-api-key"])
def test_every_way_of_sending_a_key_opens_every_format(guarded, keys, header):
    value = f"bearer {keys['right']}" if header == "Authorization" else keys["right"]
    for form in FORMS:
        assert ask(guarded, form, None, **{header: value}).status == 200


def test_the_first_key_sent_is_judged(guarded, keys):
    assert ask(guarded, FORMS[0], keys["unknown"], **{"x-api-key": keys["right"]}).status == 401
    assert ask(guarded, FORMS[0], None, **{"x-api-key": keys["right"], "x-goog-api-key": keys["unknown"]}).status == 200


def test_a_key_in_the_query_opens_geminis_routes_alone(guarded, keys):
    path, body = GEMINI.request("bench/mine")
    assert guarded.request("POST", f"{path}?key={keys['right']}", body).status == 200
    assert guarded.request("GET", f"/v1beta/models?key={keys['right']}").status == 200
    for form in FORMS:
        if form is not GEMINI:
            path, body = form.request("bench/mine")
            assert guarded.request("POST", f"{path}?key={keys['right']}", body).status == 401
    assert guarded.request("GET", f"/v1/models?key={keys['right']}").status == 401
    assert keys["right"] not in guarded.log


def test_a_strict_clients_key_leaves_the_bench_field_out(guarded, keys):
    assert "bench" not in ask(guarded, FORMS[0], keys["strict"]).json


def test_a_keys_rate_is_exact_under_parallel_requests(guarded, keys):
    assert ask(guarded, FORMS[0], keys["rated"], "none").status == 404
    replies: list = []
    threads = [threading.Thread(target=lambda: replies.append(ask(guarded, FORMS[0], keys["rated"]))) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.status for reply in replies) == [200] * 20 + [429] * 30
    refused = next(reply for reply in replies if reply.status == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "20 times a minute" in refused.json["error"]["message"]


def test_no_key_opens_the_dashboard_and_no_cookie_the_gateway(guarded, keys):
    cookie = {"Cookie": f"bench_session_{guarded.port}={keys['right']}; key={keys['right']}"}
    assert ask(guarded, FORMS[0], None, **cookie).status == 401
    plain = guarded.request("GET", "/admin/")
    assert guarded.request("GET", "/admin/", headers=bearer(keys["right"])).status == plain.status


def test_no_key_was_written_down(guarded, keys):
    files = [path for path in guarded.folder.rglob("*") if path.is_file()]
    for name in ("right", "other", "any", "strict", "rated"):
        assert not [path for path in files if keys[name].encode() in path.read_bytes()], name


def test_where_no_key_is_asked_for_any_bearer_is_ignored(server):
    for key in ("anything", "bwk_" + "A" * 43):
        assert ask(server, FORMS[0], key, "pair").status == 200
