"""Which adapters an interpreter has something for. Nothing of an engine is imported to find that out."""

from __future__ import annotations

from importlib import metadata, util
from typing import Any

PACKAGES = {
    "vllm": "vllm",
    "sglang": "sglang",
    "lmdeploy": "lmdeploy",
    "mlx": "mlx_lm",
    "harmony": "openai_harmony",
    "mistral": "mistral_common",
    "transformers": "transformers",
}
SERVERS = ("vllm", "sglang", "lmdeploy", "mlx")  # the others are libraries, which servers bring along


def adapter() -> Installed:
    """The adapter, which replays nothing."""
    return Installed()


class Installed:
    """The packages that are there."""

    def hello(self) -> dict[str, Any]:
        """Adapters with the version of their package, servers first; libraries only where there is no server."""
        found = {name: _version(package) for name, package in PACKAGES.items() if util.find_spec(package) is not None}
        servers = {name: version for name, version in found.items() if name in SERVERS}
        return {"adapters": servers or found, "besides": found}


def _version(package: str) -> str:
    try:
        return metadata.version(package.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return ""
