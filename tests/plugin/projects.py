"""Projects of strangers, whose tests run in a process of their own with the plugin of this checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from inspect import getsource
from pathlib import Path
from typing import Any, NamedTuple

from tests.plugin.environments import ROOT
from tests.webapp.guests.serving import Naive

INSPECTOR = f"{Path(sys.executable).with_name('toolcall-inspector')}"
NAIVE = f"import json\nfrom typing import Any\n\n\n{getsource(Naive)}"
CONFTEST = f"import pytest\n{NAIVE}\n\n@pytest.fixture\ndef toolcall_parser():\n    return Naive\n"


class Ran(NamedTuple):
    """What a run of pytest did."""

    code: int
    out: str


def write(folder: Path, **files: Any) -> Path:
    """A project of these files, whose names have __ for a dot and ___ for a slash."""
    for name, content in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return folder


def run(
    folder: Path, *words: str, inspector: str = INSPECTOR, plugin: str = "pytest_toolcall.plugin", cache: bool = False
) -> Ran:
    """Its tests, with a configuration that says where the inspector is; with the cache of pytest if that is wanted."""
    if not (folder / "pytest.ini").exists():
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "pytest_plugin")}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # to load all that are installed here takes a second
    where = ["-o", f"toolcall_inspector={inspector}"] if inspector else []
    several = ["-p", "xdist"] if "-n" in words else []
    options = ["-p", plugin, *several, *["-p", "no:cacheprovider"] * (not cache), *where, "-W", "error"]
    command = [sys.executable, "-m", "pytest", "-rA", *options, *words]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300)
    return Ran(done.returncode, done.stdout + done.stderr)
