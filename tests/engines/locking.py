"""Writes the locked sets of requirements/engines again: for each pin the digest of the file that pip takes here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.engines.builds import BACKEND, LOCKS, NPM, run

HEAD = "# Made of {name}.in by `make test-engines ARGS=--lock`, with CPython 3.11 on Linux (x86-64).\n"
SOURCES = ("llamacpp", "tool_parser")  # sets that are not installed, of which the source is read
CRATES = ("tool_parser",)  # of these those that take the index of crates to say who they are


def lock(only: list[str]) -> None:
    """Lock the sets of these names, or all of them. The lock of npm has no address."""
    for file in sorted(LOCKS.glob("*.in")):
        if not only or file.stem in only:
            (LOCKS / f"{file.stem}.txt").write_text(_locked(file), "utf-8")
    if not only or "npm" in only:
        folder = LOCKS / "npm"
        run(*NPM, "--prefix", folder, "install", "--package-lock-only", cwd=folder)
        name = folder / "package-lock.json"
        found = json.loads(name.read_text("utf-8"))
        for entry in found["packages"].values():
            entry.pop("funding", None)
        name.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


def _locked(file: Path) -> str:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--dry-run", "--no-deps"]
    source = ["--no-binary", ":all:"] if file.stem in SOURCES else ["--only-binary", ":all:"]
    crate = file.stem in CRATES
    command = [*pip, "--ignore-installed", *source, *["--no-build-isolation"] * crate, "--report", "-", "-r", str(file)]
    variables = {**os.environ, **({"PYTHONPATH": str(BACKEND)} if crate else {})}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    lines = [HEAD.format(name=file.stem), "\n"]
    for one in sorted(json.loads(done.stdout)["install"], key=lambda one: one["metadata"]["name"].lower()):
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        version = one["metadata"]["version"]
        lines.append(f"{one['metadata']['name']}=={version} \\\n    --hash=sha256:{digest}\n")
    return "".join(lines)
