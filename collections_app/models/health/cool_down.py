"""Whom not to ask until when: after a rate limit, out of quota, or out of money."""

from django.db import models

from collections_app.models.endpoint import Endpoint


class CoolDown(models.Model):
    """`served_id` is a model's id, or a pattern where a whole account waits: `*` or `*:free`."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="cool_downs")
    served_id = models.CharField(max_length=200)
    until = models.DateTimeField()
    why = models.CharField(max_length=300, help_text="For people: what the endpoint said, or which limit is used up.")
    since = models.DateTimeField()
    # How many in a row without an answer in between: waits that nobody stated grow with it.
    times = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["-until"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "served_id"], name="one_cool_down")]

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.served_id} until {self.until:%Y-%m-%d %H:%M} UTC"
