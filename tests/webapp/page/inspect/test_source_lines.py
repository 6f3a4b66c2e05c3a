"""The source pane: which lines are shown and how, what a line that was asked about says, and why there may be none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from parsers.replays.ran_lines import Changed, LinesAsked, RanFunction, RanLine, RanLines, Sought
from tests.webapp.page.conftest import Make
from webapp.page.inspect.source_lines import AROUND, Asked, Source, SourceLine, read_part, read_where, source
from webapp.runs.runner import Run

BODY = tuple([f"    line {number}" for number in range(10, 40)])
FEED = RanFunction("Own.feed", "own.py", 10, BODY)
EMPTY = RanFunction("sealed", "sealed.py", 5)


def shown(make: Make, found: RanLines, step: int = 1, where: str = "", text: str = "ab") -> Source:
    """The pane of a run of an engine that tells these lines at every step."""
    return source(engine_run(make, text, found), step, where)


def engine_run(make: Make, text: str, found: RanLines, asked: list[LinesAsked] | None = None, **more: Any) -> Run:
    def tell(one: LinesAsked) -> RanLines:
        if asked is not None:
            asked.append(one)
        return found

    run = make.run(text, **more)
    return replace(run, choice=replace(run.choice, lines=tell))


def ran(*numbers: int, function: int = 0) -> tuple[RanLine, ...]:
    return tuple([RanLine(function, number, 0) for number in numbers])


def numbers(made: Source) -> list[list[int | str]]:
    """The lines of each function by their numbers; `…` stands where some are left out."""
    return [
        [part for line in one.lines for part in (["…"] if line.gap else []) + [line.number]] for one in made.functions
    ]


@pytest.mark.parametrize(
    ("lines", "numbered"),
    [
        ([10], [*range(10, 14)]),
        ([12], [*range(10, 16)]),
        ([14], [*range(10, 18)]),
        ([15], [10, "…", *range(12, 19)]),
        ([39], [10, "…", *range(36, 40)]),
        ([20, 27], [10, "…", *range(17, 31)]),
        ([20, 28], [10, "…", *range(17, 24), "…", *range(25, 32)]),
        ([28, 20, 28], [10, "…", *range(17, 24), "…", *range(25, 32)]),
    ],
)
def test_lines_near_to_those_that_ran_are_shown(make: Make, lines: list[int], numbered: list[int | str]) -> None:
    assert AROUND == 3
    assert numbers(shown(make, RanLines((FEED,), ran(*lines)))) == [numbered]


def line_of(made: Source, number: int) -> SourceLine:
    return next(line for one in made.functions for line in one.lines if line.number == number)


def test_a_line_stands_with_what_it_did_last(make: Make) -> None:
    first = RanLine(0, 12, 0, (Changed("at", None, "1"),), returned="'a'", raised="E: no")
    last = RanLine(0, 12, 1, (Changed("at", "1", "2"), Changed("b", "''", "'x'")))
    made = shown(make, RanLines((FEED,), (first, *ran(13), last)))
    assert line_of(made, 12) == SourceLine(12, "line 12", "own.py:12", times=2, changed=last.changed)
    assert line_of(made, 13) == SourceLine(13, "line 13", "own.py:13", times=1)
    assert line_of(made, 14) == SourceLine(14, "line 14", "own.py:14")
    alone = line_of(shown(make, RanLines((FEED,), (first,))), 12)
    assert (alone.times, alone.changed, alone.returned, alone.raised) == (1, first.changed, "'a'", "E: no")


@pytest.mark.parametrize(
    ("source_text", "texts"),
    [
        (("    def f():", "        x = 1", "", "  odd"), ["def f():", "    x = 1", "", "odd"]),
        (("def f():", "    x = 1"), ["def f():", "    x = 1"]),
        (("\tdef f():", "\t\tx = 1"), ["def f():", "\tx = 1"]),
        ((), []),
    ],
)
def test_a_function_stands_at_the_margin(make: Make, source_text: tuple[str, ...], texts: list[str]) -> None:
    (one,) = shown(make, RanLines((RanFunction("f", "f.py", 1, source_text),), ran(1))).functions
    assert [line.text for line in one.lines] == texts


@pytest.mark.parametrize(
    ("lines", "sent_from", "sender"),
    [
        (ran(11, 12, 11), None, None),
        (ran(11, 12, 11), 0, "own.py:11"),
        (ran(11, 12, 11), 1, "own.py:12"),
        (ran(11, 12, 11), 2, "own.py:11"),
        (ran(11) + ran(5, function=1), 1, None),  # its source cannot be read
    ],
)
def test_the_line_that_sent_is_marked(
    make: Make, lines: tuple[RanLine, ...], sent_from: int | None, sender: str | None
) -> None:
    made = shown(make, RanLines((FEED, EMPTY), lines, sent_from=sent_from))
    assert (made.sender.where if made.sender else None) == sender
    assert [line.where for one in made.functions for line in one.lines if line.sent] == ([sender] if sender else [])
    assert made.sent == "ab"


def test_the_line_that_put_it_there_is_marked_besides(make: Make) -> None:
    made = shown(make, RanLines((FEED,), ran(11, 12), sent_from=1, put_at=0))
    assert [one and one.where for one in (made.putter, made.sender)] == ["own.py:11", "own.py:12"]
    assert [(line.number, line.put, line.sent) for line in made.functions[0].lines if line.times] == [
        (11, True, False),
        (12, False, True),
    ]
    both = shown(make, RanLines((FEED,), ran(11, 11), sent_from=1, put_at=0))
    assert (both.putter, both.sender and both.sender.number) == (None, 11)


CALL = 'ab<tool_call>\n{"name": "get", "arguments": {"a": 1}}\n</tool_call>'


@pytest.mark.parametrize(
    ("part", "step", "sought"),
    [
        ("content:1", 1, Sought("ab", "content", at=1)),
        ("name:0:2", 1, Sought("get", "name", 0, 2)),
        ("arguments:0:0", 1, Sought('{"a": 1}', "arguments", 0, 0)),
        ("content:1", 2, None),  # sent at another step
        ("content:9", 1, None),
        ("name:7:0", 1, None),
        ("reasoning:0", 1, None),
        ("", 1, None),
        ("nonsense", 1, None),
    ],
)
def test_a_character_of_the_message_is_asked_about(make: Make, part: str, step: int, sought: Sought | None) -> None:
    asked: list[LinesAsked] = []
    made = source(engine_run(make, CALL, RanLines((FEED,), ran(12)), asked, replay=[{"by": "whole"}]), step, "", part)
    (one,) = asked
    assert made.part == (part if sought else "")
    assert sought in (one.sought, None)
    assert bool(sought) or one.sought.at is None


@pytest.mark.parametrize(
    ("text", "read"),
    [("content:0", True), ("arguments:12:3", True), ("content:0:1", False), ("name:3", False), ("id:0:1", False)],
)
def test_only_a_character_of_a_channel_is_asked_about(text: str, read: bool) -> None:
    assert read_part(text) == (text if read else "")


def test_functions_stand_in_the_order_in_which_they_ran_each_with_its_own_lines(make: Make) -> None:
    other = RanFunction("other", "b.py", 10, BODY[:2])
    made = shown(make, RanLines((FEED, other), ran(10) + ran(11, function=1), left_out=3))
    assert [(one.name, one.file) for one in made.functions] == [("Own.feed", "own.py"), ("other", "b.py")]
    assert [[line.number for line in one.lines if line.times] for one in made.functions] == [[10], [11]]
    assert (made.step, made.ran, made.left_out, made.problem) == (1, 5, 3, "")


@pytest.mark.parametrize(
    ("steps", "step", "previous", "following"),
    [
        ((), 3, None, None),
        ((1, 2), 3, 2, None),
        ((4, 5), 3, None, 4),
        ((1, 2, 4), 3, 2, 4),
        ((1, 3, 5), 3, 1, 5),
        ((3,), 3, None, None),
    ],
)
def test_a_line_that_is_asked_about_has_a_step_before_and_after(
    make: Make, steps: Sequence[int], step: int, previous: int | None, following: int | None
) -> None:
    found = RanLines((FEED,), ran(12), steps=tuple(steps))
    made = shown(make, found, step, "own.py:12", text="a b c d e f")
    assert made.asked == Asked("own.py:12", tuple(steps), previous, following)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("own.py:12", ("own.py", 12)),
        ("pack/a-b_c+d.1.py:1234567", ("pack/a-b_c+d.1.py", 1_234_567)),
        ("", None),
        ("own.py", None),
        (":3", None),
        ("own.py:x", None),
        ("own.py:12345678", None),
        ("own.py:12 ", None),
        ("a b.py:1", None),
        ("C:\\own.py:1", None),
        ("<string>:1", None),
        ("a" * 300 + ":1", ("a" * 300, 1)),
        ("a" * 301 + ":1", None),
    ],
)
def test_only_a_line_of_a_file_is_asked_about(make: Make, text: str, place: tuple[str, int] | None) -> None:
    asked: list[LinesAsked] = []
    made = source(engine_run(make, "ab", RanLines((FEED,), ran(12)), asked), 1, text)
    assert read_where(text) == (text if place else "")
    assert [one.where for one in asked] == [place]
    assert made.asked == (Asked(text, (), None, None) if place else None)


def test_why_there_are_no_lines_is_said(make: Make) -> None:
    assert shown(make, RanLines()).problem == "No line of the parser's own files ran at this step."
    run = make.run("ab")
    refused = source(run, 2, "own.py:1")
    assert refused == Source(2, problem="only parsers of entered engines show the lines that ran")
    gone = shown(make, RanLines((FEED,), ran(12)), 99)
    assert gone.problem.startswith("there is no step 99: the replay has")
