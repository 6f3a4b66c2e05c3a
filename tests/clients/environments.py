"""Environments with the client libraries of requirements/sdks: one of Python, one of Node. Made once a lock."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.engines.builds import NPM, ROOT, made, run

SDKS, PRINTS = ROOT / "requirements" / "sdks", Path(__file__).parent / "prints"
SECONDS = 300  # for one client to hear all stories

Printed = dict[str, dict[str, str]]  # by story, by shape


def python(folder: Path) -> Path:
    """The interpreter that has the clients of Python."""
    place, lock = folder / "python", SDKS / "python.txt"
    with made(place, lock) as wanted:
        if wanted:
            shutil.rmtree(place, ignore_errors=True)
            run(sys.executable, "-m", "venv", place)
            pip = (place / "bin" / "python", "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check")
            run(*pip, "install", "--no-deps", "--require-hashes", "-r", lock)
    return place / "bin" / "python"


def node(folder: Path) -> Path:
    """The script of Node, beside the packages that it imports."""
    place, lock = folder / "npm", SDKS / "npm" / "package-lock.json"
    with made(place, lock) as wanted:
        if wanted:
            place.mkdir(exist_ok=True)
            for one in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(SDKS / "npm" / one, place)
            run(*NPM, "--prefix", place, "ci")
    return Path(shutil.copy(PRINTS / "print_node.mjs", place))


def printed(*command: str | Path) -> Printed:
    """What a script of `prints` printed. Raises RuntimeError where it prints nothing that can be read."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    try:
        found: Printed = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"{command[1]}: {done.stderr.strip()[-600:]}") from error
    return found
