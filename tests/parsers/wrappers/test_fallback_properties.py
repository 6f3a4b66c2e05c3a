"""Whatever the output: the wrapper gives one message for every chunking, and every character has one owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.machine.program import Program
from parsers.replays.chunking import Chunking
from parsers.replays.replay import parse, replay
from parsers.selection.registry import policies
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Delta, Message
from parsers.wrappers.fallback import Fallback, FallbackOptions
from tests.amount import examples
from tests.parsers.properties.invariants import Run, check
from tests.parsers.properties.strategies import damaged, noise, runs

pytestmark = pytest.mark.replays

WRAPPED = ("qwen", "qwen_coder", "kimik2", "mistral", "llama", "passthrough")
OPTIONS = [FallbackOptions(budget=budget, line_start=line) for budget, line in product((0, 1, 20, 200), (True, False))]
MORE = ("```", "\n```\n", "\n", "<tool_call>", "</tool_call>", "<think>", "</think>", "<function=f>", '{"name":"f"}')


@dataclass
class Wrapped(Run):
    """An output behind the wrapper."""

    options: FallbackOptions = OPTIONS[0]

    def _parser(self) -> Fallback:
        return Fallback(self.fmt, self.policy, self.options)

    def replayed(self, deltas: Sequence[Delta]) -> Trace:
        return replay(self._parser(), deltas, self.context, mode=self.mode, markers=self.markers)

    def message(self, chunking: Chunking) -> Message:
        return parse(self._parser(), self.deltas(chunking), self.context, mode=self.mode, markers=self.markers)

    @cached_property
    def longest(self) -> int:
        return Program(self._parser().format, policies(self.fmt), frozenset(), skip_tools=False).longest


def wrapped(run: Run, options: FallbackOptions) -> Wrapped:
    given = {field.name: getattr(run, field.name) for field in fields(Run)}
    return Wrapped(**given, options=options)


@st.composite
def mixed(draw: st.DrawFn, parser: str) -> str:
    """Noise with fences, line breaks and the markers of other formats."""
    parts = st.sampled_from(MORE) | noise(parser)
    return "".join(draw(st.lists(parts, max_size=5)))


@pytest.mark.parametrize("parser", WRAPPED)
@examples(5)
@given(data=st.data())
def test_noise_is_read_alike_under_every_chunking(parser: str, data: st.DataObject) -> None:
    run = wrapped(data.draw(runs(parser, mixed(parser))), data.draw(st.sampled_from(OPTIONS)))
    check(run, data.draw(st.integers(0, 99)), data.draw(st.lists(st.integers(1, 300), max_size=5)))


@pytest.mark.parametrize("parser", [name for name in WRAPPED if name != "passthrough"])
@examples(3)
@given(data=st.data())
def test_damaged_output_is_read_alike_under_every_chunking(parser: str, data: st.DataObject) -> None:
    run = wrapped(data.draw(runs(parser, damaged(parser))), data.draw(st.sampled_from(OPTIONS)))
    check(run, data.draw(st.integers(0, 99)), data.draw(st.lists(st.integers(1, 300), max_size=5)))
