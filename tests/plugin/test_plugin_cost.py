"""What the plugin costs a project without case files, counted and not timed: one module, a few calls for each file."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from tests.plugin.environments import ROOT
from tests.plugin.projects import run, write

PACKAGE = ROOT / "pytest_plugin" / "pytest_toolcall"
FILES = sorted(PACKAGE.glob("*.py"))
MODULES = """
import json, sys

def pytest_unconfigure(config):
    print("\\nloaded", json.dumps(sorted(sys.modules)))
"""
COUNTED = """
import sys

count = 0

def look(frame, event, given):
    global count
    if "pytest_toolcall" in frame.f_code.co_filename:
        count += 1

def pytest_collection(session):
    sys.setprofile(look)

def pytest_collection_finish(session):
    sys.setprofile(None)
    print("\\ncounted", count)
"""


def loaded(folder: Path, plugin: str) -> set[str]:
    out = run(folder, plugin=plugin, inspector="").out
    (line,) = [line for line in out.splitlines() if line.startswith("loaded ")]
    return set(json.loads(line.partition(" ")[2]))


@pytest.mark.slow
def test_without_case_files_it_loads_nothing_but_itself(tmp_path: Path) -> None:
    write(tmp_path, test_one__py="def test_one(): pass\n", data__json="{}", conftest__py=MODULES)
    more = loaded(tmp_path, "pytest_toolcall.plugin") - loaded(tmp_path, "no:toolcall")
    assert more == {"pytest_toolcall", "pytest_toolcall.plugin"}


@pytest.mark.slow
def test_a_file_that_is_no_case_file_costs_a_few_calls(tmp_path: Path) -> None:
    files = {f"data{number}__json": "{}" for number in range(50)}
    write(tmp_path, test_one__py="def test_one(): pass\n", conftest__py=COUNTED, **files)
    (line,) = [line for line in run(tmp_path, "-s").out.splitlines() if line.startswith("counted ")]
    assert int(line.split()[1]) < 50 * 15


def test_it_imports_the_standard_library_pytest_and_itself() -> None:
    found = [node for path in FILES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    names = {one.name for node in found if isinstance(node, ast.Import) for one in node.names}
    names |= {str(node.module) for node in found if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "pytest", "pytest_toolcall"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_written_for_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]


def test_the_workers_are_those_of_the_inspector() -> None:
    link = PACKAGE / "workers"
    assert link.is_symlink()
    assert link.resolve() == (ROOT / "webapp" / "engines" / "workers").resolve()
