"""The roster in the dashboard: collections, models, endpoints, shapes, limits; what is known of them, and what changed."""

from collections_app.admin.adding.discover import DiscoverAdmin
from collections_app.admin.changes import ChangeAdmin
from collections_app.admin.collections import CollectionAdmin
from collections_app.admin.decision_models import DecisionModelAdmin
from collections_app.admin.endpoints import EndpointAdmin
from collections_app.admin.knowledge.alerts import AlertAdmin
from collections_app.admin.knowledge.limits_left import LimitsLeftAdmin
from collections_app.admin.knowledge.sources import CatalogSourceAdmin
from collections_app.admin.language_models import LanguageModelAdmin
from collections_app.admin.limits import LimitsAdmin
from collections_app.admin.shapes import ShapeAdmin

__all__ = [
    "AlertAdmin",
    "CatalogSourceAdmin",
    "ChangeAdmin",
    "CollectionAdmin",
    "DecisionModelAdmin",
    "DiscoverAdmin",
    "EndpointAdmin",
    "LanguageModelAdmin",
    "LimitsAdmin",
    "LimitsLeftAdmin",
    "ShapeAdmin",
]
