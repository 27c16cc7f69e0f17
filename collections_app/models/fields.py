"""Fields and rules that more than one row has: names that people type, text, seconds, timeouts of a row's own.

Rules say what a value may be, in words for a person; none of them looks at another row.
"""

import math
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

LONGEST_WAIT = 86_400.0

name_rule = RegexValidator(
    r"\A[a-z0-9][a-z0-9-]{1,31}\Z",
    "2 to 32 lower-case letters, digits and dashes, starting with a letter or digit.",
)
alias_rule = RegexValidator(
    r"\A[a-z0-9][a-z0-9._:/-]{0,63}\Z",
    "Up to 64 lower-case letters, digits and . _ : / - characters, starting with a letter or digit.",
)


def check_text(text: Any) -> None:
    """Raise ValidationError for text that not every database and terminal can hold."""
    if any(ord(character) < 32 or ord(character) == 127 or "\ud800" <= character <= "\udfff" for character in text):
        raise ValidationError("One line of text, without control characters or half characters (lone surrogates).")


def check_seconds(seconds: Any) -> None:
    # Written so that NaN, which every comparison lets through, fails.
    if not (math.isfinite(seconds) and 0.1 <= seconds <= LONGEST_WAIT):
        raise ValidationError("Seconds, from 0.1 to 86400.")


def _limit(of: str) -> "models.PositiveBigIntegerField[int | None, int | None]":
    within = [MinValueValidator(1), MaxValueValidator(2**53)]
    return models.PositiveBigIntegerField(
        null=True, blank=True, validators=within, help_text=f"{of}; empty: as the catalog has it."
    )


class RateLimits(models.Model):
    """What may go out within a minute or a day; empty means what is known by other ways, or nothing."""

    requests_per_minute = _limit("Requests a minute")
    requests_per_day = _limit("Requests a day")
    tokens_per_minute = _limit("Tokens a minute")
    tokens_per_day = _limit("Tokens a day")

    class Meta:
        abstract = True


class Timeouts(models.Model):
    """Seconds that one row allows instead of the site's own; empty means the site's."""

    connect_timeout = models.FloatField(null=True, blank=True, validators=[check_seconds])
    first_token_timeout = models.FloatField(null=True, blank=True, validators=[check_seconds])
    seat_timeout = models.FloatField(
        null=True, blank=True, validators=[check_seconds], help_text="Seconds for the whole answer."
    )

    class Meta:
        abstract = True
