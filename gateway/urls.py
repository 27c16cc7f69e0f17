"""The gateway's routes: every format's own, and the bench's."""

from typing import Any

from django.urls import include, path

from gateway.views import (
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


def _pattern(wire_format: WireFormat, route: Route) -> Any:
    """A format's route. Its format and itself go along as arguments: the edge reads them from the resolved match."""
    return path(route.path, _VIEWS[route.method, route.task].as_view(), {"wire_format": wire_format, "route": route})


urlpatterns = [
    *(_pattern(wire_format, route) for wire_format in FORMATS.values() for route in wire_format.ROUTES),
    path("bench/panels/<str:panel>", PanelView.as_view()),
    path("bench/", include("evidence.urls")),
]
