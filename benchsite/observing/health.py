"""Is it alive, and can it work: for supervisors and load balancers."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from benchsite.observing.readiness import look_at_all


@csrf_exempt
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@csrf_exempt
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """A panel would be taken; 503 with what is in its way otherwise."""
    found = look_at_all()
    wrong = {name: why for name, why in found.items() if why}
    checks = {name: why or "ok" for name, why in found.items()}
    if not wrong:
        return JsonResponse({"status": "ok", "checks": checks})
    why = "; ".join(f"{name}: {said}" for name, said in wrong.items())
    return JsonResponse({"status": "not ready", "why": why, "checks": checks}, status=503)
