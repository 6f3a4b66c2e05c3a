"""Runs test files of a source tree on our parsers: `python -m tests.truth.child vllm SOURCE FOLDER...`.

Reads the run (mode, contracts, which tests) as JSON from its input, and prints a line of JSON for each test: its id,
what became of it, and why. A process of its own, because the stand-in takes the names of packages.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.truth.adapters import NOW
from tests.truth.served import Run
from tests.truth.sglang import install_sglang
from tests.truth.standin import install_vllm


class _Collector:
    """Takes down what became of each test."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave only the tests that are asked for."""
        items[:] = [item for item in items if NOW.run.has(item.nodeid)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """Say which test it is."""
        NOW.test = item.nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the first thing that is not a pass."""
        why = ""
        if report.skipped:
            why = (
                str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(getattr(report, "wasxfail", ""))
            )
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(getattr(crash, "message", report.longrepr)).strip().splitlines()[0][:200]
        outcome = "xfail" if hasattr(report, "wasxfail") else report.outcome
        outcome = "passed" if why.startswith("[XPASS") else outcome  # we are right where theirs is known to fail
        if report.when == "call" or outcome != "passed":
            self.found.setdefault(report.nodeid, (outcome, why))

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported is one line."""
        if report.failed:
            self.found[report.nodeid] = ("uncollected", str(report.longrepr).strip().splitlines()[-1][:200])


def main(suite: str, source: Path, folders: list[str], run: Run) -> None:
    """Run the folders of the source tree and print what became of each test."""
    NOW.run = run
    {"vllm": install_vllm, "sglang": install_sglang}[suite](source)
    collector = _Collector()
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:terminal",
        "-p",
        "no:xdist",
        "--continue-on-collection-errors",
        "-c",
        "/dev/null",
        "--rootdir",
        str(source),
        "-W",
        "ignore",
    ]
    for folder in folders:
        path = source / folder
        options += [f"--confcutdir={path if path.is_dir() else path.parent}", str(path)]
    pytest.main(options, plugins=[collector])
    for name, (outcome, why) in collector.found.items():
        print(json.dumps({"id": name, "outcome": outcome, "why": why}))


if __name__ == "__main__":
    said = json.load(sys.stdin)
    only = said["only"] if said["only"] is None else frozenset(said["only"])
    main(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3:], Run(said["mode"], said["contracts"], only))
