"""One request that an endpoint answered as if the model were gone. Two of different requests within an hour retire it."""

from django.db import models

from collections_app.models.endpoint import Endpoint


class Doubt(models.Model):
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="doubts")
    served_id = models.CharField(max_length=200)
    # The panel, or another word for one request.
    request = models.CharField(max_length=60)
    at = models.DateTimeField()
    said = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "served_id", "request"], name="one_doubt_a_request")]

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.served_id} ({self.request})"
