"""`replay --lines`: the text that shows the source of a step."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.replays.ran_lines import Changed, RanFunction, RanLine, RanLines, Sought
from webapp.commands.ran_lines import AROUND, lines_report
from webapp.runs.step_lines import StepLines

FEED = RanFunction("Own.feed", "own.py", 8, tuple([f"line {number}" for number in range(8, 30)]))


def told(
    *lines: RanLine, sent: str = "a", functions: tuple[RanFunction, ...] = (FEED,), repeats: bool = True, **more: Any
) -> list[str]:
    found = RanLines(functions if lines else (), lines, **more)
    return lines_report("Own", StepLines(1_000, 2_000, Sought(sent), found, repeats)).splitlines()


def ran(line: int, **more: Any) -> RanLine:
    return RanLine(0, line, 0, **more)


def test_the_head_says_the_step_and_what_it_sent() -> None:
    assert told(ran(8))[0] == 'step 1,000 of 2,000 of Own: sent "a", 1 line ran'
    assert told(ran(8), ran(9), sent="")[0] == "step 1,000 of 2,000 of Own: sent nothing, 2 lines ran"


def test_a_step_without_source_says_so() -> None:
    assert told()[1:] == ["its source cannot be seen: no file of the parser's package ran at this step"]
    sealed = told(ran(3), functions=(RanFunction("sealed", "own.py", 3),))
    assert sealed[1:] == ["", "own.py  sealed"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (8, [" >", "  ", "  "]),
        (10, ["  ", "  ", " >", "  ", "  "]),
        (11, ["  ", "  ", "  ", " >", "  ", "  "]),
        (12, ["  ", "..", "  ", "  ", " >", "  ", "  "]),
        (29, ["  ", "..", "  ", "  ", " >"]),
    ],
)
def test_lines_far_from_those_that_ran_are_left_out(line: int, shown: list[str]) -> None:
    assert AROUND == 2
    body = told(ran(line))[3:]
    assert [" >" if text[7:8] == ">" else text.strip()[:2] if "..." in text else "  " for text in body] == shown
    assert body[-1].strip().endswith(f"line {min(line + AROUND, 29)}")


def test_a_line_stands_with_what_it_did_last() -> None:
    first = ran(8, changed=(Changed("a", None, "0"),), returned="'x'")
    last = ran(8, changed=(Changed("a", "0", "1"), Changed("b", None, "2")), raised="E: no")
    assert told(first, ran(9), last, sent_from=2)[4:10] == [
        "     8 » line 8",
        "           a: 0 -> 1",
        "           b: 2",
        "           raised E: no",
        "           ran 2 times; this is the last",
        "     9 > line 9",
    ]
    assert told(first)[4:6] == ["           a: 0", "           returned 'x'"]


def test_lines_that_are_not_told_are_counted() -> None:
    assert told(ran(8), left_out=1_234)[-2:] == ["", "1,234 more lines ran that are not shown"]
    assert told(ran(8))[-1].endswith("line 10")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"sent_from": 1}, "sent by own.py:9"),
        ({"sent_from": 1, "put_at": 0}, "put there by own.py:8, returned by own.py:9"),
        ({"put_at": 0}, "put there by own.py:8"),
        (
            {"sent_from": 1, "repeats": False},
            "run again the parser sent something else at this step: these lines are of another run",
        ),
    ],
)
def test_the_lines_that_sent_are_named_and_marked(more: dict[str, Any], words: str) -> None:
    said = told(ran(8), ran(9), **more)
    assert words in said[1:3]
    marked = {one[:6].strip() for one in said if "»" in one}
    assert marked == {str(8 + more[key]) for key in ("sent_from", "put_at") if key in more}
