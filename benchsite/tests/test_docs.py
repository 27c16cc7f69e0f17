"""The documentation is true: every command and snippet of README.md and docs/ runs, and prints what is shown.

What needs Node or clients of their own is run by `make sdks` (.ci/sdks/test_docs.py). BENCH_DOCS=write puts what was printed
where a document shows anything else.
"""

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchsite.tests.docs import commands
from benchsite.tests.docs.blocks import NODE, REASONS, ROOT, blocks, documents, examples, server_of
from benchsite.tests.docs.comparing import same
from benchsite.tests.docs.running import Reader, read, rewritten, writes
from benchsite.tests.docs.upstream import RecordedModels
from gateway.tests.running_server import RunningServer, running_server

BENCHES = Path(__file__).with_name("docs") / "benches"
Serving = Callable[[str], RunningServer]
every_document = pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Gives the server that a document asks for: one for all that say the same, and one of its own for who says `alone`."""
    with ExitStack() as stack:
        upstream = stack.enter_context(RecordedModels())
        running: dict[tuple[str, ...], RunningServer] = {}

        def server(text: str) -> RunningServer:
            said = server_of(text)
            key = (*said, text) if "alone" in said else tuple(said)
            if key not in running:
                bench = (BENCHES / f"{said[0]}.toml").read_text().replace("{url}", upstream.url)
                variables = dict(word.split("=", 1) for word in said[1:] if "=" in word)
                running[key] = stack.enter_context(running_server(tmp_path_factory.mktemp("docs"), bench, **variables))
            return running[key]

        yield server


@every_document
@pytest.mark.skipif(not shutil.which("curl"), reason="no curl on this machine")
def test_its_commands_print_what_it_shows(path: Path, serving: Serving, tmp_path: Path) -> None:
    text = path.read_text()
    if not any(not example.block.in_sdks for example in examples(text)):
        pytest.skip("nothing in it is run")
    done = list(read(text, Reader(tmp_path, serving(text)), in_sdks=False))
    if writes():
        path.write_text(rewritten(text, [(example, printed) for example, _, printed in done]))
    problems = [f"{path.name}:{one.line}: {one.problem}" for _, one, _ in done if one]
    assert not problems, "\n\n".join(problems)


@every_document
def test_what_is_not_run_says_why_or_where_it_is_from(path: Path) -> None:
    for block in blocks(path.read_text()):
        mark, place = block.mark, f"{path.name}:{block.first}"
        if mark.startswith("not run: "):
            assert mark.removeprefix("not run: ") in REASONS, place
        elif mark.startswith("from "):
            assert unindented(block.text) in unindented((ROOT / mark.removeprefix("from ")).read_text()), place
        else:
            assert mark in ("", "fails", "make sdks"), place
            assert not re.search(r"\bmake \w|manage\.py serve", block.text if block.runs else ""), f"{place}: it would not end"
        assert block.language not in ("bash", "shell", "console", "javascript", "py"), f"{place}: write sh, js or python"


def unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())


@every_document
def test_every_file_that_it_names_is_there(path: Path) -> None:
    named = re.findall(r"`((?:benchsite|gateway|evidence|keys|collections_app|plugin|benchmarks)/[\w./-]*)`", path.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_commands_are_told_as_they_tell_themselves() -> None:
    path = ROOT / "docs" / "commands.md"
    above, _, told = path.read_text().partition(f"{commands.BEGINS}\n\n")
    if writes():
        path.write_text(f"{above}{commands.BEGINS}\n\n{commands.page()}")
    assert told == commands.page()


@every_document
def test_its_data_can_be_read(path: Path) -> None:
    for block in blocks(path.read_text()):
        if block.language == "json" and "..." not in block.text and "…" not in block.text:
            json.loads(block.text)
        if block.language == "toml":
            tomllib.loads(block.text)


@every_document
def test_its_links_lead_somewhere(path: Path) -> None:
    for target, _, heading in re.findall(r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", path.read_text()):
        there = (path.parent / target) if target else path
        assert there.exists(), target
        assert not heading or heading in headings(there.read_text()), f"{target}#{heading}"


def headings(text: str) -> set[str]:
    """The anchors of a document's headings, as code hosts make them."""
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_every_document_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    here = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert here - set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == set()


def test_a_difference_is_seen_and_what_always_varies_is_not() -> None:
    shown = "# p20261129-210937-ebfe · 2 members\n`p20261129-210937-ebfe.member1` · ok · 1.2 s\nYeast."
    assert same(shown, shown.replace("ebfe", "0123").replace("1.2 s", "34 s"))
    assert not same(shown, shown.replace("2 members", "3 members"))
    assert not same(shown, shown.replace("Yeast", "Salt"))
    assert same("a\n...\nd", "a\nb\nc\nd") and not same("a\n...\nd", "a\nb\nc\ne")
    assert not same("first\nsecond", "second\nfirst")


def test_blocks_are_found_with_their_marks_and_their_output() -> None:
    text = "```sh\necho 1\n```\n\n```text\n1\n```\n\n```sh (not run: needs root)\nreboot\n```\nand\n```text\nno output\n```\n"
    text += f"````text\n```sh\necho 2\n```\n````\n```{NODE}\nconsole.log(1)\n```\n"
    first, second = examples(text)
    assert (first.block.text, first.shown and first.shown.text) == ("echo 1", "1")
    assert second.block.in_sdks and second.shown is None
    assert [block.mark for block in blocks(text)] == ["", "", "not run: needs root", "", "", ""]
