"""The site's addresses: health and the dashboard. The gateway's routes are its own (gateway/urls.py)."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from benchsite.dashboard.login import login
from benchsite.front_page import front_page
from benchsite.observing.health import healthz, readyz
from benchsite.observing.metrics import metrics
from evidence.links.page import verdict_link

urlpatterns = [
    path("", front_page),
    # Asked for unasked, also where no page has named an icon: by browsers, for whatever they show of this server.
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}benchsite/icon.svg")),
    path("verdict/<str:token>/", verdict_link),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("", include("benchsite.api.urls")),
    path("admin/login/", login),
    path("admin/playground/", include("benchsite.dashboard.playground.page")),
    path("admin/preview/", include("benchsite.dashboard.preview.page")),
    path("admin/", admin.site.urls),
]
