"""A corpus through a parser of somebody else, which is fed tokens and shows nothing but its deltas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import PLAYED, Choice
from parsers.cases.io import load_case
from parsers.formats.model import Format
from parsers.replays.tapes import Asked, Played, Tape
from parsers.selection.registry import Evidence, Selection, get_format
from parsers.sweeps.first_stage import OF_ENGINES, Means
from parsers.sweeps.second_stage import Studied, studied
from parsers.sweeps.shard import Outcome, Plan, run_shard
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import MessageDelta, Piece

STARS = "so it is said that one two *three* four are many, and that five six *seven* are more"


class Parser:
    """All is content. `loses`: not what follows a star in its delta. `dies`: at a star, with its process."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.sizes: list[int] = []

    def choose(self, case: Case, evidence: Evidence) -> Choice:
        return Choice(
            PLAYED,
            Selection("one", ("It is mine.",)),
            lambda: Played("mine:one", Tape()),
            black_box=True,
            grammar=get_format("qwen"),
            replays=self.play,
        )

    def play(self, asked: Sequence[Asked]) -> list[Tape]:
        self.sizes.append(len(asked))
        return [self._tape([delta.text for delta in one.deltas]) for one in asked]

    def _tape(self, texts: list[str]) -> Tape:
        if self.fault == "dies" and "*" in "".join(texts):
            at = next(number for number, text in enumerate(texts) if "*" in text)
            return Tape(
                tuple(map(MessageDelta, [None] * at, texts)), Failure("Crashed", "it ended", ended=True), at + 1
            )
        if self.fault == "loses":
            texts = [re.sub(r"[*].+", "*", text) for text in texts]
        return Tape((*[MessageDelta(content=text) for text in texts], None))


def words(case: Case, fmt: Format) -> tuple[Piece, ...]:
    """Each word is a token, and each star; what the markers are is told by the grammar of the parser."""
    assert fmt.name == "qwen"
    return tuple([Piece(part) for part in re.findall(r" ?[a-z]+|.", case.text())])


def run(parser: Parser, *outputs: str, tokens: Any = words, **plan: Any) -> Outcome:
    rows = [(number, {"output": text}) for number, text in enumerate(outputs, 1)]
    made = Plan({"text": "output"}, {"name": "one", "engine": "mine"}, chunkings=OF_ENGINES, **plan)
    return run_shard(made, rows, (0, 0), Means({"mine": parser.choose}, tokens))


def test_outputs_that_are_read_alike_however_they_are_cut_have_nothing_wrong() -> None:
    summary = run(parser := Parser(), STARS, "It rains.", STARS).summary
    assert (summary.outputs, summary.wrong, summary.repeated) == (3, 0, 1)
    assert [*summary.readings] == ["one"]
    assert parser.sizes[0] == len(OF_ENGINES) + 1, "the replays of an output go in one message"


def test_what_depends_on_the_tokens_of_a_delta_is_a_fault_of_the_parser() -> None:
    summary = run(Parser("loses"), STARS, "It rains.", "a *b* c *d").summary
    assert summary.wrong == 2
    found = {(one.about, one.parser) for one in summary.tallies}
    assert found == {("parser", "mine:one")}
    assert {one.check for one in summary.tallies} & {"chunking", "whole_equals_streamed"}


def test_of_a_parser_that_does_not_survive_hardly_more_is_asked() -> None:
    (found,) = run(parser := Parser("dies"), STARS).summary.tallies
    assert (found.check, found.about) == ("parser_raised", "parser")
    assert "at Crashed" in found.words
    assert parser.sizes in ([len(OF_ENGINES) + 1], [len(OF_ENGINES) + 1, 1])


def test_without_a_tokenizer_characters_are_fed() -> None:
    assert run(Parser("loses"), STARS, tokens=None).summary.outputs == 1


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.replays
def test_the_smallest_output_is_searched_with_the_parser_that_failed(shown: bool) -> None:
    parser = Parser("loses")
    (signature, *_), outcome = [*(made := run(parser, STARS)).summary.tallies], made
    smallest = outcome.summary.tallies[signature].smallest
    assert smallest is not None
    assert smallest.case is not None
    found: Studied = studied(
        signature, load_case(smallest.case), words=shown, means=Means({"mine": parser.choose}, words)
    )
    assert found.length < len(STARS)
    assert found.case is not None
    assert found.case["parser"] == {"name": "one", "engine": "mine"}
    assert found.redacted is not shown
