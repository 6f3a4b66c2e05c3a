"""A parser that does more than it counts is found slow where the search is given a clock."""

from __future__ import annotations

import pytest

from parsers.cases.engines import ENGINES
from parsers.cases.find import CaseSearch
from parsers.machine.machine import Machine
from parsers.selection.registry import get_format
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Delta
from tests.parsers.search.faulty import case_of, engine

CALL = '<tool_call>{"name": "find", "arguments": {"q": "short"}}</tool_call>'


class Rescans(Machine):
    """Reads everything again with each delta, on a clock of its own, and counts only what is new."""

    now, read = 0.0, 0

    def feed(self, delta: Delta) -> list[Event]:
        self.read += len(delta.text)
        Rescans.now += self.read / 1e6
        return super().feed(delta)


class Disturbed(Machine):
    """Takes a microsecond a character, but the machine was busy with something else when the longest was read first."""

    now, longest = 0.0, 0

    def feed(self, delta: Delta) -> list[Event]:
        Disturbed.now += len(delta.text) / 1e6
        return super().feed(delta)

    def finish(self, reason: str | None = None) -> list[Event]:
        if self.examined > 8_000 > Disturbed.longest:
            Disturbed.now += 1.0
        Disturbed.longest = max(Disturbed.longest, self.examined)
        return super().finish(reason)


def found(parser: type[Rescans] | type[Disturbed] = Rescans, *, clocked: bool = True) -> list[str]:
    engines = {
        **ENGINES,
        "faulty": engine(lambda name: parser(get_format(name), get_format(name).policy.model_dump())),
    }
    only = case_of(CALL).model_copy(update={"checks": ("linear_arguments",)})
    search = CaseSearch(only, engines=engines, clock=(lambda: parser.now) if clocked else None)
    for _ in search.run():
        pass
    return [finding.message for finding in search.result().found.robustness]


@pytest.mark.replays
def test_only_a_clock_shows_work_that_is_not_counted() -> None:
    (words,) = found(clocked=True)
    assert words.startswith("For 2,0")
    assert "the parser takes" in words
    assert found(clocked=False) == []


@pytest.mark.replays
def test_a_clock_that_was_disturbed_once_blames_nobody() -> None:
    assert found(Disturbed) == []
    assert Disturbed.now > 1.0
