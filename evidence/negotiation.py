"""Every reply of an API route is JSON, whatever Accept says: SDKs ask for streams, and for anything, with the same header."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class JsonAlways(BaseContentNegotiation):
    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type
