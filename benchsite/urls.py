"""The site's addresses: health and the dashboard. The gateway's routes are its own (gateway/urls.py)."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from benchsite.health import healthz, readyz

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("healthz", healthz),
    path("readyz", readyz),
    path("admin/", admin.site.urls),
]
