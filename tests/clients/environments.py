"""Environments with the client libraries of requirements/sdks, of Python and of Node, and what is printed there."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.engines.builds import ROOT, interpreter, packages

SDKS, PRINTS = ROOT / "requirements" / "sdks", Path(__file__).parent / "prints"
SECONDS = 300  # for one client to hear all stories

Printed = dict[str, dict[str, str]]  # by story, by shape


def command(folder: Path, client: str) -> tuple[str | Path, Path]:
    """What runs the prints of a client: a program and a script."""
    if client == "node":  # imports are looked for beside the script
        return "node", Path(shutil.copy(PRINTS / "print_node.mjs", packages(folder, SDKS)))
    own = (SDKS / f"{client}.txt").exists()  # what cannot stand beside the others
    return interpreter(folder, client if own else "python", SDKS), PRINTS / f"print_{client}.py"


def printed(*command: str | Path) -> Printed:
    """What a script of `prints` printed. Raises RuntimeError where it prints nothing that can be read."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    try:
        found: Printed = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"{command[1]}: {done.stderr.strip()[-600:]}") from error
    return found
