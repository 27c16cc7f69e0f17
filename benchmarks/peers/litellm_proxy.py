"""LiteLLM's proxy: one request that names several models, as it takes it, separated by commas.

One process, as the product is, and no database: it writes nothing down. Needs what `make bench PEERS=1` installs.
"""

import os
from pathlib import Path

import orjson

from benchmarks.processes import ROOT, Server
from benchmarks.roster import COLLECTIONS

INSTALLED = ROOT / ".venv/peers/litellm/bin"
NAME = "LiteLLM"


class LiteLLM(Server):
    """The proxy in a `with` block, before the models of the benchmark's collections."""

    python = str(INSTALLED / "python")
    ready_path = "/health/liveliness"

    def __init__(self, folder: Path, upstream_url: str) -> None:
        config = folder / "litellm.json"
        config.write_bytes(orjson.dumps(_config(upstream_url)))
        command = [str(INSTALLED / "litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", "{port}"]
        command += ["--num_workers", "1", "--telemetry", "False"]
        super().__init__(NAME, command, log=folder / "litellm.log", env=_environment(folder))

    @staticmethod
    def is_installed() -> bool:
        return (INSTALLED.parent / "installed").exists()

    def model_for(self, collection: str) -> str:
        return ",".join(COLLECTIONS[collection])


def _config(upstream_url: str) -> dict[str, object]:
    """Every model of the benchmark, once. JSON is YAML."""
    names = sorted({model for models in COLLECTIONS.values() for model in models})
    upstream = {"api_base": f"{upstream_url}/v1", "api_key": "none"}
    return {"model_list": [{"model_name": name, "litellm_params": {"model": f"openai/{name}", **upstream}} for name in names]}


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine's own: neither keys of providers nor a database, Redis or configuration of LiteLLM's."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        # Else it reads a list of prices from GitHub as it starts, and asks for a key of everybody.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "LITELLM_LOG": "ERROR",
    }
