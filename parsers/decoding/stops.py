"""Stop strings: where they end the text, and what servers keep back while one may have begun.

vLLM (0.33, v1/engine/detokenizer.py) looks for them in the text that is out after each token, in the order in which
they were given, and keeps back one character less than the longest of them has, unless it is sent anyway.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Stopped:
    """The token that completes a stop string, and where the text ends then."""

    token: int
    end: int


def stopped(text: str, out: Sequence[int], stop: Sequence[str], *, include: bool) -> Stopped | None:
    """Where the first stop string ends the text, None where none is in it.

    `out`: how much of the text is out after each token.
    """
    found: list[tuple[int, int, int]] = []
    for order, one in enumerate(stop):
        if (at := text.find(one)) >= 0:
            found.append((bisect_left(out, at + len(one)), order, at + len(one) * include))
    if not found:
        return None
    token, _, end = min(found)
    return Stopped(token, end)


def kept_back(stop: Sequence[str], *, include: bool) -> int:
    """How many last characters wait while the output goes on."""
    return 0 if include else max([len(one) for one in stop], default=1) - 1
