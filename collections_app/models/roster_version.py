"""Which roster this is: another token after every change of an endpoint, a model, a collection, a shape or the limits."""

import secrets

from django.db import models


def draw_token() -> int:
    """A token that no earlier roster had. Not a counter: a change that is rolled back would leave its number to the next."""
    return secrets.randbits(62)


class RosterVersion(models.Model):
    """One row, written in the transaction that changes the roster, read before every panel."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    token = models.BigIntegerField(default=draw_token)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_roster_version")]

    def __str__(self) -> str:
        return str(self.token)
