"""The stand-alone test of a case as that case again; what it says beside the case counts where the case does not."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.io import load_case, loads
from parsers.cases.run import run_case, sent_of, settled_case
from parsers.intake import recognise
from parsers.intake.own_tests import read_own_test
from parsers.replays.chunking import RECORDED, Chunking

DATA: dict[str, Any] = {
    "schema": 1,
    "title": "Two words",
    "parser": {"name": "qwen"},
    "input": {"tokens": [[1, "So "], [2, "it is."]]},
    "source": {"kind": "token_ids"},
    "notes": ["Why."],
    "expect": {"content": "So it is."},
}


def exported(**more: Any) -> str:
    return pytest_file(load_case({**DATA, **more}))


def test_an_exported_test_is_recognised_and_is_its_case() -> None:
    found = recognise(exported().encode(), pasted=True)
    assert (found.kind, found.usable, [*found.cases]) == ("corpus", True, ["Two words"])
    assert loads(found.cases["Two words"]) == load_case(DATA)


OLDER = [
    ("SOFT_WHITESPACE = False", "SOFT_WHITESPACE = True", {"whitespace": "soft"}),
    ("SOFT_WHITESPACE = False", "CALLS_BY_INDEX = True", {"calls": "index"}),
]


@pytest.mark.parametrize(("before", "after", "compare"), OLDER)
def test_tests_without_all_of_their_case_say_how_results_compare(before: str, after: str, compare: Any) -> None:
    found = read_own_test(exported(title=None).replace(before, after))
    assert found is not None
    assert loads(found.cases["case"]) == load_case({**DATA, "title": None, "compare": compare})


def test_deltas_that_the_tokens_do_not_give_are_kept() -> None:
    sent = [{"text": "So it", "ids": [1, 2]}, {"text": " is."}]
    case = load_case(
        {**DATA, "input": {**DATA["input"], "deltas": sent}, "replay": [{"by": "recorded"}, {"by": "char"}]}
    )
    late = load_case(
        {**DATA, "decode": {"policy": "exact", "stop": ["xyz"]}, "replay": [{"by": "token"}, {"by": "char"}]}
    )
    run = run_case(late, compare=False)
    assert run.decoded is not None
    held = pytest_file(settled_case(late, run.pieces), due=run.decoded.due)
    for text, texts in ((pytest_file(case, sent=sent_of(case)), ["So it", " is."]), (held, ["S", "o it is."])):
        found = read_own_test(text)
        assert found is not None
        (body,) = found.cases.values()
        back = loads(body)
        assert [delta.text for delta in back.input.deltas or () if delta.text] == texts
        assert back.replay == (RECORDED, Chunking(by="char"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("CASE = {", "CASE = object() or {"),
        ("CHUNKINGS = {", "CHUNKINGS = [] or {"),
        ("import json", "import ("),
        ("CHUNKINGS = {", "CHUNKINGS = {'a': [[1]],"),
    ],
)
def test_what_is_no_such_test_is_none(before: str, after: str) -> None:
    assert read_own_test(exported().replace(before, after)) is None


def test_what_else_a_test_says_is_no_matter_where_it_is_nothing() -> None:
    found = read_own_test(
        exported().replace("REST = {", "REST = [").replace("    'Why.'\n  ]\n}", "]]").replace("  'notes': [\n", "[")
    )
    assert found is not None
    assert loads(found.cases["Two words"]).notes == ()


def test_a_case_that_cannot_be_read_is_told() -> None:
    found = read_own_test(exported().replace("'schema': 1", "'schema': 9"))
    assert found is not None
    assert (found.usable, found.skipped[0].why[:7]) == (False, "/schema")
