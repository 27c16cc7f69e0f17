"""The call log's addresses, under the gateway's /bench/."""

from django.urls import path

from evidence.views import OwedView, VerdictView

urlpatterns = [
    path("verdict", VerdictView.as_view()),
    path("verdicts/owed", OwedView.as_view()),
]
