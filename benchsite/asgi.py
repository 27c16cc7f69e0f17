"""Composition root: the access log, proxies seen through and the edge in front; behind them the gateway and the dashboard."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
# Loads the apps, which everything below needs.
site = get_asgi_application()

from benchsite.dashboard.live import LiveConsumer  # noqa: E402
from benchsite.log.access import AccessLog, noted  # noqa: E402
from benchsite.proxies import TrustedProxies  # noqa: E402
from gateway.asked import App  # noqa: E402
from gateway.edge import Edge  # noqa: E402
from gateway.routing import json_app, stream_app  # noqa: E402
from gateway.telemetry.spans import tracer  # noqa: E402

# Before there are threads and callers: it loads for a while, where traces are wanted.
tracer()

live = cast(App, LiveConsumer.as_asgi())  # type: ignore[no-untyped-call]
edge = Edge(json_app=noted(json_app), stream_app=noted(stream_app), site=site, live=live)
application = AccessLog(TrustedProxies(edge))
