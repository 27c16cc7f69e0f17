"""Where the routes are written down."""

from django.urls import path

from benchsite.api.document import api_schema
from benchsite.api.page import api_docs

app_name = "api"
urlpatterns = [
    path("api-schema", api_schema, name="schema"),
    path("api-docs", api_docs, name="docs"),
]
