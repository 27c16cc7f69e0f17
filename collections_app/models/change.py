"""One entry of the change log: who changed which row, when, from what to what. Written by the log, never by hand."""

from auditlog.models import LogEntry
from django.db import models


class ChangeManager(models.Manager["Change"]):
    """Changes alone: the log can also keep who looked at a row."""

    def get_queryset(self) -> models.QuerySet["Change"]:
        return super().get_queryset().exclude(action=LogEntry.Action.ACCESS)


class Change(LogEntry):
    objects = ChangeManager()  # type: ignore[assignment, misc]  # the log's own manager writes, this one reads

    class Meta:
        proxy = True
        verbose_name = "change"
        ordering = ["-timestamp", "-id"]

    def __str__(self) -> str:
        return f"{self.content_type.name} {self.object_repr}"

    @property
    def made_by(self) -> str:
        """Who made it: a user of the dashboard, else what the command or job called itself."""
        if self.actor:
            return str(self.actor.get_username())
        return str((self.additional_data or {}).get("by", "a command"))

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """What changed: field, before, after; empty text where nothing was set."""
        pairs = sorted((name, pair) for name, pair in (self.changes or {}).items() if isinstance(pair, list))
        rows = [(name, _text(before), _text(after)) for name, (before, after) in pairs]
        return [row for row in rows if row[1] != row[2]]


def _text(value: object) -> str:
    """A value as the log wrote it down; its ways to say that nothing is set are one here."""
    return "" if str(value) in ("None", "[]", "{}") else str(value)
