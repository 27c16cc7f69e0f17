"""Endpoints, shapes, models and decision models as rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from auditlog.models import LogEntry

from collections_app.models import DecisionModel, Endpoint, LanguageModel, Shape
from evidence.moving_in.reading.models import IMAGE, SEATED
from evidence.moving_in.reading.names import alias_here, key_variable
from evidence.moving_in.reading.values import OldDecisionModel, OldEndpoint, OldModel
from evidence.moving_in.report import FileReport
from evidence.moving_in.writing.settle import settle

OWN_SHAPE = "A kind of work of your own, brought over from the predecessor: say here what it is."


@dataclass
class Brought:
    """What came over so far: endpoints by name, and models by the alias that they had there."""

    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    models: dict[str, LanguageModel] = field(default_factory=dict)


def settle_endpoint(old: OldEndpoint, brought: Brought, report: FileReport) -> None:
    values = {
        "protocol": old.protocol,
        "base_url": old.base_url,
        "api_key_env": key_variable(old.key_name) if old.key_name else "",
    }
    row = settle(Endpoint(name=old.name, **values), "name", values, report)
    if row is None:
        return
    if (row.base_url.rstrip("/"), row.protocol) == (old.base_url, old.protocol):
        brought.endpoints[old.name] = row
    else:
        # Models put there would send their prompts to somebody else, under their old names.
        report.tell(old.name, "another place has this name here: its models are left out")
    for what in old.told:
        report.tell(old.name, what)


def settle_shape(name: str, roles: Any, report: FileReport) -> None:
    """A shape of the predecessor's own making; one that is here is kept, and told of only where its roles differ."""
    admitted = [role for role in roles if role in SEATED] if isinstance(roles, list) else []
    if not admitted:
        report.leave_out(f"shapes.{name}", "it admits no role that sits on a panel here")
        return
    values = {"roles": admitted}
    settle(Shape(name=name, description=OWN_SHAPE, **values), "name", values, report, place=f"shapes.{name}")


def settle_model(old: OldModel, brought: Brought, report: FileReport) -> None:
    """A model that sits, or one that was retired there."""
    endpoint = brought.endpoints.get(old.endpoint)
    if old.role == IMAGE:
        report.leave_out(old.alias, "it makes images, and sits on no panel")
        return
    if endpoint is None:
        report.leave_out(old.alias, "its endpoint is not here; what it answered comes in under its alias")
        return
    alias = alias_here(old.alias)
    status = LanguageModel.Status.AD_HOC if old.ad_hoc else LanguageModel.Status.ACTIVE
    values = {
        "endpoint_id": endpoint.pk,
        "served_id": old.served_id,
        "role": old.role if old.role in SEATED else "general",
        "options": dict(old.options),
        "status": LanguageModel.Status.RETIRED if old.retired else status,
    }
    before = report.new
    row = settle(LanguageModel(alias=alias, **values), "alias", values, report, place=old.alias)
    if row is None:
        return
    if (row.endpoint_id, row.served_id) == (endpoint.pk, old.served_id):
        brought.models[old.alias] = row
    if report.new > before:
        _tell_of(old, row, status, report)


def _tell_of(old: OldModel, row: LanguageModel, status: str, report: FileReport) -> None:
    if row.alias != old.alias:
        report.tell(old.alias, f"is called {row.alias} here")
    if old.role not in SEATED:
        report.tell(old.alias, "its role is not known here: it is general")
    if old.retired:
        LanguageModel.objects.filter(pk=row.pk).update(retired_why=old.retired_why[:300])
        # As a change, so that restoring it finds what it was before, and people when it went and why.
        changes = {"status": [status, LanguageModel.Status.RETIRED], "why": ["", old.retired[:300]]}
        LogEntry.objects.log_create(row, action=LogEntry.Action.UPDATE, changes=changes)


def settle_decision_model(
    old: OldDecisionModel, brought: Brought, there: Mapping[str, OldEndpoint], ad_hoc: Iterable[str], report: FileReport
) -> None:
    endpoint = brought.endpoints.get(old.endpoint)
    if endpoint is None:
        report.leave_out(old.alias, "its endpoint is not here")
        return
    url = there[old.endpoint].decisions_url.replace("{path}", old.path)
    values = {
        "endpoint_id": endpoint.pk,
        "served_id": old.served_id,
        "url": url,
        "question_types": list(old.question_types),
        "status": DecisionModel.Status.AD_HOC if old.alias in ad_hoc else DecisionModel.Status.ACTIVE,
    }
    settle(DecisionModel(alias=alias_here(old.alias), **values), "alias", values, report, place=old.alias)
    if not url:
        report.tell(old.alias, "its endpoint has no decisions URL there: probe it on its page")
