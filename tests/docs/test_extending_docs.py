"""docs/extending.md: its changes are applied to a copy of the tree, and what they add works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from parsers.cases.corpus import case_texts, load_named
from parsers.cases.expect import differences
from parsers.cases.run import run_case
from parsers.formats.extends import expand
from parsers.formats.lint import lint_file
from parsers.formats.model import builtin_sources, load_format
from parsers.replays.chunking import Chunking

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")
DIFFS = dict(re.findall(r"^```diff\n--- [^\n]*\n\+\+\+ b/([^\n]*)\n(.*?)^```$", PAGE, flags=re.M | re.S))


def changed(path: str) -> str:
    """The file of that path with the change of the page; its context stands there once, word for word."""
    text = (ROOT / path).read_text("utf-8") if (ROOT / path).is_file() else ""
    for hunk in filter(None, re.split(r"^@@.*\n", DIFFS[path], flags=re.M)):
        lines = hunk.splitlines(keepends=True)
        before = "".join([line[1:] for line in lines if not line.startswith("+")])
        after = "".join([line[1:] for line in lines if not line.startswith("-")])
        assert not before or text.count(before) == 1, f"{path}: {before}"
        text = text.replace(before, after, 1) if before else text + after
    return text


def test_the_format_of_the_page_is_one_without_a_finding_and_reads_its_cases_rightly() -> None:
    source = json.loads(changed("parsers/formats/data/parrot.json"))
    assert lint_file(source, builtin_sources().get) == []
    fmt = load_format(expand(source, builtin_sources().get).data)
    for name, text in case_texts(changed("tests/cases/parrot.cases.json")).items():
        case = load_named(
            name, text.replace('"name": "parrot"', f'"name": "parrot", "format": {fmt.model_dump_json(by_alias=True)}')
        )
        for chunking in (Chunking(by="token"), Chunking(by="char"), Chunking(by="whole")):
            run = run_case(case.model_copy(update={"replay": (chunking,)}))
            assert case.expect is not None
            assert differences(case.expect, run.trace.message, run.trace.finish_reason, case.compare) == []


CHECKED = """
from parsers.checks import run_checks
from parsers.checks.examples import examples

example = examples()["repeated_call"]
found = run_checks(example.finds, ["repeated_call"]).findings
assert [one.message for one in found] == [example.says], found
assert run_checks(example.holds, ["repeated_call"]).holding == ["repeated_call"]
"""


def test_the_check_of_the_page_finds_what_its_example_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "parsers", tmp_path / "parsers", ignore=shutil.ignore_patterns("__pycache__"))
    for path in DIFFS:
        if path.startswith("parsers/checks/"):
            (tmp_path / path).write_text(changed(path), "utf-8")
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", CHECKED]
    done = subprocess.run(command, cwd=tmp_path, env=unmeasured, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
