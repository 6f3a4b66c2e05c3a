"""The checks take time in proportion to the output, whatever it is made of and however little a parser shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import Subject, run_checks
from parsers.checks.subject import subject_of
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.recorded import BlackBox
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Tool
from tests.growth import assert_linear, seconds
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


@pytest.mark.parametrize("black_box", [False, True], ids=["open", "black box"])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_four_times_the_output_takes_about_four_times_as_long(kind: str, black_box: bool) -> None:
    made = {size: subject(OUTPUTS[kind](size), black_box=black_box) for size in SIZES}
    assert_linear(lambda size: seconds(lambda: run_checks(made[size])), SIZES)
