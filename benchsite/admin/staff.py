"""Staff: who may log in to the dashboard where it asks for a login. Gateway keys are not these (keys/)."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

admin.site.index_title = "Dashboard"
admin.site.unregister(User)
# Whoever is staff may do everything here: there is nothing to group.
admin.site.unregister(Group)


@admin.register(User)
class StaffAdmin(UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]  # unfold has no types
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    readonly_fields = ("last_login",)
    filter_horizontal = ()
