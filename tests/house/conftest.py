"""Where the checkout is and which files belong to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file that is in the project or would be with the next commit, relative to its root."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(Path(name) for name in names.split("\0") if name and (ROOT / name).is_file())


@pytest.fixture(scope="session")
def modules(files: list[Path]) -> list[Path]:
    """The Python files of both packages."""
    return [path for path in files if path.suffix == ".py" and path.parts[0] in {"parsers", "webapp"}]


@pytest.fixture(scope="session")
def measured(files: list[Path], modules: list[Path]) -> list[Path]:
    """These, and those of the pytest plugin, which is a package by itself."""
    return [*modules, *[path for path in files if path.suffix == ".py" and path.parts[0] == "pytest_plugin"]]
