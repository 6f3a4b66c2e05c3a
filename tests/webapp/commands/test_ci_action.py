"""The action of docs/examples/action: its steps are run as GitHub runs them, in a shell with variables for theirs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "examples" / "action"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
PROGRAM = "import sys; from webapp.cli import main; main()"
PARSER = """
import json


class Own:
    def begin(self, request):
        self.seen = ""

    def feed(self, text, ids):
        self.seen += text

    def finish(self, reason):
        name, _, text = self.seen.partition(" ")
        if set({lost!r}) & set(text):
            return {{"content": self.seen}}
        function = {{"name": name, "arguments": json.dumps({{"text": text}})}}
        return {{"tool_calls": [{{"index": 0, "id": "c", "function": function}}]}}
"""
STAND_IN = """#!/bin/sh
echo "$0 $*" >> "$RUNNER_TEMP/log"
if [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  cp "$0" "$3/bin/python"
  cp "$0" "$3/bin/toolcall-inspector"
fi
"""
OPTIONS = f"--python {sys.executable} --class own:Own"


class Ran(NamedTuple):
    """What the steps did: exit code of the last one, all that was printed, the summary of the job."""

    code: int
    out: str
    summary: str


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Ran]:
    """Runs the steps in the folder of the test, until one fails; `inputs` beside the defaults."""

    def run(**given: str) -> Ran:
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        summary, steps, printed, code = tmp_path / "summary.md", dict[str, dict[str, str]](), "", 0
        summary.write_text("# The job\n", "utf-8")
        (tmp_path / "temp").mkdir(exist_ok=True)
        for step in ACTION["runs"]["steps"]:
            assert step["shell"] == "bash"
            output = tmp_path / f"{step['id']}.output"
            output.touch()
            done = subprocess.run([*SHELL, step["run"]], cwd=tmp_path, capture_output=True, text=True, check=False,
                                  env={**environment(tmp_path, output), **variables(step, inputs, steps)})  # fmt: skip
            printed, code = printed + done.stdout + done.stderr, done.returncode
            if code:
                break
            steps[step["id"]] = dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())
        return Ran(code, printed, summary.read_text("utf-8"))

    return run


def environment(folder: Path, output: Path = Path(os.devnull)) -> dict[str, str]:
    """The environment of a step; what is on PATH before all else may stand in."""
    temp = folder / "temp"
    given = {"GITHUB_ACTION_PATH": FOLDER, "GITHUB_STEP_SUMMARY": folder / "summary.md", "GITHUB_OUTPUT": output,
             "RUNNER_TEMP": temp, "TOOLCALL_INSPECTOR_DATA_DIR": temp / "toolcall-inspector-data", "HOME": folder,
             "PYTHONPATH": ROOT, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}  # fmt: skip
    return {name: str(value) for name, value in given.items()}


def variables(step: dict[str, Any], inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> dict[str, str]:
    """The variables of a step, with what their expressions stand for."""

    def value(match: re.Match[str]) -> str:
        words = match[1].split(".")
        return inputs[words[1]] if words[0] == "inputs" else steps[words[1]][words[3]]

    return {name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text) for name, text in step["env"].items()}


def script(file: Path, text: str) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def program(tmp_path: Path) -> str:
    """This program as it stands here."""
    return script(
        tmp_path / "bin" / "inspector", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{PROGRAM}" "$@"\n'
    )


@pytest.fixture
def cases(tmp_path: Path) -> str:
    """A folder with two cases, of which one ends in x."""
    for name in ("f one x", "f two y"):
        call = {"name": "f", "arguments": {"text": name[2:]}}
        case = {"schema": 1, "parser": {"name": "auto"}, "input": {"text": name}, "expect": {"tool_calls": [call]}}
        case |= {"replay": [{"by": "token"}, {"by": "whole"}], "checks": []}
        script(tmp_path / "cases" / f"{name[2:5]}.case.json", json.dumps(case))
    return "cases"


def loses(folder: Path, letters: str) -> None:
    """The parser under test, as it is now: what has one of these letters is no call to it."""
    (folder / "own.py").write_text(PARSER.format(lost=letters), "utf-8")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.replays
def test_an_engine_is_green_against_its_baseline_and_red_once_it_is_worse(
    job: Callable[..., Ran], program: str, cases: str, tmp_path: Path
) -> None:
    given = {"program": program, "paths": cases, "engine": "mine:Own", "engine_options": f"{OPTIONS} --path ."}
    loses(tmp_path, "x")
    assert job(**given, baseline="known.json").code == 1
    words = [program, "check", cases, "--engine", "mine:Own", "--write-baseline", "known.json"]
    subprocess.run(words, cwd=tmp_path, env=environment(tmp_path), check=True, capture_output=True)
    green = job(**given, baseline="known.json")
    assert (green.code, green.summary.splitlines()[:2]) == (
        0, ["# The job", "## Toolcall Inspector: nothing became worse"]
    )  # fmt: skip
    loses(tmp_path, "xy")
    red = job(**given, baseline="known.json")
    assert (red.code, "## Toolcall Inspector: 1 case became worse\n" in red.summary) == (1, True)
    assert Xml.parse(tmp_path / "toolcall-inspector.xml").getroot().get("failures") == "1"


@pytest.mark.replays
def test_a_pull_request_is_red_for_what_it_makes_worse_than_its_base(
    job: Callable[..., Ran], program: str, cases: str, tmp_path: Path
) -> None:
    loses(tmp_path, "x")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "own.py")
    git(tmp_path, "commit", "--quiet", "-m", "base")
    given = {"program": program, "paths": cases, "engine": "mine:Own", "engine_options": OPTIONS}
    (tmp_path / "known.json").touch()
    base = git(tmp_path, "rev-parse", "HEAD")
    for letters, code, said in (
        ("x", 0, "2 cases: 1 as before, 1 ok"),
        ("", 0, "1 fixed: mine-base:Own is wrong there"),
        ("y", 1, "2 cases: 1 ok, 1 FAIL"),
    ):
        loses(tmp_path, letters)
        ran = job(**given, base=base, baseline="known.json")
        assert (ran.code, said in ran.out) == (code, True)


def test_without_a_program_this_version_is_installed_from_its_hashed_requirements(
    job: Callable[..., Ran], tmp_path: Path
) -> None:
    script(tmp_path / "bin" / "python3", STAND_IN)
    assert job(paths="a\nb\n", engine="mine", engine_options="--python p", upload="https://t.example").code == 0
    own, home = f"{tmp_path}/temp/toolcall-inspector", f"{FOLDER}/../../.."
    summary = tmp_path / "summary.md"
    assert (tmp_path / "temp" / "log").read_text("utf-8").splitlines() == [
        f"{tmp_path}/bin/python3 -m venv {own}",
        f"{own}/bin/python -m pip install --quiet --require-hashes -r {home}/requirements/build.txt"
        f" -r {home}/requirements/run.txt",
        f"{own}/bin/python -m pip install --quiet --no-deps --no-build-isolation {home}",
        f"{own}/bin/toolcall-inspector engines add mine --python p",
        f"{own}/bin/toolcall-inspector check --junit toolcall-inspector.xml --summary {summary} --append"
        " --engine mine --upload https://t.example -- a b",
    ]
    assert all(Path(f"{home}/requirements/{name}.txt").is_file() for name in ("build", "run"))


GIVEN = """'two words/a.json' \t b\\c.json
"$(touch here)/`id`" ./--help it" 's" *.json"""


def test_words_are_parted_by_blanks_and_quotes_and_nothing_in_them_is_run(
    job: Callable[..., Ran], tmp_path: Path
) -> None:
    told = script(tmp_path / "bin" / "told", '#!/bin/sh\nprintf "<%s>" "$@"\n')
    ran = job(program=told, paths=GIVEN, engine="mine", engine_options="--path 'my src' --class a:B")
    assert ran.out.startswith("<engines><add><mine><--path><my src><--class><a:B><check>")
    assert ran.out.endswith("<--><two words/a.json><b\\c.json><$(touch here)/`id`><./--help><it 's><*.json>")
    assert not (tmp_path / "here").exists()


def test_a_quote_that_does_not_end_ends_the_step(job: Callable[..., Ran], tmp_path: Path) -> None:
    told = script(tmp_path / "bin" / "told", '#!/bin/sh\nprintf "<%s>" "$@"\n')
    ran = job(program=told, paths="it's.json")
    assert (ran.code != 0, "<check>" in ran.out, "quote" in ran.out) == (True, False, True)


def test_what_is_given_is_never_part_of_a_script() -> None:
    assert [step["id"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]] == []
    used = set(re.findall(r"inputs\.([\w-]+)", (FOLDER / "action.yml").read_text("utf-8")))
    assert used == ACTION["inputs"].keys()
