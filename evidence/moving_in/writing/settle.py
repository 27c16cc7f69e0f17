"""One row of the configuration: made where there is none of its name, kept as it stands where there is."""

from collections.abc import Mapping
from typing import Any, TypeVar

from auditlog.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model

from evidence.moving_in.report import FileReport

Row = TypeVar("Row", bound=Model)
# What libraries say of a URL that is none quotes it.
QUOTING = "Not a URL"
# What the change log says of each row that is made here, and by which a later run knows it under another name.
BY = {"by": "import_benchwarmers"}


def settle(made: Row, named_by: str, values: Mapping[str, Any], report: FileReport, *, place: str = "") -> Row | None:
    """Return the row of that name; None where it cannot be one. `made` has its name and `values`, and is not saved.

    `place`: how the file calls it, where that is another name.
    """
    name = getattr(made, named_by)
    place = place or name
    present = type(made)._default_manager.filter(**{named_by: name}).first()
    if present is not None:
        if differing := [field for field, value in values.items() if getattr(present, field) != value]:
            report.keep(place, f"its {listed(differing)} here")
        else:
            report.unchanged += 1
        return present
    if before := _made_before(made):
        row = type(made)._default_manager.filter(pk=before.object_pk).first()
        report.keep(
            place, f"it is called {getattr(row, named_by)} here now" if row else "it came over before, and was deleted here"
        )
        return row
    if why := problem_with(made):
        report.leave_out(place, why)
        return None
    made.save()
    report.new += 1
    return made


def _made_before(made: Model) -> LogEntry | None:
    """What the change log says of an earlier run that made a row of that name, which has another now or is gone."""
    made_so = LogEntry.objects.filter(action=LogEntry.Action.CREATE, object_repr=str(made), additional_data=BY)
    of_its_kind = made_so.filter(content_type=ContentType.objects.get_for_model(made))
    return of_its_kind.order_by("-pk").first()


def problem_with(row: Model) -> str:
    """What is wrong with a row, in words for people; empty where nothing is."""
    try:
        row.full_clean()
    except ValidationError as error:
        return "; ".join(f"{field}: {_said(messages)}" for field, messages in error.message_dict.items())
    return ""


def listed(fields: list[str]) -> str:
    names = [field.replace("_", " ") for field in fields]
    return f"{', '.join(names)} {'differs' if len(names) == 1 else 'differ'}"


def _said(messages: list[str]) -> str:
    return " ".join(f"{QUOTING}." if message.startswith(QUOTING) else message for message in messages)
