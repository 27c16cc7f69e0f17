"""/api-schema: the gateway's routes and the site's own as one OpenAPI document, in JSON or YAML.

The same bytes to everyone, made once: it speaks of the product, and holds no name, collection or setting of this bench but
whether it asks for keys.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2

from benchsite.api.site_paths import YAML
from gateway.schema.contract import JSON
from keys.services import keys_are_required

URLCONF = "gateway.urls"
# By media type, as clients name both, the one that is sent where none is preferred first.
_FORMATS: Final[Mapping[str, str]] = {
    JSON: "json",
    YAML: "yaml",
    "application/vnd.oai.openapi+json": "json",
    "application/vnd.oai.openapi": "yaml",
    "application/x-yaml": "yaml",
    "text/yaml": "yaml",
}
_MEDIA_TYPES: Final[Mapping[str, str]] = {"json": JSON, "yaml": YAML}


@csrf_exempt
@require_safe
@vary_on_headers("Accept")
def api_schema(request: HttpRequest) -> HttpResponse:
    """By `format`, else by Accept; an Accept that names neither gets JSON."""
    wanted = request.GET.get("format", _FORMATS[request.get_preferred_type(list(_FORMATS)) or JSON])
    if wanted not in _MEDIA_TYPES:
        return JsonResponse({"error": "format is json or yaml."}, status=400)
    return HttpResponse(_written(wanted, keys_are_required()), content_type=_MEDIA_TYPES[wanted])


def document() -> dict[str, Any]:
    """Return the document as values."""
    found: dict[str, Any] = SchemaGenerator(urlconf=URLCONF).get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@cache
def _written(kind: str, with_keys: bool) -> bytes:
    """The document as it is sent. `with_keys` tells the two apart that there are."""
    renderer = OpenApiJsonRenderer2() if kind == "json" else OpenApiYamlRenderer2()
    written: bytes = renderer.render(document(), renderer_context={"indent": 1})
    return written
