"""Whether what a build packs is there: the worker is a link to a folder of the checkout, and a copy of this folder
alone has a link to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WORKER = "pytest_toolcall/workers/engine_worker.py"
WORDS = """{root} has no worker: pytest_toolcall/workers is a link to webapp/engines/workers of the checkout.
Build in the checkout (python -m build pytest_plugin), or from a source distribution made there: that has the files."""


class CustomBuildHook(BuildHookInterface[Any]):
    """Refuses to build a distribution that could test nothing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raise FileNotFoundError where the worker is not in this folder."""
        if not Path(self.root, WORKER).is_file():
            raise FileNotFoundError(WORDS.format(root=self.root))
