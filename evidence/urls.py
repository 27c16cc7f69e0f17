"""The call log's addresses, under the gateway's /bench/."""

from django.urls import path

from evidence.views import VerdictView

urlpatterns = [
    path("verdict", VerdictView.as_view()),
]
