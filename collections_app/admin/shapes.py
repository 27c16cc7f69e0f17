"""Shapes: kinds of work, described for the model that picks one, and the roles that may explore on each."""

from django import forms
from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextareaWidget

from collections_app.admin.fields import RolesField
from collections_app.admin.rows import RowAdmin, chips
from collections_app.models import Shape


class ShapeForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    roles = RolesField(label="Admitted roles", help_text="Models of these roles may explore on this shape.")

    class Meta:
        model = Shape
        fields = ("name", "description", "roles")
        widgets = {"description": UnfoldAdminTextareaWidget(attrs={"rows": 3})}


@admin.register(Shape)
class ShapeAdmin(RowAdmin):
    form = ShapeForm
    list_display = ("name", "admits", "described")
    search_fields = ("name", "description")

    @admin.display(description="admitted roles")
    def admits(self, shape: Shape) -> SafeString:
        return chips(map(str, shape.roles))

    @admin.display(description="description")
    def described(self, shape: Shape) -> str:
        return shape.description
