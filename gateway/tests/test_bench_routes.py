"""What the bench tells of itself in no format's words: which collections there are, which answers wait for a verdict."""

import pytest


def test_each_collection_is_told_once_with_what_it_is_for(server):
    rows = {row["name"]: row for row in server.request("GET", "/bench/collections").json["collections"]}
    assert rows["bench/seeing"] == {
        "name": "bench/seeing",
        "description": "For seeing",
        "tags": ["test"],
        "members": ["eyes", "fast"],
        "shape": "",
        "reply": "all",
        "merger": "",
        "explorers": 0,
        "together": {"context_window": None, "capabilities": []},
        "other_reply": "bench/seeing:merged",
    }
    assert rows["bench/tight"]["together"]["context_window"] == 300
    assert not [name for name in rows if ":" in name]


def test_an_answer_is_owed_until_it_is_judged_as_it_is_said(server):
    bench = server.chat("bench/pair", "Is this owed?\nTruly?").json["bench"]
    path = f"/bench/verdicts/owed?panel={bench['panel']}"
    page = server.request("GET", path).json
    assert [row["call"] for row in page["owed"]] == [bench["seats"][1]["call"], bench["seats"][0]["call"]]
    assert {row["question"] for row in page["owed"]} == {"Is this owed?"}
    assert page["verdict"] == bench["verdict"]
    assert page["read"] == f"GET {server.base_url}/bench/panels/<panel>"
    first = page["owed"][0]["call"]
    assert server.request("POST", "/bench/verdict", {"call": first, "useful": True}).json["written"]
    assert first not in [row["call"] for row in server.request("GET", path).json["owed"]]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=0", 400),
        ("a=1&" * 3_000, 400),
        ("limit=x", 400),
        ("limit=", 400),
        ("limit=0000019999999", 400),
        ("panel=p20260101-000000-0000", 404),
        ("panel=%00", 404),
    ],
)
def test_what_cannot_be_told_is_refused_in_json(server, query, status):
    reply = server.request("GET", f"/bench/verdicts/owed?{query}")
    assert (reply.status, reply.headers["content-type"]) == (status, "application/json")
    assert reply.json["error"]["message"]


def test_no_more_are_told_than_were_asked_for(server):
    server.chat("bench/staggered")
    page = server.request("GET", "/bench/verdicts/owed?limit=2").json
    assert (len(page["owed"]), page["more"]) == (2, True)
