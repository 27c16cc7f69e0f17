"""The gateway's routes: every format's own, and the bench's."""

from typing import Any

from django.urls import include, path

from gateway.views import (
    CollectionsView,
    CountView,
    FixedView,
    GenerateView,
    ModelsView,
    ModelView,
    NamedModelView,
    PanelView,
)
from gateway.wire import FORMATS
from gateway.wire.contract import Route, Task, WireFormat

_VIEWS: dict[tuple[str, Task], Any] = {
    ("POST", "generate"): GenerateView,
    ("POST", "count_tokens"): CountView,
    ("GET", "list_models"): ModelsView,
    ("GET", "show_model"): ModelView,
    ("POST", "show_model"): NamedModelView,
    ("GET", "fixed"): FixedView,
}


# The bench's own stream: in no format, and refused in the default one's words.
EVENTS = Route("GET", "bench/panels/<str:panel>/events", "watch", streams="always")


# Agents' calls, each answered by a stream or not as the protocol has it.
AGENTS = Route("POST", "mcp", "agents", streams="always")


def _pattern(wire_format: WireFormat, route: Route) -> Any:
    """A format's route. Its format and itself go along as arguments: the edge reads them from the resolved match."""
    return path(route.path, _VIEWS[route.method, route.task].as_view(), {"wire_format": wire_format, "route": route})


_ROUTES = [(wire_format, route) for wire_format in FORMATS.values() for route in wire_format.ROUTES]
# A path that ends in a name takes everything under it, another format's verbs too: it is tried last.
_ROUTES.sort(key=lambda pair: pair[1].path.endswith(">"))

urlpatterns = [
    *(_pattern(wire_format, route) for wire_format, route in _ROUTES),
    # The view tells which methods there are; as above, no request gets to it.
    path(AGENTS.path, GenerateView.as_view(), {"route": AGENTS}),
    path("bench/collections", CollectionsView.as_view()),
    path("bench/panels/<str:panel>", PanelView.as_view()),
    path("bench/panels/<str:panel>/events", PanelView.as_view(), {"route": EVENTS}),
    path("bench/", include("evidence.urls")),
]
