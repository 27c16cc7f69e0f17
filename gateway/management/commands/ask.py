"""python manage.py ask COLLECTION PROMPT: a panel from the shell, as a client of a running bench."""

import asyncio
import json
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from collections_app.management.base import BenchCommand
from gateway.client import Answer, Bench, BenchError, CutOffError, Question, RefusedError, UnreachableError
from gateway.conf import conf
from gateway.management.attaching import CannotAttachError, attached
from gateway.management.showing import Showing, plain
from gateway.management.terminal import Terminal

HELP = """\
Ask a collection of a running bench. Each answer is written the moment it has come.

The prompt is the words, then each text file under its name, then standard input where that is no terminal. Images go beside it.
It asks the bench at BENCHWARMERS_URL, the one of this folder when unset, and sends BENCHWARMERS_KEY as its gateway key.

Interrupted, it says how to read the panel later: a panel that was asked goes on to its end.
"""
EXAMPLE = """
python manage.py ask bench/core "Is there a race in this?" -f worker.py
git diff | python manage.py ask review "Review this" --merged
python manage.py ask core "What is odd about this picture?" -f shot.png --with qwen-vl --json
"""
ENDED_BY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Command(BenchCommand):
    help = HELP
    example = EXAMPLE
    reports = True
    # Whether the bench's settings make sense is for the bench to say, and it may run elsewhere.
    checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        # An option between the two words would else end them: argparse takes the prompt for left out then.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        parser.add_argument("collection", help="bench/core, or core; core:merged for one merged answer")
        parser.add_argument("prompt", nargs="?", default="", help="what to ask")
        parser.add_argument(
            "-f", "--file", action="append", default=[], type=Path, metavar="FILE", help="a text or an image; may be repeated"
        )
        parser.add_argument(
            "--with",
            action="append",
            default=[],
            dest="nominated",
            metavar="ALIAS",
            help="a model that is to sit too; may be repeated",
        )
        parser.add_argument("--merged", action="store_true", help="one answer, merged from all")
        parser.add_argument("--system", default="", metavar="TEXT", help="instructions that go before the prompt")
        parser.add_argument("--url", default="", help="the bench to ask; the key goes there too")

    def handle(self, *args: Any, collection: str, prompt: str, file: list[Path], **options: Any) -> None:
        try:
            sent = attached(prompt, file, _piped())
        except CannotAttachError as error:
            raise CommandError(str(error)) from error
        if not sent.prompt:
            raise CommandError("nothing is asked: give a prompt behind the collection, or send it on standard input.")
        question = Question(
            collection,
            sent.prompt,
            system=options["system"],
            nominated=tuple(options["nominated"]),
            reply="merged" if options["merged"] else None,
            images=sent.images,
        )
        terminal = Terminal(self.stdout, self.stderr, asks=False)
        self._showing = Showing(self.stdout, terminal, collection=plain(collection), quiet=options["json"])
        self._ask(question, options["url"] or conf.bench_url, as_json=options["json"])

    def _ask(self, question: Question, url: str, *, as_json: bool) -> None:
        try:
            self._bench = Bench(url, key=conf.bench_key)
            answer = asyncio.run(self._answer(question))
        except BenchError as error:
            if as_json and isinstance(error, RefusedError) and error.bench:
                self._tell(error.bench)
            raise CommandError(self._reason(error)) from error
        if as_json:
            self._tell(answer.bench)

    async def _answer(self, question: Question) -> Answer:
        """Ask until the answer has come or a signal ends it. Raises BenchError, and CommandError where one does."""
        signals: list[int] = []
        asking = asyncio.ensure_future(self._bench.ask(question, self._showing.told))
        ticking = asyncio.ensure_future(self._showing.tick())

        def end(number: int) -> None:
            signals.append(number)
            asking.cancel()

        for number in ENDED_BY:
            asyncio.get_running_loop().add_signal_handler(number, end, number)
        async with self._bench:
            try:
                return await asking
            except asyncio.CancelledError:
                raise CommandError(f"Interrupted. {self._later()}", returncode=128 + signals[0]) from None
            finally:
                ticking.cancel()
                # Where nobody reads any more, there is nothing to tidy up.
                with suppress(OSError):
                    self._showing.close()

    def _tell(self, bench: Any) -> None:
        # In ASCII: what an answer holds steers no terminal.
        self.stdout.write(json.dumps(bench, indent=2))

    def _reason(self, error: BenchError) -> str:
        said = plain(str(error))
        if isinstance(error, UnreachableError):
            return f"{said} Start it with `python manage.py serve`, or name another by BENCHWARMERS_URL or --url."
        if isinstance(error, CutOffError):
            return f"{said} {self._later()}"
        if isinstance(error, RefusedError) and error.status == 401:
            return f"{said} What `ask` sends is BENCHWARMERS_KEY."
        if isinstance(error, RefusedError) and error.wait:
            return f"{said} Try again in {error.wait:.0f} s."
        return said

    def _later(self) -> str:
        """How to read what a panel answers, whoever has stopped waiting for it."""
        if not self._showing.panel:
            return "If a panel was asked by then, it goes on: the bench's dashboard shows it."
        key = ' -H "Authorization: Bearer $BENCHWARMERS_KEY"' if conf.bench_key else ""
        panel = plain(self._showing.panel)
        return f"Panel {panel} goes on to its end. To read it: curl{key} {plain(self._bench.url)}/bench/panels/{panel}"


def _piped() -> BinaryIO | None:
    """Standard input, where something may come by it that nobody types."""
    return None if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer
