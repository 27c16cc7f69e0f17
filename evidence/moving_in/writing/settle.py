"""One row of the configuration: made where there is none of its name, kept as it stands where there is."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model

from evidence.moving_in.report import FileReport

Row = TypeVar("Row", bound=Model)
# What libraries say of a URL that is none quotes it.
QUOTING = "Not a URL"


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
    if why := problem_with(made):
        report.leave_out(place, why)
        return None
    made.save()
    report.new += 1
    return made


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
