"""What the distributions have in them, as the build backend lists it: nothing is built here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from tests.plugin.environments import ROOT

PLUGIN = ROOT / "pytest_plugin"
WORKERS = sorted(path.name for path in (ROOT / "webapp" / "engines" / "workers").glob("*.py"))
_BUILDERS = {"sdist": SdistBuilder, "wheel": WheelBuilder}


def listed(project: Path, kind: Literal["sdist", "wheel"]) -> list[str]:
    """The files that the backend would take, but for those that it makes."""
    builder = _BUILDERS[kind](str(project))
    with builder.config.set_build_data({"artifacts": [], "force_include": {}, "build_hooks": ()}):
        return sorted([file.distribution_path for file in builder.recurse_included_files()])


def modules(*packages: Path) -> set[str]:
    """The Python files of packages, as they stand in their project."""
    return {path.relative_to(package.parent).as_posix() for package in packages for path in package.rglob("*.py")}


@pytest.mark.parametrize(
    ("project", "kind", "folders"),
    [
        (ROOT, "wheel", ["webapp/engines/workers"]),
        (ROOT, "sdist", ["webapp/engines/workers", "pytest_plugin/pytest_toolcall/workers"]),
        (PLUGIN, "wheel", ["pytest_toolcall/workers"]),
        (PLUGIN, "sdist", ["pytest_toolcall/workers"]),
    ],
)
def test_every_distribution_has_the_worker_in_each_place_where_it_is_looked_for(
    project: Path, kind: Literal["sdist", "wheel"], folders: list[str]
) -> None:
    files = listed(project, kind)
    assert len({*files}) == len(files)
    for folder in folders:
        assert [Path(file).name for file in files if Path(file).parent.as_posix() == folder] == WORKERS


@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_every_distribution_has_all_modules_of_its_packages(kind: Literal["sdist", "wheel"]) -> None:
    assert modules(ROOT / "parsers", ROOT / "webapp") <= {*listed(ROOT, kind)}
    assert modules(PLUGIN / "pytest_toolcall") <= {*listed(PLUGIN, kind)}


def test_the_source_distribution_has_what_the_wheels_of_both_projects_are_made_of(tmp_path: Path) -> None:
    for name in listed(ROOT, "sdist"):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes() if target.name in ("pyproject.toml", ".gitignore") else b"")
    assert listed(tmp_path, "wheel") == listed(ROOT, "wheel")
    assert listed(tmp_path / "pytest_plugin", "wheel") == listed(PLUGIN, "wheel")
    assert listed(tmp_path, "sdist") == listed(ROOT, "sdist")
