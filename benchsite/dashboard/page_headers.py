"""What a browser may do with a page of the site: run the site's scripts, send to the site, show it in no frame, keep no copy.

Nothing in a page is run or read as a style sheet, whoever wrote it there, and no script makes code out of text: the theme's
need for that is met in static/benchsite. Style attributes are let through: the theme sets them, and they reach nobody.
"""

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


class PageHeadersMiddleware(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
