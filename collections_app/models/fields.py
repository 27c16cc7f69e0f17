"""Fields that more than one row has: names that people type, timeouts that a row may set for itself."""

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

name_rule = RegexValidator(
    r"\A[a-z0-9][a-z0-9-]{1,31}\Z",
    "2 to 32 lower-case letters, digits and dashes, starting with a letter or digit.",
)
alias_rule = RegexValidator(
    r"\A[a-z0-9][a-z0-9._:/-]{0,63}\Z",
    "Up to 64 lower-case letters, digits and . _ : / - characters, starting with a letter or digit.",
)


class Timeouts(models.Model):
    """Seconds that one row allows instead of the site's own; empty means the site's."""

    connect_timeout = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.1)])
    first_token_timeout = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.1)])
    seat_timeout = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.1)], help_text="Seconds for the whole answer."
    )

    class Meta:
        abstract = True
