"""What went out to an endpoint within one span of time, counted for a limit of it."""

from django.db import models

from collections_app.models.endpoint import Endpoint


class Usage(models.Model):
    """`served_id` is a model's id or an account's pattern; `span` is minute or day, and `start` when this one began."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="usage")
    served_id = models.CharField(max_length=200)
    span = models.CharField(max_length=6, choices=[("minute", "minute"), ("day", "day")])
    start = models.DateTimeField()
    requests = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "served_id", "span", "start"], name="one_usage_a_span")]

    def __str__(self) -> str:
        return (
            f"{self.endpoint}: {self.served_id}: {self.requests} requests in the {self.span} from {self.start:%Y-%m-%d %H:%M}"
        )
