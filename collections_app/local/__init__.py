"""The local endpoint: a small real model on this machine, so that a first panel needs no account.

`endpoint.local_endpoint` is the way in. Nothing is imported here: the server's own process starts without Django.
"""


class LocalModelUnavailableError(Exception):
    """Why there is no local model now, in words for whoever started the server; never a reason not to serve."""
