"""`python manage.py verdict`: judge one seat's answer from the shell, as the machine's own user."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from rest_framework.exceptions import APIException

from collections_app.management.base import BenchCommand
from evidence.serializers import read_verdict
from evidence.services import record_verdict
from keys.services import LOCAL

EXAMPLE = """
python manage.py verdict p20260102-150405-7f3a.member1 --useful \\
    --note "found the race" --real "line 40 reads before the lock" --false "line 12 leaks"
"""


class Command(BenchCommand):
    help = "Judge one seat's answer. The same verdict again writes nothing; a different one replaces the earlier."
    example = EXAMPLE
    reports = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("call", help="the call's id, as the reply gives it")
        judgement = parser.add_mutually_exclusive_group(required=True)
        judgement.add_argument("--useful", action="store_true", dest="useful", help="it helped")
        judgement.add_argument("--not-useful", action="store_false", dest="useful", help="it did not")
        parser.add_argument("--note", help="why")
        parser.add_argument("--real", action="append", metavar="CLAIM", help="a claim of it that held; may be repeated")
        parser.add_argument("--false", action="append", metavar="CLAIM", help="a claim of it that did not; may be repeated")
        parser.add_argument("--score", type=float, help="0 to 1")
        parser.add_argument("--correction", help="what it should have said")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in ("call", "useful", "note", "real", "false", "score", "correction")}
        try:
            fields = read_verdict({name: value for name, value in given.items() if value is not None})
            call_id = fields.pop("call")
            _, written = record_verdict(call_id=call_id, given_by=LOCAL.name, **fields)
        except APIException as refused:
            raise CommandError(str(refused.detail)) from refused
        told = f"{call_id}: {'written' if written else 'nothing new, this verdict is on record already'}"
        self.report({"ok": True, "written": written, "call": call_id}, told, as_json=options["json"])
