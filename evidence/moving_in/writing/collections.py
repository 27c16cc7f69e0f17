"""Collections with their members in order, and the limits of all of them."""

from collections.abc import Mapping, Sequence

from auditlog.models import LogEntry
from django.db.models import Q

from collections_app.models import Collection, LanguageModel, Limits, Shape
from collections_app.models.collection import MOST_TAGS, TAG
from collections_app.selectors import members_of
from collections_app.services.members import set_members
from evidence.moving_in.reading.values import OldCollection
from evidence.moving_in.report import FileReport
from evidence.moving_in.writing.roster import Brought
from evidence.moving_in.writing.settle import BY, listed, problem_with, settle


def settle_collection(old: OldCollection, brought: Brought, report: FileReport) -> None:
    """A collection with those of its members that are here; none of a collection that is here already is changed."""
    members = [brought.models[alias] for alias in old.members if alias in brought.models]
    if not members:
        report.leave_out(old.name, "none of its members is a model here")
        return
    shape = Shape.objects.filter(name=old.shape).first() if old.shape else None
    merger = brought.models.get(old.merger)
    values = {
        "description": old.description[:300],
        "tags": _tags(old),
        "shape_id": shape.pk if shape else None,
        "reply": old.reply if old.reply in Collection.Reply.values else Collection.Reply.ALL,
        "merger_id": merger.pk if merger else None,
    }
    before, kept = report.new, report.kept
    row = settle(Collection(name=old.name, **values), "name", values, report)
    if row is None:
        return
    if report.new > before:
        set_members(row, members)
    elif report.kept == kept and members_of(row) != members:
        report.unchanged -= 1
        report.keep(old.name, f"its {listed(['members'])} here")
    for what in _lost(old, shape, merger, members):
        report.tell(old.name, what)


def _tags(old: OldCollection) -> list[str]:
    return [tag for tag in old.tags if TAG.fullmatch(tag)][:MOST_TAGS]


def _lost(old: OldCollection, shape: Shape | None, merger: LanguageModel | None, members: Sequence[LanguageModel]) -> list[str]:
    told = []
    if missing := len(old.members) - len(members):
        told.append(f"{missing} of its {len(old.members)} members {'is' if missing == 1 else 'are'} no model here")
    if old.shape and shape is None:
        told.append("its shape is not here: it is automatic")
    if old.reply not in Collection.Reply.values:
        told.append("one member's reply, with tools, is not served here: it gives every answer")
    if old.merger and merger is None:
        told.append("its merger is no model here: it is chosen by evidence")
    if len(old.description) > 300 or len(old.tags) > len(_tags(old)):
        told.append("its description or tags were cut to what fits")
    return told


def settle_limits(limits: Mapping[str, int], report: FileReport) -> None:
    """The limits, where this bench has those that it was shipped with and nobody set them to that."""
    shipped, row = Limits(), Limits.objects.first() or Limits()
    entries = LogEntry.objects.get_for_object(row).filter(Q(action=LogEntry.Action.UPDATE) | Q(additional_data=BY))
    set_here = {name for entry in entries for name in entry.changes}
    changes = {name: value for name, value in limits.items() if getattr(row, name) != value}
    report.unchanged += len(limits) - len(changes)
    for name, value in changes.items():
        if name in set_here or getattr(row, name) != getattr(shipped, name):
            report.keep(name, f"{getattr(row, name)}, and {value} there")
            continue
        before = getattr(row, name)
        setattr(row, name, value)
        if why := problem_with(row):
            setattr(row, name, before)
            report.leave_out(name, why)
        else:
            row.save()
            report.new += 1
            report.tell(name, f"{before} became {value}")
