"""What a frame shows of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.find import CaseFound
from parsers.replays.chunking import Chunking
from parsers.search.found import Minimized
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece
from tests.webapp.page.conftest import Make
from webapp.page.search.search_page import Search, SearchPanes, smallest
from webapp.page.sharing.embedded import MOST_DELTAS, MOST_NOTE, MOST_NOTES, MOST_OUTPUT, Stretch, embedded


def panes(**more: Any) -> SearchPanes:
    return replace(SearchPanes(Search("idle", automatic=False)), **more)


def test_of_a_run_the_first_deltas_and_the_message_are_shown(make: Make) -> None:
    run = make.run("One two three four five six seven eight nine ten eleven twelve thirteen.")
    found = embedded("T", run, panes(), "1")
    assert (len(found.deltas), found.smallest, found.said) == (MOST_DELTAS, False, None)
    assert found.more == len(run.trace.steps) - 1 - MOST_DELTAS
    assert dict(found.facts) == {"Parser": "qwen", "Cut": "token by token", "Version": "1"}


def test_the_smallest_case_is_shown_in_place_of_the_output(make: Make) -> None:
    run = make.run("abcd")
    finding = Finding("chunking", "error", "parser", "words")
    small = Minimized("chunking", finding, (Piece("ab"),), Chunking(by="cuts", cuts=(1,)), Context(), 1)

    class Found:
        minimized, text = small, "abcd"

    case = run.case
    shown = smallest(CaseFound(case, Found, case), lambda _: "{}")  # type: ignore[arg-type]
    found = embedded("T", run, panes(smallest=shown), "1")
    assert (found.smallest, found.deltas, found.told) == (True, ["a", "b"], [("gives", [])])
    whole = Minimized(
        "chunking", finding, (Piece("ab"),), Chunking(by="whole"), Context(), 1, gives=Message(content="x")
    )
    Found.minimized = whole
    shown = smallest(CaseFound(case, Found, case), lambda _: "{}")  # type: ignore[arg-type]
    assert embedded("T", run, panes(smallest=shown), "1").told[0][1][0].text == "x"


def test_an_engine_is_named_before_its_parser(make: Make) -> None:
    run = make.run("Hi.", parser="qwen")
    case = run.case.model_copy(update={"parser": run.case.parser.model_copy(update={"engine": "mine"})})
    assert embedded("T", replace(run, case=case), panes(), "1").facts[0] == ("Parser", "mine, qwen")


def test_what_the_case_says_of_a_parser_that_does_not_run_here_is_told(make: Make) -> None:
    run = make.run("Hi.", parser="qwen")
    notes = ("check by mine: content is lost", "x" * 1_000, "a third")
    found = embedded("T", replace(run, case=run.case.model_copy(update={"notes": notes})), panes(), "1").notes
    assert (found[0], len(found), len(found[1])) == (notes[0], MOST_NOTES, MOST_NOTE)


CALL = 'Hi.<tool_call>\n{"name": "f", "arguments": {"a": "%s"}}\n</tool_call>'


def test_the_output_is_shown_in_its_roles(make: Make) -> None:
    run = make.run(CALL % "b")
    found = embedded("T", run, panes(), "1")
    assert "".join([one.text for one in found.output]) == run.trace.text
    assert {"content", "marker", "name", "arguments"} <= {one.role for one in found.output}
    assert found.output[0] == Stretch("content", "Hi.")
    assert (found.before, found.after) == (0, 0)


@pytest.mark.replays
def test_of_a_long_output_the_place_in_question_is_shown(make: Make) -> None:
    run = make.run(CALL % ("b" * 5_000))
    found = embedded("T", run, panes(), "1", 3_000)
    shown = "".join([one.text for one in found.output])
    assert (len(shown), found.before, found.before + len(shown) + found.after) == (
        MOST_OUTPUT, 2_700, len(run.trace.text),
    )  # fmt: skip
    assert [one.role for one in found.output] == ["arguments"]
    assert len(dict(found.told)["gives"][-1].text) > 300


def test_an_output_of_which_nobody_knows_the_roles_is_text(make: Make) -> None:
    run = make.run("abcd")
    bare = replace(run, trace=replace(run.trace, partition=[]))
    assert embedded("T", bare, panes(), "1").output == [Stretch("", "abcd")]
