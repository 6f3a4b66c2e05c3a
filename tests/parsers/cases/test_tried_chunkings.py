"""What an exported test tries is what the check tries: of honest cuts alone, and no chunking that nobody asked for."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import choose
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.export.suite_subject import subject_of
from parsers.cases.io import load_case, loads
from parsers.cases.run import replayer_of, run_case, tried_chunkings
from parsers.cases.tested import as_test
from parsers.intake.own_tests import read_own_test
from parsers.replays.chunking import WHOLE, Chunking

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
HONEST = {"compare": {"cuts": "honest"}}
RECORDED = {"source": {"kind": "recorded"}, "input": {"tokens": [[1, "Hi "], [2, "you"], [3, "."]]}}
ASKED = [{"by": "token", "size": 2}, {"by": "char"}]
KEYS: dict[str, dict[str, Any]] = {
    "all": {},
    "honest": HONEST,
    "honest, of tokens": {**HONEST, **RECORDED},
    "one": {"replay": ASKED[:1]},
    "honest, one that no server makes": {**HONEST, "replay": ASKED[1:]},
    "several": {"replay": ASKED},
    "honest, several": {**HONEST, **RECORDED, "replay": ASKED},
    "whole": {"replay": [{"by": "whole"}]},
}


def case(**keys: Any) -> Case:
    """A case of text, the tokens of which a stand-in makes, or of recorded ones."""
    given = {"tokens": [[None, "Hi"], [None, " you"], [None, CALL[:5]], [None, CALL[5:]]]}
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": given, "expect": {"content": "Hi you"}, **keys})


def tried(given: Case) -> list[Chunking]:
    """What the export is told of."""
    choice = choose(given)
    return tried_chunkings(given, choice, replayer_of(given, choice, given.pieces() or ()))


@pytest.mark.parametrize("name", KEYS)
def test_the_check_and_the_export_try_the_same(name: str) -> None:
    run = run_case(case(**KEYS[name]))
    replayed = {run.chunking, WHOLE, *[one.chunking for one in run.compared]}
    assert {*tried(run.case)} == replayed
    assert tried(run.case)[0] == run.chunking
    assert len(as_test(run).replays) == len(replayed)


@pytest.mark.parametrize("name", KEYS)
def test_a_test_of_these_is_read_back_as_its_case(name: str) -> None:
    given = case(**KEYS[name])
    found = read_own_test(pytest_file(given, chunkings=tried(given)))
    assert found is not None
    (body,) = found.cases.values()
    assert loads(body) == given


def test_a_test_of_a_suite_is_fed_what_was_replayed() -> None:
    found = subject_of(run_case(case(**HONEST, expect={"content": "Hi you"})))
    assert (found.chunking.by, found.fails) == ("cuts", "")
    assert [one.text for one in found.deltas][:3] == ["Hi", " you", "<tool_call>"]
