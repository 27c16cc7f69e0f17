"""What can be asked: endpoints, the models they serve, collections of those, and shapes of work.

Every change to these rows is logged (change.py). A collection's members are logged as a whole, by services/members.py.
"""

from auditlog.registry import auditlog

from collections_app.models.catalog import CatalogEntry, CatalogSource, Fact
from collections_app.models.change import Change
from collections_app.models.collection import Collection, Limits, Membership
from collections_app.models.decision_model import DecisionModel
from collections_app.models.endpoint import Endpoint
from collections_app.models.health import Alert, CoolDown, Doubt, Usage
from collections_app.models.language_model import LanguageModel
from collections_app.models.roster_version import RosterVersion
from collections_app.models.shape import Shape

__all__ = [
    "Alert",
    "CatalogEntry",
    "CatalogSource",
    "Change",
    "Collection",
    "CoolDown",
    "DecisionModel",
    "Doubt",
    "Endpoint",
    "Fact",
    "LanguageModel",
    "Limits",
    "Membership",
    "RosterVersion",
    "Shape",
    "Usage",
]

for logged in (Collection, DecisionModel, Endpoint, LanguageModel, Limits, Shape):
    # Columns by name: by default the log would show reverse relations too.
    auditlog.register(
        logged, include_fields=[column.name for column in logged._meta.fields if column.editable and not column.primary_key]
    )
