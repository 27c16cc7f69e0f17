"""An image is passed on to seats that see and never written down: not in the database, a log, an error or a merger's prompt."""

import base64
import hashlib
from pathlib import Path

import pytest

from gateway.tests.bench_file import bench_file
from gateway.tests.formats import FORMS, GEMINI, WITH_IMAGES
from gateway.tests.running_server import running_server

# A PNG's first bytes and 6 kB that occur nowhere else.
PICTURE = b"\x89PNG\r\n\x1a\n" + b"".join(hashlib.sha256(bytes([n])).digest() for n in range(192))
ENCODED = base64.b64encode(PICTURE).decode()
DATA_URL = f"data:image/png;base64,{ENCODED}"
TRACES = (PICTURE[100:140], ENCODED[200:260].encode(), ENCODED[-60:].encode(), PICTURE[1000:1040].hex().encode())

SEEING = {
    "plain": {"model": "say-I-see-it."},
    "quoting": {"model": "echo"},
    "refusing": {"model": "echo-error"},
    "cutting": {"model": "echo-cut"},
    "failing": {"model": "err-500"},
    "limited": {"model": "err-429-9"},
    "leaking": {"model": "echo-secret"},
}
MODELS = {alias: fields | {"vision": True} for alias, fields in SEEING.items()} | {
    "blind": {"model": "say-blind"},
    "small": {"model": "say-small", "vision": True, "context_window": 100},
}
COLLECTIONS = {alias: [alias, "plain"] if alias != "plain" else ["plain"] for alias in SEEING} | {
    "alone": ["refusing"],
    "unseeing": ["blind"],
    "tight": ["small"],
    "mixed": ["plain", "quoting", "blind"],
}


@pytest.fixture(scope="module")
def seeing(upstream, tmp_path_factory):
    bench = bench_file(upstream.url, MODELS, COLLECTIONS) + "\n[limits]\nmax_explorers = 0\n"
    with running_server(tmp_path_factory.mktemp("seeing"), bench) as server:
        yield server


def written_down(folder: Path) -> str | None:
    """Where any of the picture's traces stands in what a server has written."""
    for path in folder.rglob("*"):
        if path.is_file() and any(trace in path.read_bytes() for trace in TRACES):
            return str(path)
    return None


@pytest.mark.parametrize("form", WITH_IMAGES, ids=str)
def test_the_seats_that_see_get_the_image_as_sent(seeing, upstream, form):
    path, body = form.request("bench/mixed", "What is it?", images=[DATA_URL])
    reply = seeing.request("POST", path, body)
    assert reply.status == 200
    sent = [request.body for request in upstream.requests if request.body["model"] == "say-I-see-it."][-1]
    assert {"type": "image_url", "image_url": {"url": DATA_URL}} in sent["messages"][-1]["content"]
    if form is not GEMINI:
        assert [seat["alias"] for seat in reply.json["bench"]["skipped"]] == ["blind"]
    assert b"not known to take images" in reply.body


@pytest.mark.parametrize("form", WITH_IMAGES, ids=str)
@pytest.mark.parametrize("collection", [*COLLECTIONS, "none", "mixed:merged", "refusing:merged"])
def test_an_image_is_written_down_nowhere(seeing, form, collection):
    for stream in (False, True):
        path, body = form.request(f"bench/{collection}", "What is it?", images=[DATA_URL, DATA_URL], stream=stream)
        reply = seeing.request("POST", path, body)
        answers = "quoting" in collection or "mixed" in collection or "cutting" in collection
        if reply.status != 200 or not answers:
            # A model's own answer is the caller's to read; everything else is the gateway's words.
            assert not any(trace in reply.body for trace in TRACES), reply.body[:400]
    assert written_down(seeing.folder) is None


@pytest.mark.parametrize("form", WITH_IMAGES, ids=str)
@pytest.mark.parametrize("gap", [" ", "\t", "\r\n", "|", "\\/"])
def test_an_image_in_broken_up_base64_is_written_down_nowhere(seeing, form, gap):
    broken = DATA_URL[:22] + gap.join(ENCODED[at : at + 20] for at in range(0, len(ENCODED), 20))
    for collection in ("refusing", "quoting", "cutting"):
        path, body = form.request(f"bench/{collection}", "What is it?", images=[broken])
        reply = seeing.request("POST", path, body)
        assert reply.status == (200 if gap.isspace() else 400)
        assert collection != "refusing" or ENCODED[200:216].encode() not in reply.body
    pieces = [ENCODED[at : at + 20].encode() for at in range(200, 400, 20)]
    for path in seeing.folder.rglob("*"):
        assert not any(piece in path.read_bytes() for piece in pieces if path.is_file()), path


def test_bad_requests_with_an_image_write_it_down_nowhere(seeing):
    for form in FORMS:
        path, body = form.request("bench/plain", images=[DATA_URL])
        for broken in (
            {**body, "tools": [{"name": "f", "x": DATA_URL}]},
            {**body, "messages": DATA_URL, "input": 5, "contents": DATA_URL, "prompt": {"x": DATA_URL}},
            {**body, "model": DATA_URL, "with": [DATA_URL]},
            {**body, "bench": {DATA_URL: 1}},
            {**body, DATA_URL: 1},
        ):
            reply = seeing.request("POST", path, broken)
            assert reply.status < 500
            if reply.status != 200:
                assert not any(trace in reply.body for trace in TRACES), (form.name, reply.body[:400])
    assert written_down(seeing.folder) is None


def test_the_merger_gets_a_placeholder(seeing, upstream):
    path, body = FORMS[0].request("bench/mixed:merged", "What is it?", images=[DATA_URL])
    assert seeing.request("POST", path, body | {"bench": {"merger": "blind"}}).status == 200
    told = [request.body for request in upstream.requests if request.body["model"] == "say-blind"][-1]
    assert "[image: data URL, 6 KB]" in told["messages"][-1]["content"]
    assert ENCODED[200:260] not in str(told)


@pytest.mark.parametrize("pasted", [DATA_URL, ENCODED], ids=["as a data URL", "as base64"])
def test_an_image_that_is_pasted_into_the_text_is_hidden_from_the_log_and_the_merger(seeing, upstream, pasted):
    """The models that are asked get the text as sent, and one of them quotes it."""
    words = f"What is in {pasted} then?"
    path, body = FORMS[0].request("bench/mixed:merged", words)
    bench = seeing.request("POST", path, body | {"bench": {"merger": "plain"}}).json["bench"]
    assert words in next(seat["answer"] for seat in bench["seats"] if seat["alias"] == "quoting")
    told = [sent.body for sent in upstream.requests if sent.body["model"] == "say-I-see-it."][-1]["messages"][-1]["content"]
    assert bench["merger"]["status"] == "ok"
    assert told.count("What is in [") == 2
    assert not any(trace.decode("latin-1") in told for trace in TRACES)
    (request,) = seeing.rows("select request from evidence_panel where panel_id = ?", bench["panel"])[0]
    assert request.startswith("user: What is in [")
    assert written_down(seeing.folder) is None


def test_the_log_says_that_there_was_an_image(seeing):
    assert seeing.rows("select count(*) from evidence_panel where request like '%[image: data URL, 6 KB]%'")[0][0] > 0
