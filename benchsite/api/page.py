"""/api-docs: the routes for people, as one page that a browser needs no script for.

To whoever gets /api-schema, and made of it: it holds nothing else.
"""

from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from benchsite.api.document import document
from benchsite.api.reading import sections, shapes
from evidence.markdown_view import show_markdown
from gateway.conf import conf
from gateway.schema.refusals import WHY
from keys.services import keys_are_required


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """With the server's address as the caller reached it, for what is copied from the page."""
    return HttpResponse(_written(conf.public_url or request.build_absolute_uri("/").rstrip("/"), keys_are_required()))


# One for each address that the edge answers to.
@lru_cache(maxsize=8)
def _written(base_url: str, with_keys: bool) -> str:
    return render_to_string("benchsite/api/page.html", _context(base_url, with_keys))


def _context(base_url: str, with_keys: bool) -> dict[str, Any]:
    written = document()
    return {
        "version": written["info"]["version"],
        "about": show_markdown(written["info"]["description"]).html,
        "base_url": base_url,
        "with_keys": with_keys,
        "sections": sections(written),
        "shapes": shapes(written),
        "refusals": WHY,
    }
