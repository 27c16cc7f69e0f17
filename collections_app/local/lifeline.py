"""How a child process learns that its parent is gone: the pipe on its standard input ends.

Works wherever pipes do, and after a kill -9 too: the system closes the parent's end. Imports nothing of the project, for
the processes that use it are small.
"""

import sys


def wait_until_parent_is_gone() -> None:
    """Return when whoever holds the other end of standard input has closed it or died."""
    while sys.stdin.buffer.read(4096):
        pass
