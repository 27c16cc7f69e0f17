"""How models and endpoints are doing: cool-downs, what of their limits is used, doubts, and alerts for a person."""

from collections_app.models.health.alert import Alert
from collections_app.models.health.cool_down import CoolDown
from collections_app.models.health.doubt import Doubt
from collections_app.models.health.pattern import WHOLE_ACCOUNT, covers, is_pattern
from collections_app.models.health.quota import Quota, quotas_of
from collections_app.models.health.usage import Usage

__all__ = ["WHOLE_ACCOUNT", "Alert", "CoolDown", "Doubt", "Quota", "Usage", "covers", "is_pattern", "quotas_of"]
