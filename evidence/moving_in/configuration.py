"""The configuration: every file of it in one transaction, each after those whose rows it names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from auditlog.context import set_extra_data
from django.db import transaction

from evidence.moving_in import folder as files
from evidence.moving_in.folder import Folder
from evidence.moving_in.reading.collections import read_collection, read_limit
from evidence.moving_in.reading.decision_models import read_decision_model
from evidence.moving_in.reading.endpoints import read_endpoint
from evidence.moving_in.reading.fields import UnusableError, table
from evidence.moving_in.reading.files import read_table, read_text
from evidence.moving_in.reading.gateway_keys import read_key
from evidence.moving_in.reading.models import Roles, read_registry, read_retired, registered
from evidence.moving_in.reading.values import OldEndpoint, OldModel
from evidence.moving_in.report import FileReport, Report
from evidence.moving_in.writing.collections import settle_collection, settle_limits
from evidence.moving_in.writing.gateway_keys import settle_key
from evidence.moving_in.writing.known import Directory
from evidence.moving_in.writing.roster import (
    Brought,
    settle_decision_model,
    settle_endpoint,
    settle_model,
    settle_shape,
)
from evidence.moving_in.writing.settle import BY

Value = TypeVar("Value")
# Kinds of work that the predecessor shipped and that no panel of this bench has.
NOT_HERE = frozenset({"image"})


def move_configuration(folder: Folder, report: Report, *, dry_run: bool) -> Directory:
    """Bring over what is configured; returns who is who, for the evidence. With `dry_run` nothing of it stays."""
    with transaction.atomic(), set_extra_data({"additional_data": BY}):
        brought = Brought()
        roles = _roles(folder, report)
        there = _endpoints(folder, report, brought)
        models = [*_models(folder, report, there, roles), *_retired(folder, report)]
        for old, of in models:
            settle_model(old, brought, of)
        _decision_models(folder, report, there, roles, brought)
        settle_limits(dict(_entries(folder, report.of(files.GATEWAY), read_limit)), report.of(files.GATEWAY))
        for _, collection in _entries(folder, report.of(files.COLLECTIONS), read_collection):
            settle_collection(collection, brought, report.of(files.COLLECTIONS))
        for _, key in _entries(folder, report.of(files.KEYS), read_key):
            settle_key(key, report.of(files.KEYS))
        renamed = read_table(folder, report.within_models(files.ALIASES))
        report.of(files.ALIASES).read += len(renamed)
        transaction.set_rollback(dry_run)
    # Of two that have one alias the last counts: the registered one, where what was retired came back.
    return Directory([old for old, _ in reversed(models)], renamed, brought)


def _entries(folder: Folder, report: FileReport, read: Callable[[str, Any], Value]) -> Iterator[tuple[str, Value]]:
    for name, entry in read_table(folder, report).items():
        report.read += 1
        try:
            yield name, read(name, entry)
        except UnusableError as why:
            report.leave_out(name, str(why))


def _roles(folder: Folder, report: Report) -> Roles:
    """The roles, with the shapes of the predecessor's own making settled on the way."""
    of, of_options = report.within_models(files.ROLES), report.within_models(files.OPTIONS)
    options = read_table(folder, of_options)
    of_options.read += len(options)
    entries = read_table(folder, of)
    try:
        roles, shapes = Roles(entries, options), table(entries, "shapes")
    except UnusableError as why:
        of.read += 1
        of.leave_out("", str(why))
        return Roles({}, options)
    of.read += len(roles.roles) + len(roles.ad_hoc)
    for name, admitted in shapes.items():
        if name not in NOT_HERE:
            of.read += 1
            settle_shape(name, admitted, of)
    return roles


def _endpoints(folder: Folder, report: Report, brought: Brought) -> dict[str, OldEndpoint]:
    of = report.of(files.ENDPOINTS)
    there = dict(_entries(folder, of, read_endpoint))
    for old in there.values():
        settle_endpoint(old, brought, of)
    return there


def _models(
    folder: Folder, report: Report, there: Mapping[str, OldEndpoint], roles: Roles
) -> Iterator[tuple[OldModel, FileReport]]:
    of = report.of(files.MODELS)
    for line, alias, fields in read_registry(read_text(folder, of) or ""):
        of.read += 1
        try:
            yield registered(alias, fields, there, roles), of
        except UnusableError as why:
            of.leave_out(line, str(why))


def _retired(folder: Folder, report: Report) -> Iterator[tuple[OldModel, FileReport]]:
    of = report.of(files.RETIRED)
    for _, old in _entries(folder, of, read_retired):
        yield old, of


def _decision_models(folder: Folder, report: Report, there: Mapping[str, OldEndpoint], roles: Roles, brought: Brought) -> None:
    of = report.of(files.DECISION_MODELS)
    for _, old in _entries(folder, of, read_decision_model):
        settle_decision_model(old, brought, there, roles.ad_hoc, of)
