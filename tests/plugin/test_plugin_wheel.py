"""A stranger's project, in an environment of its own, tested from the wheels of both distributions: failing case from
the page, red, fix, green. Its packages are called as ours are, and its pydantic is another one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.plugin.environments import (
    ROOT,
    Environment,
    bare,
    built,
    done,
    install,
    program,
    with_inspector,
    with_pytest,
)
from tests.plugin.stranger import commands, page_case, project

pytestmark = pytest.mark.slow

OLD_PYDANTIC = 'VERSION = "1.10.26"\n\n\nclass BaseModel:\n    """Nothing that the inspector could use."""\n'


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheels")
    built(ROOT, out)
    built(ROOT / "pytest_plugin", out)
    return out


@pytest.fixture(scope="module")
def inspector(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    (wheel,) = wheels.glob("toolcall_inspector-*.whl")
    return with_inspector(tmp_path_factory.mktemp("inspector") / "venv", wheel)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A home with what the page gave."""
    found = tmp_path / "home" / "Downloads"
    found.mkdir(parents=True)
    page_case(found / "marker.case.json")
    return found


def test_the_wheel_has_the_worker_of_the_inspector_and_nothing_else_of_it(wheels: Path) -> None:
    (wheel,) = wheels.glob("pytest_toolcall-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    inside = ROOT / "webapp" / "engines" / "workers"
    workers = {f"pytest_toolcall/workers/{path.name}": path.read_bytes() for path in inside.glob("*.py")}
    own = {f"pytest_toolcall/{path.name}" for path in (ROOT / "pytest_plugin" / "pytest_toolcall").glob("*.py")}
    own |= {"pytest_toolcall/py.typed"}
    assert {name: files[name] for name in workers} == workers
    assert files.keys() == workers.keys() | own


def test_the_source_distribution_has_the_files_and_builds_the_same_wheel_anywhere(wheels: Path, tmp_path: Path) -> None:
    source = built(ROOT / "pytest_plugin", tmp_path, "sdist")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "elsewhere", filter="data")
    (project,) = (tmp_path / "elsewhere").iterdir()
    assert not any(path.is_symlink() for path in project.rglob("*"))
    (wheel,) = wheels.glob("pytest_toolcall-*.whl")
    assert built(project, tmp_path).read_bytes() == wheel.read_bytes()


def test_a_copy_of_the_folder_alone_says_why_it_cannot_be_built(tmp_path: Path) -> None:
    project = tmp_path / "pytest_plugin"
    shutil.copytree(ROOT / "pytest_plugin", project, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for kind in ("wheel", "sdist"):
        with pytest.raises(AssertionError, match=r"is a link to webapp/engines/workers of the checkout\.\s+Build in"):
            built(project, tmp_path, kind)


def test_failing_case_red_fix_green_in_five_commands(
    wheels: Path, inspector: Environment, folder: Path, downloads: Path, tmp_path: Path
) -> None:
    theirs = with_pytest(tmp_path / "venv")
    (theirs.packages / "pydantic.py").write_text(OLD_PYDANTIC, "utf-8")
    program(theirs, "pip", f'-m pip --python "{theirs.python}"', python=f'"{sys.executable}"')
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "toolcall-inspector").symlink_to(inspector.programs / "toolcall-inspector")
    environ = bare(
        downloads.parent,
        theirs.programs,
        tools,
        PYTHONPATH=str(folder),
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(wheels),
        TOOLCALL_INSPECTOR_DATA_DIR=str(tmp_path / "kept"),
    )
    assert len(commands()) == 5
    codes, outputs = [], []
    for command in commands():
        ran = subprocess.run(command, shell=True, cwd=folder, env=environ, capture_output=True, text=True, timeout=300)
        codes.append(ran.returncode)
        outputs.append(ran.stdout + ran.stderr)
    assert codes == [0, 0, 1, 0, 0], "\n".join(outputs)
    assert "1 failed, 2 passed" in outputs[2]
    assert "not as expected in" in outputs[2]
    assert "pytest tests/marker.case.json::marker --toolcall-chunking" in outputs[2]
    assert "Traceback" not in outputs[2]
    assert "pytest_toolcall/" not in outputs[2], "nobody has to read the plugin"
    assert "3 passed" in outputs[4]


def test_the_installed_plugin_is_turned_off_by_one_line(wheels: Path, folder: Path, tmp_path: Path) -> None:
    theirs = with_pytest(tmp_path / "venv")
    (theirs.packages / "pydantic.py").write_text(OLD_PYDANTIC, "utf-8")
    (wheel,) = wheels.glob("pytest_toolcall-*.whl")
    install(theirs, "--no-deps", wheel)
    (folder / "tests" / "one.case.json").write_text("{}", "utf-8")
    pytest_here = (theirs.python, "-m", "pytest", "-q")
    environ = bare(tmp_path, theirs.programs)
    assert "2 passed" in done(*pytest_here, "-p", "no:toolcall", cwd=folder, environ=environ)
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("toolcall = false\n")
    assert "2 passed" in done(*pytest_here, cwd=folder, environ=environ)
