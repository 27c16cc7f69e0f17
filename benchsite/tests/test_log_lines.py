"""Log lines: what is kept of what was said, by whom, and of errors."""

import io
import logging
import sys
from types import SimpleNamespace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.http import HttpRequest
from django.test import override_settings
from django.views.debug import get_exception_reporter_class, technical_500_response

from benchsite.http.request import BenchRequest
from benchsite.log.lines import LineFormatter, Stderr

SECRET = "quokka"


def line(name, message, *args, error=None, **extra):
    """What the server writes for one call of a logger."""
    record = logging.getLogger(name).makeRecord(
        name, logging.ERROR, "/lib/place.py", 12, message, args, (type(error), error, error.__traceback__) if error else None
    )
    vars(record).update(extra)
    # The time stands first and is not what is tested.
    return LineFormatter().format(record).partition(" ERROR ")[2]


def raised(error, cause=None):
    try:
        if cause:
            try:
                raise cause
            except type(cause) as first:
                raise error from first
        raise error
    except type(error) as caught:
        return caught


def test_our_own_words_are_kept_with_secrets_taken_out():
    assert line("gateway.views", "Seat %s of %s", 3, "p1") == "gateway.views: Seat 3 of p1"
    assert "sk-" not in line("keys.services", "It was sent sk-proj-1234567890abcdef")


def test_a_librarys_values_become_their_types():
    said = line("urllib3.connectionpool", "Retrying (%r) after %s in %d s", f"/v1?key={SECRET}", raised(ValueError(SECRET)), 3)
    assert said == "urllib3.connectionpool: Retrying ('<str>') after <ValueError> in 3 s"
    assert line("lib", "%(what)s took %(seconds).1f s", {"what": SECRET, "seconds": 2.0}) == "lib: <str> took 2.0 s"


def test_a_librarys_ready_text_becomes_the_place_where_it_was_said():
    said = line("asyncio", f"Task exception was never retrieved\nfuture: <Task exception=ValueError('{SECRET}')>")
    assert said.startswith("asyncio: place.py:12 (")
    assert SECRET not in said and "\n" not in said


def test_a_request_becomes_its_route_and_status():
    request = HttpRequest()
    request.path = f"/admin/{SECRET}/"
    request.resolver_match = type("Match", (), {"route": "admin/<path:object_id>/"})
    said = line("django.security.csrf", "Forbidden (%s): %s", SECRET, request.path, request=request, status_code=403)
    assert said == "django.security.csrf: /admin/<path:object_id>/ 403"
    request.resolver_match = None
    assert line("django.request", SECRET, request=request, status_code=404) == "django.request: /? 404"


def test_an_error_is_its_type_and_where_it_arose():
    said = line("gateway.views", "A route failed", error=raised(ValueError(SECRET)))
    first, *frames, last = said.split("\n")
    assert first == "gateway.views: A route failed"
    assert any("test_log_lines.py" in frame and "in raised" in frame for frame in frames)
    assert last == "ValueError: (its words may quote a request and are not written down)"


def test_an_error_comes_after_what_led_to_it():
    said = line("gateway.views", "A route failed", error=raised(RuntimeError(SECRET), cause=KeyError(SECRET)))
    assert said.index("KeyError") < said.index("which led to") < said.index("RuntimeError")
    assert SECRET not in said


def test_an_error_that_is_its_own_cause_ends():
    error = raised(ValueError())
    other = raised(KeyError())
    error.__cause__, other.__cause__ = other, error
    assert line("gateway.views", "A route failed", error=error).count("ValueError") == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OperationalError("database is locked"), "django.db.utils.OperationalError: database is locked"),
        (ImproperlyConfigured("BENCH_PORT is missing"), "ImproperlyConfigured: BENCH_PORT is missing"),
        (OSError(36, "File name too long", f"/static/{SECRET}"), "OSError: File name too long"),
        (OSError(SECRET), "OSError: (its words"),
        (UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, "bad"), "UnicodeDecodeError: (its words"),
        (TypeError(f"Field 'id' expected a number but got ['{SECRET}']."), "TypeError: (its words"),
    ],
)
def test_only_errors_that_quote_nothing_keep_their_message(error, told):
    said = line("gateway.views", "A route failed", error=raised(error))
    assert told in said
    assert SECRET not in said


def test_an_error_group_tells_nothing_of_its_members():
    assert SECRET not in line("gateway.views", "Failed", error=raised(ExceptionGroup(SECRET, [ValueError(SECRET)])))


def test_a_traceback_that_a_library_wrote_itself_is_written_our_way():
    try:
        raise ValueError(SECRET)
    except ValueError:
        said = line("daphne.http_protocol", f"Traceback (most recent call last):\n  ValueError: {SECRET}\n")
    assert "test_log_lines.py" in said
    assert SECRET not in said


def test_nobody_can_write_a_line_that_looks_like_the_servers():
    said = line("gateway.views", "Asked by %s", "me\n2026-11-29 INFO bench.access: GET /\x1b[2J\u2028")
    assert said == r"gateway.views: Asked by me\n2026-11-29 INFO bench.access: GET /\x1b[2J\u2028"


def test_a_record_that_cannot_be_formatted_is_not_printed_raw(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    handler = Stderr(written)
    handler.setFormatter(LineFormatter())
    handler.handle(logging.getLogger("lib").makeRecord("lib", logging.ERROR, "", 0, "%d seconds", (SECRET,), None))
    assert written.getvalue() == "A line of lib could not be logged: TypeError\n"


@pytest.mark.parametrize("stderr", [None, "closed", "broken"])
def test_nothing_fails_for_want_of_standard_error(monkeypatch, stderr):
    gone = io.StringIO()
    gone.close()
    broken = SimpleNamespace(write=raise_broken_pipe, flush=raise_broken_pipe)
    stream = {"closed": gone, "broken": broken}.get(stderr)
    monkeypatch.setattr(sys, "stderr", stream)
    handler = Stderr(stream or gone)
    handler.setFormatter(LineFormatter())
    handler.handle(logging.getLogger("gateway").makeRecord("gateway", logging.ERROR, "", 0, "said", (), None))


def raise_broken_pipe(*text):
    raise BrokenPipeError


def test_no_logger_has_a_handler_of_its_own():
    """What passes ours by is not known to be harmless: Django's would mail errors with the request in them."""
    loggers = [one for one in logging.root.manager.loggerDict.values() if isinstance(one, logging.Logger)]
    named = {one.name for one in loggers}
    assert {"django", "django.server", "django.request"} <= named
    handled = {one.name: one.handlers for one in loggers if [h for h in one.handlers if not isinstance(h, logging.NullHandler)]}
    assert handled == {}
    assert [type(handler) for handler in logging.root.handlers if isinstance(handler, Stderr)] == [Stderr]


@pytest.mark.parametrize("name", ["urllib3", "requests", "httpx", "asyncio", "daphne.server", "twisted", "channels"])
def test_libraries_do_not_speak_of_single_requests_whatever_the_roots_level(name):
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    try:
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)
    finally:
        root.setLevel(before)


@override_settings(DEBUG=True)
def test_a_debug_page_shows_the_error_alone(rf):
    request = rf.get(f"/?key={SECRET}", headers={"authorization": SECRET})
    local = SECRET  # noqa: F841 (what a debug page would show)
    try:
        raise ValueError(SECRET)
    except ValueError:
        page = technical_500_response(request, *sys.exc_info()).content.decode()
    assert "test_log_lines.py" in page and "ValueError" in page
    assert SECRET not in page


def test_an_error_mail_would_hold_the_error_alone(rf):
    error = raised(ValueError(SECRET))
    reporter = get_exception_reporter_class(None)(
        rf.get(f"/?key={SECRET}"), type(error), error, error.__traceback__, is_email=True
    )
    assert "ValueError" in reporter.get_traceback_text()
    assert SECRET not in reporter.get_traceback_text() + reporter.get_traceback_html()


def test_a_request_that_daphne_names_has_no_address_in_its_name():
    request = BenchRequest.__new__(BenchRequest)
    request.method, request.uri, request.clientproto = b"GET", f"/v1beta/models?key={SECRET}".encode(), b"HTTP/1.1"
    assert SECRET not in f"{request!r} {request}"
