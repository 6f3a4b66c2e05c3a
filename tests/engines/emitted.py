"""The known bugs of vLLM and SGLang as tests for their own suites, run in the interpreter that has the engine.

Of each bug there are two files: the test as it is exported, which must fail, and one that takes for right what the
engine gives under the same chunking, which must pass: so what makes the first one fail is the message, and no mistake
of the test.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parsers.cases.case import Case
from parsers.cases.expect import accept
from parsers.cases.export.suite_subject import subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.run import CaseRun
from parsers.replays.chunking import WHOLE
from webapp.runs.exports import suite_test
from webapp.runs.runner import Runner

RUNNER = Path(__file__).with_name("emitted_runner.py")
LONGEST = 300  # seconds


@dataclass(frozen=True, slots=True)
class Emitted:
    """One bug: why its test fails, and why that of the engine's own message does; "" where one passes."""

    name: str
    fails: str
    same: str

    @property
    def right(self) -> bool:
        """Return whether the test says what it should."""
        return bool(self.fails) and not self.same


def emitted(suite: str, cases: Sequence[Case], python: str, runner: Runner, folder: Path) -> list[Emitted]:
    """What came of the tests of some cases, of which it is known what is right."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("test_*.py"):
        old.unlink()
    names = []
    for number, case in enumerate(cases):
        names.append(f"{number:02}_{case.parser.name}")
        for kind, text in _files(suite, runner.run_checked(case)):
            (folder / f"test_{names[-1]}_{kind}.py").write_text(text, "utf-8")
    command = [python, str(RUNNER), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    if done.returncode:
        raise RuntimeError(f"{suite}: {done.stderr.strip()[-600:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    return [Emitted(name[3:], said[f"test_{name}_bug"], said[f"test_{name}_same"]) for name in names]


def _files(suite: str, run: CaseRun) -> Iterator[tuple[str, str]]:
    yield "bug", suite_test(run, SUITES[suite]).text
    subject = subject_of(run, engine=suite, one_shot=True)
    traces = [run.trace, *[one.trace for one in run.compared if not one.same], run.whole]
    cut = [run.case.replay[0], *[one.chunking for one in run.compared if not one.same], WHOLE]
    came = next(trace for trace, chunking in zip(traces, cut, strict=True) if chunking == subject.chunking)
    yield "same", suite_file(SUITES[suite], replace(subject, expect=accept(came.message))).text
