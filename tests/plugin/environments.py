"""Wheels of both distributions, and environments that have one of them each and nothing of the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "pytest-xdist", "execnet")


class Environment(NamedTuple):
    """A folder of programs."""

    programs: Path

    @property
    def python(self) -> Path:
        return self.programs / "python"

    @property
    def packages(self) -> Path:
        (found,) = self.programs.parent.glob("lib/python*/site-packages")
        return found


def done(*command: str | Path, cwd: Path, environ: dict[str, str] | None = None) -> str:
    """What a program that succeeds prints."""
    ran = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def built(project: Path, out: Path, kind: Literal["wheel", "sdist"] = "wheel") -> Path:
    """The distribution of a project, built with what is installed here."""
    pattern = {"wheel": "*.whl", "sdist": "*.tar.gz"}[kind]
    before = {*out.glob(pattern)}
    done(sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, project, cwd=project)
    (found,) = {*out.glob(pattern)} - before
    return found


def made(home: Path) -> Environment:
    """An environment with nothing in it."""
    done(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    return Environment(home / "bin")


def install(environment: Environment, *what: str | Path) -> None:
    pip = (sys.executable, "-m", "pip", "--python", environment.python, "--disable-pip-version-check", "install")
    done(*pip, "--no-index", *what, cwd=environment.programs)


def with_inspector(home: Path, wheel: Path) -> Environment:
    """The inspector from its wheel, with the requirements that are installed here."""
    environment = made(home)
    install(environment, "--no-deps", wheel)
    (environment.packages / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return environment


def with_pytest(home: Path) -> Environment:
    """A copy of pytest, as it is installed here, and nothing else of what is."""
    environment = made(home)
    for name in PYTEST:
        found = metadata.distribution(name)
        tops = {Path(str(file)).parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in tops:
            source, target = Path(str(found.locate_file(top))), environment.packages / top
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
    program(environment, "pytest", '-c "from pytest import console_main; raise SystemExit(console_main())"')
    return environment


def program(environment: Environment, name: str, words: str, python: str = '"$(dirname "$0")/python"') -> None:
    """A program of an environment: what Python is given, before the words of whoever calls it."""
    path = environment.programs / name
    path.write_text(f'#!/bin/sh\nexec {python} {words} "$@"\n', "utf-8")
    path.chmod(0o755)


def bare(home: Path, *paths: Path, **more: str) -> dict[str, str]:
    """An environment of a shell that finds programs there first."""
    return {"HOME": str(home), "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]), **more}
