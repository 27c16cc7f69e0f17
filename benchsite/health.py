"""Is it alive, and can it work: for supervisors and load balancers."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from gateway.errors import Unavailable
from gateway.workers import worker_pool


@csrf_exempt
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@csrf_exempt
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers and has every migration, and a panel would be taken; 503 with what is missing otherwise."""
    try:
        worker_pool().admit(1)
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return JsonResponse({"status": "not ready", "why": "the database does not answer"}, status=503)
    except Unavailable as refusal:
        return JsonResponse({"status": "not ready", "why": refusal.message}, status=503)
    if missing:
        why = f"{missing} migrations are missing: run manage.py migrate"
        return JsonResponse({"status": "not ready", "why": why}, status=503)
    return JsonResponse({"status": "ok"})
