"""Which process this is, among those of a bench that has several. One that runs alone has no name, and says nothing."""

import os
import secrets
import socket
from functools import cache

from django.utils import timezone

from evidence.models import Process

LONGEST_HOST = 60


class ThisProcess:
    """`name` is empty until the process has joined others: host, process id, and what no other start of either has."""

    def __init__(self) -> None:
        self.name = ""
        self._kind = ""

    def join(self, kind: Process.Kind) -> None:
        """Take a name; a forked process joins again, for one of its own. Writes nothing: the first beat does."""
        self.name = f"{socket.gethostname()[:LONGEST_HOST]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._kind = kind

    def beat(self) -> None:
        """Say that this process is there. One statement, and another the first time, or after it was taken for gone."""
        now = timezone.now()
        if not Process.objects.filter(name=self.name).update(seen_at=now):
            Process.objects.update_or_create({"kind": self._kind, "seen_at": now}, name=self.name)

    def leave(self) -> None:
        """Say that it ends: nobody waits to see whether it beats again."""
        Process.objects.filter(name=self.name).delete()


@cache
def this_process() -> ThisProcess:
    """The process's own."""
    return ThisProcess()
