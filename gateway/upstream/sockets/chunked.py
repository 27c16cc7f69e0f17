"""HTTP's chunked transfer coding undone in bulk: all the chunks of a read at once.

http.client and urllib3 undo it chunk by chunk, which costs a streamed answer nearly as much as reading its events.
"""

from http.client import IncompleteRead

LONGEST_LINE = 8_192


class Dechunker:
    """The state of one body. `ended` once its last chunk has come."""

    def __init__(self) -> None:
        self.ended = False
        self.in_trailers = False
        self._left = 0
        self._line = b""

    def feed(self, data: bytes) -> bytes:
        """Return what `data` adds to the body, possibly nothing. Raises IncompleteRead for data that is not chunked."""
        if self._line:
            data, self._line = self._line + data, b""
        pieces = []
        at = 0
        while not self.ended:
            if not self._left:
                end = data.find(b"\n", at)
                if end < 0:
                    self._keep(data[at:])
                    break
                self._read_line(data[at:end].strip())
                at = end + 1
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                if self._left:
                    break
                if data.startswith(b"\r\n", at):
                    # The end of the chunk's line; else the next turn sees what is there instead.
                    at += 2
        return b"".join(pieces)

    def _read_line(self, line: bytes) -> None:
        """Take a chunk's size, the blank line after a chunk, or a trailer."""
        if self.in_trailers:
            self.ended = not line
        elif line:
            try:
                self._left = int(line.partition(b";")[0], 16)
            except ValueError as error:
                raise IncompleteRead(b"") from error
            if self._left < 0:
                raise IncompleteRead(b"")
            self.in_trailers = self._left == 0

    def _keep(self, line: bytes) -> None:
        if len(line) > LONGEST_LINE:
            raise IncompleteRead(b"")
        self._line = line
