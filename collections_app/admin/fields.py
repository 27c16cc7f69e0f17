"""Form fields that people can type: words with commas between them, call options as JSON, roles as check boxes.

They read text into what the row holds; whether a value is allowed is the row's own validators' to say.
"""

import json
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from collections_app.models import LanguageModel
from collections_app.models.options import check_options

LONGEST_OPTIONS = 20_000


class WordsField(forms.CharField):
    """A list of lower-case words, typed with commas between them."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        words = [word.strip().lower() for word in (super().to_python(value) or "").split(",")]
        return [word for word in words if word]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != (initial or []))


class OptionsField(forms.CharField):
    """Call options, typed as a JSON object; empty is none."""

    widget = UnfoldAdminTextareaWidget
    default_validators = [check_options]

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or "{}"
        if len(text) > LONGEST_OPTIONS:
            raise forms.ValidationError(f"At most {LONGEST_OPTIONS} characters.")
        try:
            return json.loads(text)
        except RecursionError as error:
            raise forms.ValidationError("Nested too deep.") from error
        except ValueError as error:
            raise forms.ValidationError(f"Not JSON: {error}.") from error

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or {}))
        except forms.ValidationError:
            return True


class RolesField(forms.MultipleChoiceField):
    """Roles of models, ticked; one at least."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=LanguageModel.Role.choices, **options)
