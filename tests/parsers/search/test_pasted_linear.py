"""Whatever looks at a pasted text takes twice as long for twice the text, on hostile text too.

These tests run by themselves, without coverage and without other tests beside them. Only ratios are asserted.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import quoted_in
from parsers.search.pasted_prompts import last_turn
from parsers.search.pasted_quotes import blocks_in, quotes_in, without_quotes
from tests.amount import every
from tests.growth import assert_linear, seconds

pytestmark = pytest.mark.linear

SIZES = (15_000, 30_000, 60_000)
LOG = "ERROR 07-03 11:30:24 [a.py:365] x\n"
UNITS = (
    "Traceback (most recent call last):\n", "a: b\n", "ERROR ", "curl \\\n", "## x\n", '"', "'", "`", "\u201c",
    "a\u00abb ", "    x\n", "\n    x\n", "> x\n", "```\n", "```\na\n```\n", "<tool_call>", "a.b:", "0x1234 ", "\t",
    "\r\n", "  at a(", "1: a::", "/a/b:1: ", "\u2502", "[INST]", "<|im_start|>user\n", "<|im_start|>assistant\n",
    "\\", "**", "(type='a' ", "Message(", "deadbee1 ", "100% ", "a@b:~ $ ", "you ", ">>> a\n",
    "In [1]: ", "a> b\n", "-----BEGIN A-----\n", "From: a\n", "a:1: b\n", "<a> b\n",
    "\u74b0\u5883", ";  ", "a.b(", "a::<b>(c)\n",
)  # fmt: skip
ENTRIES: dict[str, Callable[[str], object]] = {
    "quotes_in": lambda text: list(quotes_in(text)),
    "blocks_in": lambda text: list(blocks_in(text)),
    "without_quotes": without_quotes,
    "last_turn": last_turn,
    "quoted_in a log": lambda text: quoted_in(text, Pasted.LOG),
    "quoted_in a report": lambda text: quoted_in(text, Pasted.REPORT),
}


HEADS = ("", LOG, "vLLM 0.9 stream tool_calls empty ", "Message(id='", "import a\n")


@pytest.mark.parametrize(("head", "unit"), every(3, product(HEADS, UNITS)))
def test_looking_is_linear(head: str, unit: str) -> None:
    assert_linear(lambda size: seconds(lambda: look.__wrapped__(f"{head}{unit * (size // len(unit))}\ny")), SIZES)


@pytest.mark.parametrize(("name", "unit"), every(3, product(ENTRIES, UNITS), start=1))
def test_finding_what_is_quoted_is_linear(name: str, unit: str) -> None:
    run = ENTRIES[name]
    assert_linear(lambda size: seconds(lambda: run(f"{LOG}{unit * (size // len(unit))}\ny")), SIZES)


def test_letters_without_an_end_are_looked_at_once() -> None:
    """A model that says one thing for ever; `}` at the end, as of an answer that lost its beginning."""
    assert_linear(lambda size: seconds(lambda: look.__wrapped__("ha" * (size // 2) + "}")), SIZES)


def test_a_line_that_makes_something_is_looked_at_once() -> None:
    """Its quotes and parentheses are many, and its end is none."""
    assert_linear(lambda size: seconds(lambda: look.__wrapped__("x = f(" + '"a)' * (size // 3) + "!")), SIZES)
