"""The checks take time in proportion to the output, whatever it is made of and however little a parser shows."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from parsers.blackbox import BlackBox
from parsers.checks import Subject, run_checks
from parsers.chunking import TRACED, WHOLE
from parsers.protocol import StreamParser
from parsers.search.subject import subject_of
from parsers.types import Context, Tool
from tests.parsers.checks.broken import Broken, BrokenDeltas, Fault, replayer_of

pytestmark = pytest.mark.linear

TOOLS = Context((Tool("f", {"type": "object", "properties": {"a": {"type": "string"}}}),))
CALL = '<tool_call>\n{"name": "f", "arguments": {%s}}\n</tool_call>\n'
SIZES = (5_000, 20_000)
OUTPUTS: dict[str, Callable[[int], str]] = {
    "prose": lambda size: "<think>" + "hm so " * (size // 12) + "</think>" + "word and < some " * (size // 32),
    "a long string": lambda size: CALL % ('"a": "' + 'text \\n \\" ' * (size // 11) + '"'),
    "many calls": lambda size: CALL % '"a": "x"' * (size // 60),
    "many keys": lambda size: CALL % ", ".join([f'"k{number}": "v{number}"' for number in range(size // 16)]),
}


def subject(text: str, *, black_box: bool) -> Subject:
    def make() -> StreamParser:
        return BlackBox("shut", BrokenDeltas("qwen", Fault())) if black_box else Broken("qwen", Fault())

    replayer = replayer_of("qwen", text, make, TOOLS, black_box)
    return subject_of(replayer, replayer.trace(TRACED), replayer.trace(WHOLE), [])


def seconds(subject: Subject) -> float:
    best = 60.0
    for _ in range(3):
        start = time.perf_counter()
        run_checks(subject)
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.parametrize("black_box", [False, True], ids=["open", "black box"])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_four_times_the_output_takes_about_four_times_as_long(kind: str, black_box: bool) -> None:
    short, long = [subject(OUTPUTS[kind](size), black_box=black_box) for size in SIZES]
    assert seconds(long) < 8 * seconds(short) + 0.05
