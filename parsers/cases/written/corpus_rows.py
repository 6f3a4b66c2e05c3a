"""The rows of a generated corpus: outputs of some formats with their tools, of which a share is broken or cut off.

Seed, number and what is asked for give the same row, on every machine and however many are made at once. A row says
which fault was planted in it, so that whoever reads a corpus can be held to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from parsers.cases.written.faults import FAULTS, Broken, truncated
from parsers.cases.written.generated import KIT, SCENARIOS, Drawn, Kit, drawn_output, generated_format

TRUNCATED = "truncated"
# Text with the beginning of a marker in it is for fuzzing: some of it is rightly told of, though nothing was planted.
_SCENARIOS = [one for one in SCENARIOS if one.strings != "beginnings" or not one.before]
Row = dict[str, Any]


@dataclass(slots=True, frozen=True)
class Wanted:
    """What a corpus has: formats in turn, shares of broken and of truncated outputs, and which faults. `kit` is what
    outputs are drawn from."""

    formats: Sequence[str]
    seed: int = 0
    malformed: float = 0.01
    truncated: float = 0.0
    faults: Sequence[str] = tuple(FAULTS)
    kit: Kit = field(default=KIT)

    def __post_init__(self) -> None:
        """Raises UsageError for a format of which nothing can be drawn."""
        for name in self.formats:
            generated_format(name)


def corpus_rows(wanted: Wanted, first: int, count: int) -> Iterator[Row]:
    """The rows of these numbers; one that cannot be drawn is left out."""
    for number in range(first, first + count):
        name = wanted.formats[number % len(wanted.formats)]
        drawn = drawn_output(name, wanted.seed, number, scenarios=_SCENARIOS, kit=wanted.kit)
        if drawn is not None:
            yield _row(wanted, number, drawn)


def _row(wanted: Wanted, number: int, drawn: Drawn) -> Row:
    draw = Random(f"corpus {drawn.fmt.name} {wanted.seed} {number}")
    share = draw.random()
    fault, broken = None, None
    if share < wanted.malformed:
        fault, broken = _broken(wanted, draw, drawn)
    elif share < wanted.malformed + wanted.truncated:
        fault, broken = TRUNCATED, truncated(draw, drawn)
    made = broken or Broken(drawn.case.text())
    usual = "tool_calls" if drawn.said.calls else "stop"
    demands = {"name": made.tool_choice} if made.tool_choice not in (None, "required") else made.tool_choice
    row: Row = {
        "id": f"{drawn.fmt.name}-{wanted.seed}-{number}",
        "parser": drawn.fmt.name,
        "output": made.text,
        "finish_reason": made.finish_reason or usual,
        "tool_choice": demands or "auto",
        "tools": [wanted.kit.tools[tool.name] for tool in drawn.case.to_context().tools],
    }
    return row if broken is None else {**row, "planted": fault}


def _broken(wanted: Wanted, draw: Random, drawn: Drawn) -> tuple[str | None, Broken | None]:
    """The first of the faults, in an order that is drawn, for which the output has a place."""
    for name in draw.sample([*wanted.faults], len(wanted.faults)):
        broken = FAULTS[name].plant(draw, drawn)
        if broken is not None:
            return name, broken
    return None, None
