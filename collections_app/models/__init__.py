"""What can be asked: endpoints, the models they serve, collections of those, and shapes of work."""

from collections_app.models.collection import Collection, Limits, Membership
from collections_app.models.endpoint import Endpoint
from collections_app.models.language_model import LanguageModel
from collections_app.models.shape import Shape

__all__ = ["Collection", "Endpoint", "LanguageModel", "Limits", "Membership", "Shape"]
