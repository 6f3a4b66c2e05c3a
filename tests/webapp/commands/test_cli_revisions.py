"""An engine of a revision runs that revision, or is refused: interpreters may import something else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from webapp.engines.entries import Entry, entries
from webapp.engines.revisions import runs_another
from webapp.settings import get_settings

Program = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("own_engines")
PARSER = """
class Mine:
    version = "%s"
    def begin(self, request): pass
    def feed(self, text, ids): return {"content": text}
    def finish(self, reason): return None
"""
OLD, NEW = PARSER % "old", PARSER % "new"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with packages in src and in python; its only commit is old, and what is checked out new."""
    folder = tmp_path / "checkout"
    write(folder / "src" / "mine" / "__init__.py", OLD)
    write(folder / "src" / "spaced" / "parser.py", OLD)
    write(folder / "python" / "nested" / "__init__.py", OLD)
    write(folder / "python" / "apart" / "parser.py", OLD)
    write(folder / "plugins" / "p.py", OLD)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "old"]):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)
    write(folder / "src" / "mine" / "__init__.py", NEW)
    return folder


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    return tmp_path / "venv" / "bin" / "python"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def packages(python: Path) -> Path:
    return next(python.parent.parent.glob("lib/*/site-packages"))


def add(program: Program, python: Path, folder: Path, own: str = "mine:Mine") -> Any:
    return program("engines", "add", "base", "--python", python, "--class", own, "--path", folder, "--rev", "HEAD")


@pytest.mark.replays
@pytest.mark.parametrize("path", [".", "src"])
@pytest.mark.parametrize("own", ["mine:Mine", "spaced.parser:Mine"])
def test_of_a_checkout_with_a_folder_src_the_packages_there_are_those_of_the_revision(
    program: Program, checkout: Path, python: Path, path: str, own: str
) -> None:
    write(packages(python) / "mine.pth", f"{checkout / 'src'}\n")
    done = add(program, python, checkout / path, own)
    assert (done.code, done.out.startswith("base: class old at HEAD (")) == (0, True)


@pytest.mark.replays
@pytest.mark.parametrize("own", ["nested:Mine", "apart.parser:Mine"])
def test_an_editable_install_is_told_from_the_revision(
    program: Program, checkout: Path, python: Path, own: str
) -> None:
    write(packages(python) / "mine.pth", f"{checkout / 'python'}\n")
    refused = add(program, python, checkout, own)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "engine base: it does not run HEAD (" in refused.err
    assert f"{checkout / 'python' / own.partition(':')[0].replace('.', '/')}" in refused.err
    assert "give with --path the folder of the checkout that has its modules ('python' in some projects)" in refused.err
    assert entries(get_settings()) == {}
    done = add(program, python, checkout / "python", own)
    assert (done.code, done.out.startswith("base: class old at HEAD (")) == (0, True)


def test_an_installed_package_is_no_revision(program: Program, checkout: Path, python: Path) -> None:
    write(packages(python) / "mine.py", NEW)
    refused = add(program, python, checkout / "plugins")
    assert (refused.code, "no module is imported from there; give with --path" in refused.err) == (2, True)


def test_an_engine_whose_interpreter_imports_another_later_does_not_start(
    program: Program, checkout: Path, python: Path
) -> None:
    add(program, python, checkout / "src")
    write(packages(python) / "first.pth", f"import sys; sys.path.insert(0, {str(checkout / 'src')!r})\n")
    done = program("replay", "-", "--engine", "base", stdin="Hello")
    assert (done.code, "engine base: it does not run HEAD (" in done.err) == (2, True)


LATE = """
class Mine:
    version = "old"
    def begin(self, request): pass
    def feed(self, text, ids):
        if text.startswith("late"):
            import late
        return {"content": text}
    def finish(self, reason): return None
"""


@pytest.mark.replays
@pytest.mark.parametrize("where", ["src", "elsewhere"])
def test_what_a_parser_imports_of_another_revision_while_it_parses_ends_the_run(
    program: Program, checkout: Path, python: Path, where: str
) -> None:
    write(checkout / "src" / "slow" / "__init__.py", LATE)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    for words in (["add", "src/slow"], ["commit", "-q", "-m", "slow"]):
        subprocess.run(["git", "-C", str(checkout), *who, *words], check=True, capture_output=True)
    write(packages(python) / "mine.pth", f"{checkout / where}\n")
    write(checkout / "src" / "late.py", "x = 1\n")
    write(checkout / "elsewhere" / "late.py", "x = 1\n")
    assert add(program, python, checkout / "src", "slow:Mine").code == 0
    assert program("replay", "-", "--engine", "base", stdin="early").code == 0
    done = program("replay", "-", "--engine", "base", stdin="late")
    refused = where == "src"  # the folder of the modules; elsewhere is nothing of it
    assert (done.code, "engine base: it does not run HEAD (" in done.err) == ((2, True) if refused else (0, False))
    assert (f"{checkout / 'src' / 'late.py'} is imported, which is not of it" in done.err) is refused


def test_a_plugin_of_the_checkout_is_that_of_the_revision(
    program: Program, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def stop(_name: str, values: dict[str, Any]) -> Entry:
        seen.append(values)
        raise UsageError("seen")

    monkeypatch.setattr("webapp.commands.engine_option.checked_entry", stop)
    monkeypatch.chdir(checkout)
    plain = ("engines", "add", "base", "--python", "p", "--path", ".", "--rev", "HEAD")
    for plugin in ("plugins/p.py", "../p.py"):
        program(*plain, "--plugin", plugin)
    made = Path(seen[0]["path"])
    assert [one["plugin"] for one in seen] == [str(made / "plugins" / "p.py"), str(checkout / ".." / "p.py")]


@pytest.mark.parametrize(
    ("sources", "right"),
    [
        (["made/mine"], True),
        (["made/mine", "elsewhere"], True),
        (["made/mine", "src/other"], False),
        (["made/mine", "elsewhere/core"], False),
        (["made/src/mine", "elsewhere/hull"], False),
        (["elsewhere"], False),
        ([], False),
    ],
)
def test_a_revision_may_be_written_inside_its_checkout(tmp_path: Path, sources: list[str], right: bool) -> None:
    for folder in ("core", "src/hull"):
        (tmp_path / "made" / folder).mkdir(parents=True)
    entry = Entry(python="p", path=str(tmp_path / "made"), checkout=str(tmp_path), rev="x", commit="0" * 40)
    found = [f"/{one}" if one.startswith("elsewhere") else str(tmp_path / one) for one in sources]
    assert (runs_another(entry, found) == "") is right
    assert runs_another(Entry(python="p", path=str(tmp_path)), found) == ""
