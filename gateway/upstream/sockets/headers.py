"""A reply's header lines as http.client has them, without the parser of e-mails that it sends all of them through.

That parser took as long as everything else of reading a reply's head. What is no plain line is still its to judge.
"""

import re
from collections.abc import Sequence
from email.parser import Parser
from http.client import HTTPException, HTTPMessage, LineTooLong
from typing import Any

# http.client's own.
LONGEST_LINE = 65_536
MOST_LINES = 100

# A carriage return within a line ends it for that parser.
_PLAIN = re.compile(r"([!-9;-~]+):[ \t]*([^\r\n]*)\r?\n")


def read_headers(file: Any) -> HTTPMessage:
    """Read a head to the blank line that ends it. Raises HTTPException for one that is too long."""
    lines = read_lines(file)
    found = [match for match in map(_PLAIN.fullmatch, lines[:-1]) if match]
    if len(found) < len(lines) - 1 or not lines[-1]:
        return Parser(_class=HTTPMessage).parsestr("".join(lines))
    headers = HTTPMessage()
    for match in found:
        headers.set_raw(match[1], match[2])
    return headers


def read_lines(file: Any) -> Sequence[str]:
    """Read lines to a blank one, or to the end. Raises HTTPException."""
    lines: list[str] = []
    while not lines or lines[-1] not in ("\r\n", "\n", ""):
        line = file.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise LineTooLong("header line")
        lines.append(line.decode("iso-8859-1"))
        if len(lines) > MOST_LINES:
            raise HTTPException(f"got more than {MOST_LINES} headers")
    return lines
