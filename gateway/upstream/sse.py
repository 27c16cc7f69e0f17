"""A stream's bytes as lines, and lines as server-sent events.

Reads what upstreams really send: any line end, a byte order mark, characters cut anywhere between two reads, comments,
`error:` lines of old llama.cpp, bare JSON between events. Knows no protocol; text stays bytes.
"""

import codecs
from collections.abc import Iterable, Iterator

from gateway.upstream.contract import UpstreamError

# The event's name, empty for most, and its data.
Event = tuple[str, bytes]

LONGEST_LINE = 2_000_000
BOM = codecs.BOM_UTF8
# What a stream of events begins with, in which no JSON begins.
BEGINS: tuple[bytes, ...] = (b":", b"data:", b"event:", b"error:", b"id:", b"retry:")


def lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without their ends, the last one also without an end. Raises UpstreamError for an endless line."""
    unended: list[bytes] = []
    length = 0
    after_cr = False
    bom = BOM
    for block in blocks:
        text = block[1:] if after_cr and block.startswith(b"\n") else block
        after_cr = text.endswith(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *ended, rest = text.split(b"\n")
        if ended:
            ended[0] = b"".join([*unended, ended[0]]).removeprefix(bom)
            yield from ended
            unended.clear()
            length, bom = 0, b""
        if rest:
            unended.append(rest)
            length += len(rest)
        if length > LONGEST_LINE:
            raise UpstreamError(f"a line of more than {LONGEST_LINE:,} bytes came", kind="bad_reply")
    if unended:
        yield b"".join(unended).removeprefix(bom)


def events(stream: Iterable[bytes]) -> Iterator[Event]:
    """Yield a stream's events. One cut off by the end of the stream is dropped, unless only its blank line is missing."""
    name = ""
    data: list[bytes] = []
    for line in stream:
        if line.startswith(b"data:"):
            data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line:
            if data:
                yield name, data[0] if len(data) == 1 else b"\n".join(data)
                data = []
            name = ""
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith((b"error:", b"{")):
            yield "error" if line.startswith(b"error:") else name, line.removeprefix(b"error:").strip()
    if data and data[-1].rstrip().endswith((b"}", b"]")):
        yield name, b"\n".join(data)
