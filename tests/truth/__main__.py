"""`make truth`: other projects' own tests and golden data on our parsers, beside what is known of the differences.

`python -m tests.truth [--vllm TREE] [--sglang TREE] [--dynamo TREE] [--llamacpp TREE] [--list]`. A tree is an unpacked
source release or a checkout; the environment variables TRUTH_VLLM and so on name one too. A suite without a tree is
listed as absent. Each runs by text and by token ids; what is not right is run again under the contract that
`known.json` names for it. The exit code is 1 if there is a mismatch that is not listed there. `--list` prints every
test that is not right.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from parsers.vocabulary.types import Mode
from tests.truth.dynamo import dynamo_outcomes
from tests.truth.known import Outcome, Tally, judged, read_known, table, tally
from tests.truth.llamacpp import llamacpp_outcomes
from tests.truth.served import Run

_FOLDERS = {
    "vllm": ("tests/tool_parsers", "tests/reasoning"),
    "sglang": (
        *("test/registered/unit/function_call", "test/registered/function_call"),
        *("test/registered/unit/parser/test_reasoning_parser.py",),
    ),
}


def _run_tests(suite: str, tree: Path, run: Run) -> Iterator[Outcome]:
    """The outcomes of a suite's own tests, run in a process of their own."""
    folders = [one for one in _FOLDERS[suite] if (tree / one).exists()]
    command = [sys.executable, "-m", "tests.truth.child", suite, str(tree), *folders]
    asked = {"mode": run.mode, "contracts": run.contracts, "only": None if run.only is None else sorted(run.only)}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, input=json.dumps(asked))
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            outcomes = {"passed": True, "failed": False}
            yield Outcome(found["id"], outcomes.get(found["outcome"]), found["why"])


_SUITES: Mapping[str, Callable[[Path, Run], Iterator[Outcome]]] = {
    "vllm": partial(_run_tests, "vllm"),
    "sglang": partial(_run_tests, "sglang"),
    "dynamo": dynamo_outcomes,
    "llamacpp": llamacpp_outcomes,
}
_MODES: tuple[Mode, ...] = ("text", "ids")


def main(arguments: list[str]) -> int:
    """Run every suite that is there in both modes, print the table, and return the exit code."""
    options = ArgumentParser(prog="python -m tests.truth", description=__doc__)
    for suite in _SUITES:
        options.add_argument(f"--{suite}", type=Path, default=os.environ.get(f"TRUTH_{suite.upper()}"))
    options.add_argument("--list", action="store_true", help="print every test that is not right")
    asked = vars(options.parse_args(arguments))
    known = read_known()
    tallies = []
    for suite, outcomes_of in _SUITES.items():
        tree = asked[suite]
        for mode in _MODES if tree else ():
            found = judged(known.get(suite), mode, partial(outcomes_of, Path(tree)))
            tallies.append(tally(suite, mode, found, known.get(suite)))
            if asked["list"]:
                print(*[f"{suite} {mode}: {one.test}: {one.why}" for one in found if one.right is False], sep="\n")
        if not tree:
            tallies.append(Tally(suite, None))
    print(table(tallies))
    for one in tallies:
        for new in one.new:
            print(f"NEW {one.suite} {one.mode}: {new.test}: {new.why}")
        for test in one.gone:
            print(f"now right, or not run, {one.suite} {one.mode}: {test}")
    return int(any(one.new for one in tallies))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
