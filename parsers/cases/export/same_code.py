"""The code with which exported tests in Python compare: the files that stand in all of them.

It is the comparison of `parsers.cases.expect` without what that imports: of arguments as JSON values (`spelled`), and
of the order of reasoning, text and calls as far as deltas state it (`assert_order`). A table of tests holds both to
the same verdicts.
"""

from __future__ import annotations

from importlib import resources


def code_of(file: str) -> str:
    """The code in a file of this folder."""
    return (resources.files("parsers.cases.export") / file).read_text(encoding="utf-8")


SAME_JSON = code_of("same_json.txt")


def same_order(*, soft: bool) -> str:
    """The code that compares an order. `soft`: white space counts between words alone."""
    return code_of("same_order_soft.txt" if soft else "same_order.txt")
