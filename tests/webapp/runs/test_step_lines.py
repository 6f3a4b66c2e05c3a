"""The lines of one step: what is asked of the engine, and which text of the step is looked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.ran_lines import LinesAsked, RanLines
from parsers.vocabulary.types import MessageDelta, ToolCallDelta, UsageError
from webapp.runs.runner import Run, Runner
from webapp.runs.step_lines import StepLines, sent_text, step_lines
from webapp.settings import get_settings

CHAR = Chunking(by="char")
FOUND = RanLines(left_out=7)


@pytest.fixture(scope="module")
def run() -> Run:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "ab"}})
    return Runner(get_settings()).run(case, CHAR)


def told(run: Run, step: int, chunking: Chunking = CHAR, **more: Any) -> tuple[StepLines, LinesAsked]:
    """The lines of a step from an engine that finds FOUND, and what it was asked."""
    asked: list[LinesAsked] = []

    def tell(one: LinesAsked) -> RanLines:
        asked.append(one)
        return FOUND

    choice = replace(run.choice, lines=tell)
    shown = step_lines(choice, run.replayer, run.replayer.trace(chunking), chunking, step, **more)
    return shown, asked[0]


@pytest.mark.parametrize(
    ("chunking", "step", "shown", "fed"),
    [
        (CHAR, 1, StepLines(1, 3, "a", FOUND), ["a", "b"]),
        (CHAR, 2, StepLines(2, 3, "b", FOUND), ["a", "b"]),
        (CHAR, 3, StepLines(3, 3, "", FOUND), ["a", "b"]),
        (WHOLE, 1, StepLines(1, 2, "ab", FOUND), ["ab"]),
    ],
)
def test_the_engine_is_asked_for_the_step_of_that_replay(
    run: Run, chunking: Chunking, step: int, shown: StepLines, fed: list[str]
) -> None:
    found, asked = told(run, step, chunking)
    assert found == shown
    assert [delta.text for delta in asked.replay.deltas] == fed
    assert (asked.step, asked.sought, asked.where) == (step, shown.sent, None)


def test_a_part_of_what_was_sent_and_a_line_may_be_asked_about(run: Run) -> None:
    found, asked = told(run, 1, WHOLE, sought="b", where=("f.py", 3))
    assert (found.sent, asked.sought, asked.where) == ("ab", "b", ("f.py", 3))


@pytest.mark.parametrize("step", [-1, 0, 4])
def test_a_step_that_is_not_there_is_refused(run: Run, step: int) -> None:
    with pytest.raises(UsageError, match=f"there is no step {step}: the replay has 3, the end of the output being"):
        told(run, step)


def test_a_parser_without_lines_is_refused(run: Run) -> None:
    with pytest.raises(UsageError, match="only parsers of entered engines show the lines that ran"):
        step_lines(run.choice, run.replayer, run.trace, CHAR, 1)


def call(name: str | None, arguments: str | None) -> ToolCallDelta:
    return ToolCallDelta(0, name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        (None, ""),
        (MessageDelta(), ""),
        (MessageDelta(content="ab", reasoning="abc"), "abc"),
        (MessageDelta(content="ab", reasoning="c"), "ab"),
        (MessageDelta(content="ab", tool_calls=[call("get", None)]), "get"),
        (MessageDelta(tool_calls=[call("f", None), call(None, '{"a": 1}')]), '{"a": 1}'),
    ],
)
def test_the_longest_text_of_a_step_is_looked_for(delta: MessageDelta | None, text: str) -> None:
    assert sent_text(delta) == text
