"""What came of it: the call log. A panel is one request, a call one seat's answer, a verdict a caller's judgement.

Rows are written once and then only finished; nothing here decides anything.
"""

from typing import ClassVar

from django.db import models

from collections_app.models import Collection, LanguageModel


class Panel(models.Model):
    """One request and its seats."""

    # The format of panels that were asked of the predecessor: no caller's format has this name.
    BROUGHT_OVER: ClassVar = "benchwarmers"

    panel_id = models.CharField(max_length=24, unique=True)
    asked_at = models.DateTimeField(db_index=True)
    asked_by = models.CharField(max_length=64, help_text="The gateway key's name, or local.")
    format = models.CharField(max_length=30)
    collection = models.ForeignKey(Collection, on_delete=models.SET_NULL, null=True, related_name="panels")
    collection_name = models.CharField(max_length=40, help_text="What the caller asked for, without a suffix.")
    shape = models.CharField(max_length=32)
    shape_by = models.CharField(max_length=200)
    reply = models.CharField(max_length=10)
    notice = models.CharField(max_length=300, blank=True, help_text="What the reply said of the panel as a whole.")
    note = models.CharField(max_length=300, blank=True, help_text="Why nobody was asked to merge, where a merge was asked for.")
    request = models.TextField(help_text="The messages as text, with placeholders for images.")
    prompt_tokens = models.PositiveIntegerField(help_text="The size estimate.")
    skipped = models.JSONField(default=list, help_text="Seats that were not asked, and why.")
    ignored = models.JSONField(default=list, help_text="Settings of the request that a panel does not pass on.")
    held_by = models.CharField(max_length=100, blank=True, help_text="The process that it was asked of.")

    class Meta:
        ordering = ["-asked_at", "-id"]
        indexes = [models.Index(fields=["asked_by", "-asked_at"], name="panels_of_a_caller")]

    def __str__(self) -> str:
        return self.panel_id

    @property
    def seconds(self) -> float | None:
        """How long its seats took together, a merger after the others; None while nothing has ended."""
        took = {call.seat_name: call.seconds for call in self.calls.all() if call.seconds is not None}
        merged = took.pop(Call.MERGER, 0.0)
        return max(took.values()) + merged if took else None


class Call(models.Model):
    """One seat's call, there from the moment it is asked."""

    # The seat that writes one answer from the others': no opinion of its own, so counts of seats leave it out.
    MERGER: ClassVar = "merger"

    class Status(models.TextChoices):
        RUNNING = "running"
        OK = "ok"
        EMPTY = "empty"
        ERROR = "error"

    # Neither foreign key has an index of its own: the two below begin with them, and a seat is written on the hot path.
    panel = models.ForeignKey(Panel, on_delete=models.CASCADE, related_name="calls", db_index=False)
    seat_name = models.CharField(max_length=20, help_text="member1, explorer1, merger")
    nominated = models.BooleanField(default=False)
    language_model = models.ForeignKey(
        LanguageModel, on_delete=models.SET_NULL, null=True, related_name="calls", db_index=False
    )
    alias = models.CharField(max_length=64)
    endpoint_name = models.CharField(max_length=32)
    served_id = models.CharField(max_length=200)
    # Held by the panel too: without it, finding a model's last call on a shape would read every call of that model.
    shape = models.CharField(max_length=32)
    asked_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    error_kind = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True, help_text="Why it failed, or why it is empty.")
    answer = models.TextField(blank=True)
    partial = models.TextField(blank=True, help_text="What had come when the call failed.")
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    served_model = models.CharField(
        max_length=200, blank=True, help_text="The model the upstream says answered, where it is another."
    )
    seconds = models.FloatField(null=True)
    first_token_seconds = models.FloatField(null=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    upstream_status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status.")
    ended_as = models.PositiveSmallIntegerField(null=True, help_text="1 for the panel's first call that ended, then 2.")
    held_by = models.CharField(max_length=100, blank=True, help_text="The process that asks; empty while the call is queued.")
    sent_at = models.DateTimeField(null=True, help_text="When a worker took it to ask its provider, where workers do.")

    class Meta:
        ordering = ["panel_id", "id"]
        constraints = [models.UniqueConstraint(fields=["panel", "seat_name"], name="a_seat_is_called_once")]
        indexes = [
            # With the seat's name, so that leaving mergers out reads the index alone.
            models.Index(fields=["language_model", "shape", "-asked_at", "seat_name"], name="staleness"),
            # The latest of every shape: by the one above all of a model's calls would be read, and sorted.
            models.Index(fields=["language_model", "-asked_at"], name="latest_of_a_model"),
            models.Index(fields=["status"], condition=models.Q(status="running"), name="running"),
        ]

    def __str__(self) -> str:
        return self.call_id

    @property
    def call_id(self) -> str:
        return f"{self.panel.panel_id}.{self.seat_name}"

    @property
    def verdict(self) -> "Verdict | None":
        """The verdict that counts; asks nothing of a call whose verdicts are prefetched."""
        return next((verdict for verdict in self.verdicts.all() if verdict.replaced_at is None), None)


class PrunedPanel(models.Model):
    """The id of a panel that was brought over and then pruned: it is counted, and another run must not bring it over again."""

    panel_id = models.CharField(max_length=24, primary_key=True)

    def __str__(self) -> str:
        return self.panel_id


class IdempotencyKey(models.Model):
    """A caller's own name for a request, by which the same request sent again finds its panel."""

    asked_by = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the request, whatever its format.")
    panel = models.ForeignKey(Panel, on_delete=models.CASCADE, related_name="idempotency_keys")
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["asked_by", "key"], name="a_caller_uses_a_key_once")]

    def __str__(self) -> str:
        return self.key


class Verdict(models.Model):
    """A caller's judgement of one call; the latest counts, earlier ones stay as history."""

    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="verdicts")
    useful = models.BooleanField()
    note = models.TextField(blank=True)
    real = models.JSONField(default=list, help_text="Claims that held.")
    false = models.JSONField(default=list, help_text="Claims that did not.")
    score = models.FloatField(null=True, help_text="0 to 1.")
    correction = models.TextField(blank=True)
    # Of the claims that held, those that no other seat of the panel was found to make; known where another was judged too.
    unique_finds = models.PositiveIntegerField(default=0, editable=False)
    given_by = models.CharField(max_length=64)
    given_at = models.DateTimeField()
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-given_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["call"], condition=models.Q(replaced_at__isnull=True), name="one_verdict_counts_a_call"
            )
        ]

    def __str__(self) -> str:
        return f"{'useful' if self.useful else 'not useful'}: {self.call}"


class Tally(models.Model):
    """What one model's calls that ended came to: those of one day, shape, collection and kind of seat.

    Kept by the transactions that end, judge and remove calls (evidence/counting/tallies.py). Rows `in_log` are of calls that
    the log still holds, and can be made again from it; the others are of calls that it has forgotten.
    """

    class Seat(models.TextChoices):
        MEMBER = "member"
        EXPLORER = "explorer"
        # Merging others' answers is another task, and counted apart wherever models are compared.
        MERGER = "merger"

    # By the index below, which begins with it.
    language_model = models.ForeignKey(
        LanguageModel, on_delete=models.SET_NULL, null=True, related_name="tallies", db_index=False
    )
    alias = models.CharField(max_length=64)
    endpoint_name = models.CharField(max_length=32)
    served_id = models.CharField(max_length=200)
    shape = models.CharField(max_length=32)
    collection_name = models.CharField(max_length=40, blank=True)
    seat = models.CharField(max_length=10, choices=Seat.choices, blank=True, help_text="Empty: a member or an explorer.")
    day = models.DateField(help_text="The day on which they were asked, in UTC.")
    in_log = models.BooleanField(default=False)
    last_asked = models.DateTimeField()
    # Signed, since what is taken off is added with a minus; no sum of them is ever below zero.
    asked = models.BigIntegerField(default=0)
    answered = models.BigIntegerField(default=0)
    empty = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0, help_text="Of the answered ones together.")
    owed = models.BigIntegerField(default=0, help_text="Answered ones without a verdict, that can still be judged.")
    useful = models.BigIntegerField(default=0, help_text="Calls judged useful.")
    not_useful = models.BigIntegerField(default=0)
    claims_real = models.BigIntegerField(default=0)
    claims_false = models.BigIntegerField(default=0)
    unique_finds = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["day", "alias", "endpoint_name", "served_id", "shape", "collection_name", "seat", "in_log"],
                name="one_tally_a_day",
            )
        ]
        # Who merges is chosen by all days of some models on one shape: read from the index alone.
        indexes = [models.Index(fields=["language_model", "shape", "seat", "useful", "not_useful"], name="tallies_of_a_model")]

    def __str__(self) -> str:
        return f"{self.alias} on {self.shape}, {self.day}: {self.asked} asked"


class Process(models.Model):
    """One process of a bench that has several, and when it last said that it is there."""

    class Kind(models.TextChoices):
        WEB = "web"
        WORKER = "worker"

    name = models.CharField(max_length=100, unique=True, help_text="host:pid:random")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return self.name
