"""What can be seen of a pattern without running it: whether it may be slow, match nothing, or swallow everything."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

MANY = 32  # a repeat that may go beyond this counts as without end
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
BACKTRACKS = ("MAX_REPEAT", "MIN_REPEAT")


def _tree(pattern: str) -> Any:
    """The parse tree of a pattern, or None for syntax that only the `regex` module knows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module("re._parser").parse(pattern, re.DOTALL)
        except (re.error, RecursionError, OverflowError):
            return None


def troubles(pattern: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a pattern: (code, what and what to do)."""
    parsed = _tree(pattern)
    if parsed is None:
        yield "unchecked_pattern", "it uses syntax that only the regex module knows, so it is not checked here"
        return
    if parsed.getwidth()[0] == 0:
        yield "empty_match", "it can match the empty text, and the parser may not read on: make it match something"
    if _nested(parsed, False):
        yield "slow_pattern", "a repeat inside a repeat can take very long on some outputs: write it as one repeat"
    last = parsed[-1] if len(parsed) else None
    if last is not None and str(last[0]) == "MAX_REPEAT" and last[1][1] > MANY and _anything(last[1][2]):
        yield "greedy_pattern", "it ends in a greedy repeat of any character, which takes the rest: use .*? and an end"
    if last is not None and str(last[0]) in ("ASSERT", "ASSERT_NOT") and last[1][0] > 0:
        yield "looks_ahead", "it looks at text that may not have come yet, so its match can depend on the chunking"


def _nested(parsed: Any, inside: bool) -> bool:
    """Whether a repeat without end stands inside another that can be backtracked into."""
    for code, argument in parsed:
        endless = str(code) in BACKTRACKS and argument[1] > MANY
        if endless and inside:
            return True
        if any(_nested(part, inside or endless) for part in _parts(str(code), argument)):
            return True
    return False


def _parts(code: str, argument: Any) -> list[Any]:
    """The patterns inside one part of a pattern."""
    if code in REPEATS:
        return [argument[2]]
    if code == "SUBPATTERN":
        return [argument[3]]
    if code == "BRANCH":
        return list(argument[1])
    if code in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    return [argument] if code == "ATOMIC_GROUP" else []


def _anything(parsed: Any) -> bool:
    return len(parsed) == 1 and str(parsed[0][0]) == "ANY"
