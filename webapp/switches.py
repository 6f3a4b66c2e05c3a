"""Switches of queries and forms: what turns one on, and what leaves it off.

What does something (stores, lists, starts again) asks `is_on`, which refuses any other word: `listed=flase` must list
nothing. How a page is shown and what a form holds asks `is_ticked`, which takes any other word for none, as it does
with every word of an address that it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.vocabulary.types import UsageError

ON, OFF = ("1", "true"), ("0", "false", "")
_BOX = "on"  # what a browser sends of a box that has no value of its own
_SHOWN = 40


def is_on(given: Mapping[str, str], name: str) -> bool:
    """Whether a switch is on; one that is not given is off. Raises UsageError for a word that is neither."""
    word = given.get(name, "")
    if word not in (*ON, *OFF):
        shown = word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"
        raise UsageError(f"{name}={shown} is neither on nor off: give 1 or true, or 0, false or nothing")
    return word in ON


def is_posted_on(given: Mapping[str, str], name: str) -> bool:
    """The same of a form of a page. Raises UsageError for a word that is neither."""
    return given.get(name) == _BOX or is_on(given, name)


def is_ticked(word: str | None) -> bool:
    """Whether a word turns on what does no more than show."""
    return word in (*ON, _BOX)
