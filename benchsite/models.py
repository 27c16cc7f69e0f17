"""The site's own rows: daily jobs, as far as they have run."""

from django.db import models


class JobRun(models.Model):
    """One daily job: when it last ran and how that went, when it is due, and which process runs it now, if one does.

    A claim is taken by a conditional update and holds until `claimed_until`, which a running job moves on.
    """

    class Outcome(models.TextChoices):
        DONE = "done", "done"
        FAILED = "failed", "failed"
        STOPPED = "stopped", "stopped"

    name = models.CharField("job", max_length=40, unique=True)
    due_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, blank=True, choices=Outcome.choices)
    said = models.CharField("result", max_length=500, blank=True)
    failures = models.PositiveIntegerField(default=0, help_text="In a row: each is tried again later than the one before.")
    claimed_by = models.CharField(max_length=40, blank=True)
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "daily job"

    def __str__(self) -> str:
        return self.name
