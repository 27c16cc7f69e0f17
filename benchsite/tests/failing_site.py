"""Pages and a worker pool whose errors quote the request that provoked them, in every way an error can get into a log."""

import asyncio
import logging
import threading
import warnings

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from benchsite.urls import urlpatterns as site
from gateway.workers.threads import ThreadWorkerPool

BREAK_THE_POOL = "Break the pool."
KINDS = {kind.__name__: kind for kind in (ValueError, BadRequest, PermissionDenied, SuspiciousOperation, Http404)}


def everything(request):
    return f"{request.get_full_path()} {dict(request.headers)} {request.body!r} {request.POST} {request.COOKIES}"


@csrf_exempt
def failing(request, kind):
    sent = everything(request)
    try:
        {}[sent]
    except KeyError as error:
        raise KINDS[kind](sent) from error


@csrf_exempt
async def failing_aside(request):
    """Fails where nobody waits for it: in a thread, in a task, where Python cannot raise, and in library loggers."""
    sent = everything(request)

    async def fail_in_a_task():
        raise ValueError(sent)

    def fail_in_a_thread():
        raise ValueError(sent)

    class Unraisable:
        def __del__(self):
            raise ValueError(sent)

    thread = threading.Thread(target=fail_in_a_thread)
    thread.start()
    await asyncio.to_thread(thread.join)
    asyncio.create_task(fail_in_a_task())  # noqa: RUF006
    await asyncio.sleep(0.01)
    Unraisable()
    warnings.warn("a page of the test warns", stacklevel=1)
    logging.getLogger("daphne.server").warning("Application instance %r for connection %s was killed", sent, request)
    logging.getLogger("urllib3.connectionpool").warning("Retrying %s", sent)
    logging.getLogger("requests").error("%s")
    logging.getLogger("httpx").error("%d failed", sent)
    logging.getLogger("django.request").error("Failed: %s", sent, extra={"request": request, "status_code": 500})
    logging.getLogger("somebody.elses").error(f"{sent}")
    return HttpResponse("done")


class LoudPool(ThreadWorkerPool):
    def submit(self, job, on_text=None):
        if BREAK_THE_POOL in repr(job):
            raise ValueError(repr(job))
        return super().submit(job, on_text)


urlpatterns = [path("fail/<str:kind>", failing), path("fail-aside", failing_aside), *site]
