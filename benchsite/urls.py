"""The site's addresses: health and the dashboard. The gateway's routes are its own (gateway/urls.py)."""

from django.contrib import admin
from django.urls import include, path

from benchsite.dashboard.login import login
from benchsite.front_page import front_page
from benchsite.health import healthz, readyz

urlpatterns = [
    path("", front_page),
    path("healthz", healthz),
    path("readyz", readyz),
    path("admin/login/", login),
    path("admin/playground/", include("benchsite.dashboard.playground.page")),
    path("admin/", admin.site.urls),
]
