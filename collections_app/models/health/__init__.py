"""How models and endpoints are doing: cool-downs, what of their limits is used, doubts, and alerts for a person."""

from collections_app.models.health.alert import Alert
from collections_app.models.health.cool_down import CoolDown
from collections_app.models.health.doubt import Doubt
from collections_app.models.health.pattern import covers
from collections_app.models.health.quota import Quota, quotas_of
from collections_app.models.health.usage import Usage

__all__ = ["Alert", "CoolDown", "Doubt", "Quota", "Usage", "covers", "quotas_of"]
