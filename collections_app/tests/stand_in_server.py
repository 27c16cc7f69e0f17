"""Stands in for the model server: answers /health on a port until its parent is gone.

python -m collections_app.tests.stand_in_server PORT
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from collections_app.local.lifeline import wait_until_parent_is_gone


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wait_until_parent_is_gone()
    os._exit(0)
