"""Dangerous and contradictory settings are told, each by its id, with what to set instead."""

import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.checks import CheckMessage, Error, run_checks
from django.test import override_settings

from benchsite.database import POSTGRESQL

AS_INSTALLED: dict[str, Any] = {
    "BENCH_BIND": "127.0.0.1",
    "BENCHWARMERS_ADMIN_TOKEN": "",
    "BENCHWARMERS_PUBLIC_URL": "",
    "BENCH_ALLOWED_HOSTS": [],
    "BENCH_ALLOWED_ORIGINS": [],
    "BENCH_TRUSTED_PROXIES": [],
    "DEBUG": False,
}
TOKEN = {"BENCHWARMERS_ADMIN_TOKEN": "sixteen-letters."}


def found(settings: Mapping[str, Any]) -> list[CheckMessage]:
    with override_settings(**AS_INSTALLED | dict(settings)):
        return [complaint for complaint in run_checks() if str(complaint.id).startswith("bench.")]


def url(text: str) -> dict[str, str]:
    return TOKEN | {"BENCHWARMERS_PUBLIC_URL": text}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        TOKEN,
        TOKEN | {"BENCH_BIND": "0.0.0.0", "BENCHWARMERS_PUBLIC_URL": "https://bench.example"},
        TOKEN | {"BENCH_BIND": "fd00::5", "BENCH_ALLOWED_HOSTS": ["bench.lan:8123", "[fd00::5]:8123", "BENCH"]},
        {"BENCH_BIND": "localhost", "BENCHWARMERS_PUBLIC_URL": "http://localhost:9000"},
        {"BENCH_BIND": "::1", "BENCH_ALLOWED_ORIGINS": ["https://app.example", "http://localhost:3000"]},
        url("https://[2001:db8::1]:8443") | {"BENCH_TRUSTED_PROXIES": ["127.0.0.1"]},
        TOKEN | {"BENCH_TRUSTED_PROXIES": ["127.0.0.1", "10.0.0.0/8", "fd00::/64"]},
    ],
)
def test_sound_settings_pass(settings: Mapping[str, Any]) -> None:
    assert found(settings) == []


@pytest.mark.parametrize(
    ("settings", "ids"),
    [
        ({"BENCHWARMERS_ADMIN_TOKEN": "fifteen-letters"}, ["bench.E001"]),
        ({"BENCH_WORKER_POOL": "gateway.workers.celery.CeleryWorkerPool", "REDIS_URL": ""}, ["bench.E014"]),
        ({"BENCH_BIND": "0.0.0.0"}, ["bench.E002"]),
        ({"BENCH_BIND": "::"}, ["bench.E002"]),
        ({"BENCH_BIND": "192.168.1.5"}, ["bench.E002"]),
        (url("bench.example"), ["bench.E003"]),
        (url("ftp://bench.example"), ["bench.E003"]),
        (url("https://"), ["bench.E003"]),
        (url("https://bench.example/bench"), ["bench.E003"]),
        (url("https://bench.example?x=1"), ["bench.E003"]),
        (url("https://bench.example#x"), ["bench.E003"]),
        (url("https://ada:secret@bench.example"), ["bench.E003"]),
        (url("https://bench.example:99999"), ["bench.E003"]),
        (url("https://bench.example:443"), ["bench.E003"]),
        (url("https://bench.example:0"), ["bench.E003"]),
        (url("https://bench.example:08443"), ["bench.E003"]),
        (url("https://Bench.example"), ["bench.E003"]),
        (url("https://bench example"), ["bench.E003"]),
        (url("https://bench.exam\nple"), ["bench.E003"]),
        (url("https://[bench"), ["bench.E003"]),
        ({"BENCHWARMERS_PUBLIC_URL": "https://bench.example"}, ["bench.E004"]),
        ({"BENCH_ALLOWED_ORIGINS": ["*"]}, ["bench.E005"]),
        ({"BENCH_ALLOWED_ORIGINS": ["null"]}, ["bench.E005"]),
        ({"BENCH_ALLOWED_ORIGINS": ["https://*.example"]}, ["bench.E005"]),
        ({"BENCH_ALLOWED_ORIGINS": ["app.example", "https://app.example/"]}, ["bench.E005"] * 2),
        (TOKEN | {"BENCH_TRUSTED_PROXIES": ["proxy.example"]}, ["bench.E006"]),
        (TOKEN | {"BENCH_TRUSTED_PROXIES": ["10.0.0.1/8", "*"]}, ["bench.E006"] * 2),
        (TOKEN | {"BENCH_TRUSTED_PROXIES": ["0.0.0.0/0"]}, ["bench.E007"]),
        (TOKEN | {"BENCH_TRUSTED_PROXIES": ["::/0"]}, ["bench.E007"]),
        ({"DEBUG": True}, ["bench.E008"]),
        ({"BENCH_BIND": "bench.example"}, ["bench.E009"]),
        ({"BENCH_BIND": "0.0.0.0:8123"}, ["bench.E009"]),
        ({"BENCH_BIND": ""}, ["bench.E009"]),
        ({"BENCH_ALLOWED_HOSTS": ["*"]}, ["bench.E010"]),
        ({"BENCH_ALLOWED_HOSTS": ["https://bench.example", ".example"]}, ["bench.E010"] * 2),
        ({"BENCH_PORT": 70_000}, ["bench.E011"]),
        ({"BENCH_PORT": 0}, ["bench.E011"]),
        ({"BENCH_SEAT_TIMEOUT": -1.0, "BENCH_CONNECT_TIMEOUT": float("nan")}, ["bench.E011"] * 2),
        ({"BENCH_KEEPALIVE_SECONDS": float("inf")}, ["bench.E011"]),
        ({"BENCH_SEAT_WORKERS": 0, "BENCH_MAX_BODY_BYTES": -5}, ["bench.E011"] * 2),
    ],
)
def test_each_dangerous_setting_is_an_error_that_says_what_to_set(settings: Mapping[str, Any], ids: list[str]) -> None:
    complaints = found(settings)
    assert [complaint.id for complaint in complaints] == ids
    assert all(isinstance(complaint, Error) and complaint.hint for complaint in complaints)


@pytest.mark.parametrize(
    ("settings", "ids"),
    [
        (url("http://bench.example") | {"BENCH_TRUSTED_PROXIES": ["127.0.0.1"]}, ["bench.W001"]),
        (url("https://bench.example"), ["bench.W004"]),
        (TOKEN | {"BENCH_BIND": "0.0.0.0"}, ["bench.W002"]),
        ({"BENCH_TRUSTED_PROXIES": ["127.0.0.1"]}, ["bench.W003"]),
    ],
)
def test_what_is_unwise_is_a_warning(settings: Mapping[str, Any], ids: list[str]) -> None:
    complaints = found(settings)
    assert [complaint.id for complaint in complaints] == ids
    assert not any(isinstance(complaint, Error) for complaint in complaints)


@pytest.mark.parametrize("engine", ["django.db.backends.mysql", "django.db.backends.postgresql"])
def test_another_database_than_the_two_is_an_error(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setitem(django_settings.DATABASES["default"], "ENGINE", engine)
    (complaint,) = found({})
    assert complaint.id == "bench.E012"
    assert engine in complaint.msg


@pytest.mark.parametrize(("engine", "ids"), [("django.db.backends.sqlite3", ["bench.E015"]), (POSTGRESQL, [])])
def test_an_sqlite_that_cannot_write_the_log_is_an_error(monkeypatch: pytest.MonkeyPatch, engine: str, ids: list[str]) -> None:
    monkeypatch.setitem(django_settings.DATABASES["default"], "ENGINE", engine)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 32, 3))
    assert [complaint.id for complaint in found({})] == ids


def test_no_secret_is_repeated() -> None:
    secrets = url("https://ada:hunter2@bench.example") | {
        "BENCHWARMERS_ADMIN_TOKEN": "hunter2",
        "BENCH_ALLOWED_ORIGINS": ["https://ada:hunter2@app.example"],
        "BENCH_ALLOWED_HOSTS": ["ada:hunter2@bench.example"],
    }
    complaints = found(secrets)
    assert len(complaints) == 4
    assert "hunter2" not in str(complaints)
