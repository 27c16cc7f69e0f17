"""Requests that have something recognisable in every place that a request has, and what sends them.

Well formed and badly, to every kind of route; what a reply may quote of them is told by the name of the place.
"""

import json
import re
import socket
from itertools import cycle, islice

from benchsite.tests.failing_site import BREAK_THE_POOL, KINDS

MARK = "quokka"
# Places whose text a refusal may quote to its caller: names, by which a caller finds the mistake, and words where only a
# few are known, such as a role. The prompt comes back in what a provider says, error or answer.
QUOTED = {"path", "host", "model", "nominated", "panel", "call", "field", "word", "prompt"}
# A redirect of the dashboard's leads back to where its caller was, query included; that is in its Location alone.
LED_BACK = {"query", "path"}
QUIET_HEADERS = (
    "authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "referer", "user-agent",
    "x-correlation-id", "x-request-id", "accept-language", "accept-encoding", "if-none-match", "x-csrftoken",
    "x-stainless-lang", "x-stainless-retry-count", "openai-organization", "anthropic-version", "anthropic-beta",
    "daphne-root-path", "x-under_score", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol",
    "traceparent", "from",
)  # fmt: skip
# One at a time: each turns a request into another.
LOUD_HEADERS = (
    "host", "origin", "sec-fetch-site", "content-type", "expect", "x-bench-depth",
    "accept", "accept-charset", "range", "if-modified-since", "idempotency-key", "last-event-id", "x-http-method-override",
    "access-control-request-method", "access-control-request-headers", "authorization", "cookie",
    "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-real-ip", "forwarded", "via",
)  # fmt: skip
LOUD_FOR_EACH = 6
TARGETS = (
    ("GET", "/"), ("GET", "/healthz"), ("GET", "/nowhere"), ("GET", "/static/nothing.css"), ("GET", "/admin"),
    ("GET", "/admin/"), ("GET", "/admin/login/"), ("GET", "/admin/evidence/panel/"), ("GET", "/admin/auth/user/1/change/"),
    ("POST", "/admin/login/"), ("POST", "/admin/collections_app/collection/add/"), ("POST", "/admin/nowhere/"),
    ("GET", "/v1/models"), ("GET", "/v1beta/models"), ("GET", "/api/tags"), ("GET", "/v1/nowhere"), ("GET", "/bench/panels/p1"),
    ("GET", "/bench/panels/p1/events"), ("OPTIONS", "/v1/chat/completions"), ("PUT", "/v1/models"),
    ("POST", "/v1/chat/completions"), ("POST", "/v1/messages"), ("POST", "/v1/responses"), ("POST", "/api/chat"),
    ("POST", "/v1beta/models/bench/pair:generateContent"), ("POST", "/v1/messages/count_tokens"), ("POST", "/bench/verdict"),
    *(("GET", f"/fail/{kind}") for kind in KINDS), ("POST", "/fail/ValueError"), ("GET", "/fail-aside"),
    ("POST", "/fail-aside"),
)  # fmt: skip


def mark(place):
    return f"{MARK}-{place}-7391"


def hello(**fields):
    return {"model": "bench/fences", "messages": [{"role": "user", "content": mark("prompt")}]} | fields


def gemini(**fields):
    return {"contents": [{"role": "user", "parts": [{"text": mark("prompt")}]}]} | fields


def gemini_bodies():
    yield gemini()
    yield gemini(generationConfig={"stopSequences": [mark("body")], "temperature": mark("body")}, labels={"a": mark("body")})
    yield gemini(tools=mark("body"))
    yield gemini(contents=mark("body"))
    yield gemini(contents=[{"role": mark("word"), "parts": [{"text": mark("prompt")}]}])
    yield gemini(contents=[{"parts": [{"inlineData": {"mimeType": mark("word"), "data": mark("body")}}]}])
    yield gemini(contents=[{"parts": [{mark("field"): mark("body")}]}])


def bodies():
    """Requests whose fields are marked, some of them refused for it."""
    prompt = hello()["messages"]
    yield hello(user=mark("body"), metadata={"a": mark("body")}, stop=mark("body"), seed=7)
    yield hello(**{mark("field"): mark("body")})
    for name in ("temperature", "stream", "max_tokens", "tools", "messages", "bench", "with", "n", "response_format"):
        yield hello(**{name: mark("body")})
    yield hello(bench={mark("field"): mark("body")})
    yield hello(bench={"reply": mark("word")})
    yield hello(bench={"with": [mark("nominated")], "merger": mark("nominated")})
    yield hello(model=mark("model"))
    yield hello(model=f"bench/{mark('model')}")
    yield hello(model={"name": mark("body")})
    yield hello(messages=[{"role": mark("word"), "content": mark("prompt")}])
    yield hello(messages=[{"role": "user", "content": [{"type": mark("word"), "text": mark("body")}]}])
    yield hello(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": mark("body")}}]}])
    for model in ("failing", "limits", "quotes", "leaving", "tight"):
        for stream in (False, True):
            yield {"model": f"bench/{model}", "messages": prompt, "stream": stream, "user": mark("body")}
            yield {"model": f"bench/{model}", "messages": [{"role": "user", "content": mark("prompt") * 999}], "stream": stream}
    for stream in (False, True):
        yield hello(messages=[{"role": "user", "content": BREAK_THE_POOL + mark("prompt")}], stream=stream)


MALFORMED = (
    b"%s / HTTP/1.1 %s\r\n\r\n", b"%s\r\n\r\n", b"GET /%s HTTP/%s\r\n\r\n",
    b"CONNECT %s:443 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n%s\r\n\r\n", b"GET / HTTP/1.1\r\n%s %s: 1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: %s\r\nHost: %s\r\n\r\n", b"GET /?%s\xff HTTP/1.1\r\nHost: %s\r\n\r\n",
    b"GET /%s\xff HTTP/1.1\r\nHost: %s\r\n\r\n", b"GET / HTTP/1.1\r\nHost: h\r\nCookie: %s\x01\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: h\r\nCookie: %s\r\n folded-%s\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n%s",
    b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: %s\r\n\r\n%s",
    b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 40\r\n\r\n%s",
    b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
    b"POST /v1/messages HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: %s\r\nContent-Length: 4\r\n\r\n%s",
    b"\x16\x03\x01%s", b"GET / HTTP/1.1\r\nHost: h\r\nCookie: " + b"%s" * 9000 + b"\r\n\r\n",
)  # fmt: skip
FORMS = (
    ("application/x-www-form-urlencoded", b"username=u&password=%s&csrfmiddlewaretoken=%s&next=%s"),
    ("application/x-www-form-urlencoded", b"token=%s&csrfmiddlewaretoken=%s"),
    (
        "multipart/form-data; boundary=b",
        b'--b\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\n\r\n%s\r\n--b--\r\n',
    ),
    ("multipart/form-data", b"%s"),
    ("multipart/form-data; boundary=\xff", b"%s"),
    ("application/json", b'{"model": "%s", '),
    ("application/json", b'"%s"'),
    ("application/json; charset=%s", b'{"messages": "%s"}'),
    ("text/plain", b"%s"),
)


class Sender:
    """Sends raw bytes, and keeps every reply with what may be in it."""

    def __init__(self, server):
        self.server = server
        self.found = []

    def send(self, sent, seconds=20.0):
        # Of a request that never ends, the server waits for the end.
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=seconds) as connection:
            connection.sendall(sent)
            reply = b"".join(iter(lambda: _received(connection), b""))
        head, _, body = reply.partition(b"\r\n\r\n")
        headers = head.decode("latin-1").lower().split("\r\n")
        self._look(sent, "\n".join(line for line in headers if not line.startswith("location:")), QUOTED - {"path"})
        self._look(sent, "\n".join(line for line in headers if line.startswith("location:")), LED_BACK)
        self._look(sent, body.decode("utf-8", "replace").lower(), QUOTED)
        return reply

    def request(self, method, target, headers=None, body=b""):
        names = {"host": f"127.0.0.1:{self.server.port}", "content-type": "application/json", "connection": "close"}
        if body:
            names["content-length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in (names | (headers or {})).items())]
        return self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def _look(self, sent, text, allowed):
        for place in marked(text) - allowed:
            self.found.append(f"{place} came back in {text[max(0, text.find(mark(place)) - 120) :][:260]!r} for {sent[:90]!r}")


def _received(connection):
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def marked(text):
    """The places whose mark is in a text."""
    return set(re.findall(rf"{MARK}-([a-z_-]+?)-7391", text.lower()))


def fill(template, place):
    return template.replace(b"%s", mark(place).encode())


def everything(sender):
    """Send all that this module knows."""
    to_every_target(sender)
    to_unknown_paths(sender)
    with_every_field(sender)
    with_every_form(sender)
    for template in MALFORMED:
        sender.send(fill(template, "malformed"), seconds=0.2)
    # Of a whole URL everything up to the path is its host.
    sender.send(fill(b"GET http://%s:%s@%s/ HTTP/1.1\r\n\r\n", "host"), seconds=0.2)


def to_every_target(sender):
    quiet = {name: mark(name) for name in QUIET_HEADERS}
    # Each target gets a few of them, in turn, so that each of them meets a dozen targets.
    loud = cycle(LOUD_HEADERS)
    for method, path in TARGETS:
        body = json.dumps(hello(user=mark("body"))).encode() if method == "POST" else b""
        sender.request(method, f"{path}?key={mark('query')}&{mark('query')}", quiet, body)
        for name in islice(loud, LOUD_FOR_EACH):
            sender.request(method, f"{path}?alt={mark('query')}", {name: mark(name)}, body)
        sender.request(method, f"{path}/{mark('path')}", {"authorization": f"Bearer {mark('authorization')}"}, body)


def to_unknown_paths(sender):
    for path in ("v1/models", "bench/panels", "v1beta/models", "static", "admin/auth/user", "admin"):
        sender.request("GET", f"/{path}/{mark('path')}/change/?key={mark('query')}", {"accept": "text/html"})


def with_every_field(sender):
    verdict = {"call": mark("call"), "useful": True, "note": mark("body")}
    sender.request("POST", "/bench/verdict", body=json.dumps(verdict).encode())
    for fields in bodies():
        sender.request("POST", "/v1/chat/completions", body=json.dumps(fields).encode())
    for fields in gemini_bodies():
        for verb in ("generateContent", "streamGenerateContent", "countTokens"):
            for model in ("bench/fences", "bench/failing", mark("model")):
                target = f"/v1beta/models/{model}:{verb}?alt=sse&key={mark('query')}&{mark('query')}"
                sender.request("POST", target, {"x-goog-api-key": mark("x-goog-api-key")}, json.dumps(fields).encode())


def with_every_form(sender):
    for content_type, form in FORMS:
        for path in ("/admin/login/", "/admin/auth/user/add/", "/v1/chat/completions", "/fail/ValueError", "/nowhere"):
            headers = {
                "content-type": content_type.replace("%s", mark("content-type")),
                "cookie": "; ".join(f"bench_{name}_{sender.server.port}={mark('cookie')}" for name in ("csrf", "session")),
            }
            sender.request("POST", path, headers, fill(form, "form"))
