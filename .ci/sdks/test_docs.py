"""The documentation's snippets that need what `make sdks` installs: SDKs for JavaScript, and the `llm` command.

Everything else that the documents show is run by the suite, in benchsite/tests/test_docs.py.
"""

import os
from pathlib import Path

import pytest

from benchsite.tests.docs.blocks import ROOT, examples
from benchsite.tests.docs.running import Reader, read, rewritten, writes
from benchsite.tests.test_docs import Serving, every_document, serving  # noqa: F401 - the servers that documents ask for

PACKAGES = ROOT / ".ci" / "sdks" / "js" / "node_modules"
COMMANDS = ROOT / ".venv" / "sdks" / "llm" / "bin"


@every_document
def test_its_snippets_print_what_it_shows(
    path: Path,
    serving: Serving,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = path.read_text()
    if not any(example.block.in_sdks for example in examples(text)):
        pytest.skip("nothing in it needs an environment of its own")
    monkeypatch.setenv("PATH", f"{COMMANDS}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    done = list(read(text, Reader(tmp_path, serving(text)), in_sdks=True))
    if writes():
        path.write_text(rewritten(text, [(example, printed) for example, _, printed in done]))
    problems = [f"{path.name}:{one.line}: {one.problem}" for _, one, _ in done if one]
    assert not problems, "\n\n".join(problems)
