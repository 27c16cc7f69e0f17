"""What the frame of the dashboard's pages is written with: the names on the way to a page, as they are spelt."""

from typing import Any

from django import template
from django.db.models import Model
from django.template.defaultfilters import capfirst

from evidence.templatetags.untrusted import visible

register = template.Library()


@register.filter
def crumb(title: Any) -> str:
    """A row by its name, whose case is its own; a kind of rows with a capital."""
    return visible(str(title)) if isinstance(title, Model) else str(capfirst(title))
