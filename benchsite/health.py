"""Is it alive, and can it work: for supervisors and load balancers."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse


def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers and has every migration; 503 with what is missing otherwise."""
    try:
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return JsonResponse({"status": "not ready", "why": "the database does not answer"}, status=503)
    if missing:
        why = f"{missing} migrations are missing: run manage.py migrate"
        return JsonResponse({"status": "not ready", "why": why}, status=503)
    return JsonResponse({"status": "ok"})
