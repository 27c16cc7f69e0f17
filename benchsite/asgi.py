"""Composition root: proxies seen through, the edge in front, the gateway's JSON and streams behind it, and the dashboard."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
# Loads the apps, which everything below needs.
site = get_asgi_application()

from benchsite.proxies import TrustedProxies  # noqa: E402
from gateway.edge import Edge  # noqa: E402
from gateway.routing import json_app, stream_app  # noqa: E402

application = TrustedProxies(Edge(json_app=json_app, stream_app=stream_app, site=site))
