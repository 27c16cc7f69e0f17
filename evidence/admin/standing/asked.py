"""What a page of evidence is asked for: a shape, a collection, a time, a role, a kind of seat; read from the query."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from collections_app.models import Collection, LanguageModel, Shape
from evidence.models import Tally
from evidence.selectors.standing import ShapeJudged, Wanted, shapes_judged

EVERY = "every"
DAYS = (("", "any time"), ("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "a year"))
SEATS = (("", "members and explorers"), (Tally.Seat.MEMBER, "members"), (Tally.Seat.EXPLORER, "explorers"))
MERGING = (Tally.Seat.MERGER, "mergers")
ROLES = (("", "any role"), *LanguageModel.Role.choices)
STEPS = (("day", "by day"), ("week", "by week"))
LONGEST_NAME = 64


class WantedForm(forms.Form):
    """The filters that a page has, by name; anything that cannot be read is as if it were not there."""

    def __init__(self, asked: QueryDict, names: Sequence[str], shapes: Iterable[ShapeJudged]) -> None:
        super().__init__(asked)
        collections = [(one.asked_as, one.asked_as) for one in Collection.objects.all()] if "collection" in names else []
        judged = [(one.shape, one.shape if one.judged is None else f"{one.shape} ({one.judged:,} judged)") for one in shapes]
        choices: dict[str, tuple[str, Iterable[tuple[str, str]]]] = {
            "shape": ("Shape", [*judged, (EVERY, "every shape together")]),
            "collection": ("Collection", [("", "any collection"), *collections]),
            "days": ("Time", DAYS),
            "role": ("Role of the model", ROLES),
            "seat": ("Seat", [*SEATS, MERGING]),
            "step": ("Shown", STEPS),
        }
        for name in names:
            if name == "model":
                self.fields[name] = _text("Model", "its alias")
            else:
                label, given = choices[name]
                self.fields[name] = forms.ChoiceField(
                    required=False, label=label, choices=list(given), widget=UnfoldAdminSelectWidget
                )
        self.is_valid()

    def value(self, name: str, default: str = "") -> str:
        return str(self.cleaned_data.get(name) or default)

    @property
    def wanted(self) -> Wanted:
        shape = self.value("shape")
        return Wanted(
            shape="" if shape == EVERY else shape,
            collection=self.value("collection"),
            days=int(self.value("days", "0")),
            role=self.value("role"),
            seat=self.value("seat"),
        )


def form_for(asked: QueryDict, names: Sequence[str], *, first: Mapping[str, str]) -> WantedForm:
    """The form as it is asked for; what is not, as `first` has it. A shape is else the one that most verdicts are of."""
    # Counting what is known of each shape is worth its time where one of them has to be chosen.
    shapes = _shapes() if "shape" in first else shapes_judged()
    query = asked.copy()
    for name, value in {"shape": shapes[0].shape if shapes else EVERY, **first}.items():
        query.setdefault(name, value)
    return WantedForm(query, names, shapes)


def _shapes() -> list[ShapeJudged]:
    return [ShapeJudged(name, None) for name in Shape.objects.values_list("name", flat=True)]


def _text(label: str, about: str) -> Any:
    widget = UnfoldAdminTextInputWidget(attrs={"type": "search", "placeholder": about, "autocomplete": "off"})
    return forms.CharField(required=False, max_length=LONGEST_NAME, label=label, widget=widget)
