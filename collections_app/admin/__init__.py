"""The roster in the dashboard: collections, models, endpoints, shapes, limits, and what changed in them."""

from collections_app.admin.adding.discover import DiscoverAdmin
from collections_app.admin.changes import ChangeAdmin
from collections_app.admin.collections import CollectionAdmin
from collections_app.admin.decision_models import DecisionModelAdmin
from collections_app.admin.endpoints import EndpointAdmin
from collections_app.admin.language_models import LanguageModelAdmin
from collections_app.admin.limits import LimitsAdmin
from collections_app.admin.shapes import ShapeAdmin

__all__ = [
    "ChangeAdmin",
    "CollectionAdmin",
    "DecisionModelAdmin",
    "DiscoverAdmin",
    "EndpointAdmin",
    "LanguageModelAdmin",
    "LimitsAdmin",
    "ShapeAdmin",
]
