"""`python manage.py verdict`: judge one seat's answer from the shell, as the machine's own user."""

import json
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rest_framework.exceptions import APIException

from evidence.serializers import read_verdict
from evidence.services import record_verdict
from keys.services import LOCAL

EXAMPLE = """example:
  python manage.py verdict p20260102-150405-7f3a.member1 --useful \\
      --note "found the race" --real "line 40 reads before the lock" --false "line 12 leaks"
"""


class Command(BaseCommand):
    help = "Judge one seat's answer. The same verdict again writes nothing; a different one replaces the earlier."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, epilog=EXAMPLE, **kwargs)
        # Django's own formatter would run the example together into one paragraph.
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

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
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in ("call", "useful", "note", "real", "false", "score", "correction")}
        try:
            fields = read_verdict({name: value for name, value in given.items() if value is not None})
            call_id = fields.pop("call")
            _, written = record_verdict(call_id=call_id, given_by=LOCAL.name, **fields)
        except APIException as refused:
            raise CommandError(str(refused.detail)) from refused
        if options["json"]:
            self.stdout.write(json.dumps({"ok": True, "written": written, "call": call_id}))
        else:
            self.stdout.write(f"{call_id}: {'written' if written else 'nothing new, this verdict is on record already'}")
