"""Django's ASGI handler for gateway routes: the same request cycle, without the dashboard's middleware.

The edge has checked host, origin and body; sessions, CSRF and messages are the dashboard's, and each middleware would
cost every request a hop to a thread and back.
"""

from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.exception import convert_exception_to_response


class GatewayHandler(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        self._view_middleware: list[object] = []
        self._template_response_middleware: list[object] = []
        self._exception_middleware: list[object] = []
        self._middleware_chain = convert_exception_to_response(self._get_response_async)
