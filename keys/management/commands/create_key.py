"""python manage.py create_key NAME: make a gateway key and print it, this once; all else that it says goes to stderr."""

import reprlib
from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import Any

from auditlog.context import set_extra_data
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from collections_app.management.base import BenchCommand
from collections_app.models import Collection
from keys.models import GatewayKey
from keys.services import NewKey, create_key, keys_are_required


class Command(BenchCommand):
    help = "Make a gateway key. Prints the key alone on stdout, this once: what is kept is its hash."
    example = "python manage.py create_key editor --collections core,review --rpm 60 --expires 2027-06-30"
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="whose it is: an app, a person; the call log keeps it")
        parser.add_argument("--collections", metavar="A,B", help="what it may ask, with commas between; all when left out")
        parser.add_argument("--rpm", type=int, metavar="N", help="requests a minute; no limit when left out")
        parser.add_argument("--expires", metavar="DATE", help="2027-06-30, or with a time; UTC")
        parser.add_argument("--no-bench-field", action="store_true", help="replies leave the bench field out")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            with set_extra_data({"additional_data": {"by": "create_key"}}):
                made = create_key(
                    name,
                    collections=_collections(options["collections"]),
                    rpm=options["rpm"],
                    expires_at=_moment(options["expires"]),
                    bench_field=not options["no_bench_field"],
                )
        except ValidationError as refused:
            raise CommandError(f"no key was made: {_words(refused)}") from refused
        for line in _about(made.row):
            # Not in the red of errors, which is stderr's own.
            self.stderr.write(line, lambda text: text)
        self.report(_as_json(made), made.text, as_json=options["json"])


def _as_json(made: NewKey) -> dict[str, Any]:
    key = made.row
    return {
        "key": made.text,
        "name": key.name,
        "collections": [each.name for each in key.collections.all()],
        "rpm": key.rpm,
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
    }


def _collections(names: str | None) -> list[Collection]:
    """The collections named; none when nothing is said of them. Raises ValidationError, also for an empty list."""
    if names is None:
        return []
    wanted = [name.strip().removeprefix("bench/") for name in names.split(",")]
    known = {collection.name: collection for collection in Collection.objects.all()}
    # An empty name too, such as of a variable that is not set: it would make a key for every collection.
    if missing := sorted(set(wanted) - known.keys()):
        there = ", ".join(known) or "none"
        raise ValidationError(f"there is no collection {', '.join(map(reprlib.repr, missing[:5]))}; there are: {there}")
    return [known[name] for name in wanted]


def _moment(text: str | None) -> datetime | None:
    """A date, which is its first moment, or a date with a time; in UTC unless it says otherwise. Raises ValidationError."""
    if text is None:
        return None
    try:
        day = parse_date(text)
        moment = datetime.combine(day, time.min) if day else parse_datetime(text)
        if moment:
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ValidationError(f"--expires: there is no such moment: {error}") from error
    raise ValidationError("--expires: a date such as 2027-06-30, or with a time, 2027-06-30T18:00Z")


def _words(refused: ValidationError) -> str:
    if not hasattr(refused, "error_dict"):
        return " ".join(refused.messages)
    fields = {name: " ".join(texts) for name, texts in refused.message_dict.items()}
    return " ".join(text if name == NON_FIELD_ERRORS else f"{name}: {text}" for name, text in fields.items())


def _about(key: GatewayKey) -> Iterator[str]:
    asks = ", ".join(map(str, key.collections.all())) or "every collection"
    yield f'Gateway key "{key.name}" may ask {asks}, {f"{key.rpm} times a minute" if key.rpm else "as often as it likes"}.'
    if key.expires_at:
        expired = key.status(timezone.now()) == GatewayKey.Status.EXPIRED
        yield f"It {'has expired already: on' if expired else 'expires on'} {key.expires_at:%Y-%m-%d at %H:%M} UTC."
    if not keys_are_required():
        yield "By the settings here (environment, .env) it asks for no key yet; with BENCHWARMERS_REQUIRE_KEYS=1 it does."
    yield "What is kept of it is a hash: it cannot be shown again."
