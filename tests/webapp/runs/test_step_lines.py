"""The lines of one step: what is asked of the engine, and which text of the step is looked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.ran_lines import LinesAsked, RanLines, Sought
from parsers.vocabulary.types import MessageDelta, ToolCallDelta, UsageError
from webapp.runs.runner import Run, Runner
from webapp.runs.step_lines import StepLines, longest, part_with, parts, step_lines
from webapp.settings import get_settings

CHAR = Chunking(by="char")
FOUND = RanLines(left_out=7)


@pytest.fixture(scope="module")
def run() -> Run:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "ab"}})
    return Runner(get_settings()).run(case, CHAR)


def told(
    run: Run, step: int, chunking: Chunking = CHAR, found: RanLines = FOUND, **more: Any
) -> tuple[StepLines, LinesAsked]:
    """The lines of a step from an engine that finds these, and what it was asked."""
    asked: list[LinesAsked] = []

    def tell(one: LinesAsked) -> RanLines:
        asked.append(one)
        return found

    choice = replace(run.choice, lines=tell)
    shown = step_lines(choice, run.replayer, run.replayer.trace(chunking), chunking, step, **more)
    return shown, asked[0]


@pytest.mark.parametrize(
    ("chunking", "step", "shown", "fed"),
    [
        (CHAR, 1, StepLines(1, 3, Sought("a", "content"), FOUND), ["a", "b"]),
        (CHAR, 2, StepLines(2, 3, Sought("b", "content"), FOUND), ["a", "b"]),
        (CHAR, 3, StepLines(3, 3, Sought(), FOUND), ["a", "b"]),
        (WHOLE, 1, StepLines(1, 2, Sought("ab", "content"), FOUND), ["ab"]),
    ],
)
def test_the_engine_is_asked_for_the_step_of_that_replay(
    run: Run, chunking: Chunking, step: int, shown: StepLines, fed: list[str]
) -> None:
    found, asked = told(run, step, chunking)
    assert found == shown
    assert [delta.text for delta in asked.replay.deltas] == fed
    assert (asked.step, asked.sought, asked.where) == (step, shown.sought, None)


def test_a_part_of_what_was_sent_and_a_line_may_be_asked_about(run: Run) -> None:
    part = Sought("ab", "content", at=1)
    found, asked = told(run, 1, WHOLE, sought=part, where=("f.py", 3))
    assert (found.sent, asked.sought, asked.where) == ("ab", part, ("f.py", 3))


@pytest.mark.parametrize(
    ("found", "repeats"),
    [
        (RanLines(), True),  # it does not say
        (RanLines(sent=MessageDelta(content="a"), is_told=True), True),
        (RanLines(sent=MessageDelta(content="a0.3"), is_told=True), False),
        (RanLines(sent=MessageDelta(reasoning="a"), is_told=True), False),
        (RanLines(sent=None, is_told=True), False),
    ],
)
def test_a_step_that_sends_something_else_when_it_is_run_again_does_not_repeat(
    run: Run, found: RanLines, repeats: bool
) -> None:
    assert told(run, 1, found=found)[0].repeats is repeats


def test_ids_are_made_anew_and_count_for_nothing() -> None:
    first, second = [MessageDelta(tool_calls=[ToolCallDelta(0, one, "f", "{}")]) for one in ("call_1", "call_2")]
    assert parts(first) == parts(second) == [Sought("{}", "arguments", 0), Sought("f", "name", 0)]


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
    ("delta", "part"),
    [
        (None, Sought()),
        (MessageDelta(), Sought()),
        (MessageDelta(content="ab", reasoning="abc"), Sought("abc", "reasoning")),
        (MessageDelta(content="ab", reasoning="c"), Sought("ab", "content")),
        (MessageDelta(content="ab", tool_calls=[call("get", None)]), Sought("get", "name", 0)),
        (MessageDelta(tool_calls=[call("f", None), call(None, '{"a": 1}')]), Sought('{"a": 1}', "arguments", 0)),
        (MessageDelta(content="abc", tool_calls=[call("f", "{"), call(None, "}")]), Sought("abc", "content")),
        (MessageDelta(content="a", tool_calls=[call("f", "{"), call(None, "}")]), Sought("{}", "arguments", 0)),
    ],
)
def test_the_longest_text_of_a_step_is_looked_for(delta: MessageDelta | None, part: Sought) -> None:
    assert longest(delta) == part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("b", Sought("ab", "content", at=1)),
        ("ff", Sought("ff", "name", 0, at=0)),
        (": 1", Sought('{"a": 1}', "arguments", 0, at=4)),
        ("x", None),
    ],
)
def test_a_part_is_found_by_its_text(text: str, part: Sought | None) -> None:
    delta = MessageDelta(content="ab", tool_calls=[call("ff", '{"a": 1}')])
    assert part_with(delta, text) == part
    assert part_with(None, text) is None
