"""Calls that a parser sends and the output does not have: once more than it has them, or never written."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.checks import run_checks
from parsers.checks.examples import Entry, scripted
from parsers.formats.contracts import contract_named
from tests.parsers.checks.subjects import subject

ONE: list[Entry] = [("name", "functions.f"), ("arguments", '{"a": "x"}'), ("end",)]
AGAIN: list[Entry] = [("name", "", "f"), ("arguments", "", '{"a": "x"}'), ("end",)]
OTHER: list[Entry] = [("name", "", "g"), ("arguments", "", '{"b": 1}'), ("end",)]
CHANGED: list[Entry] = [("name", "", "f"), ("arguments", "", '{"a": "y"}'), ("end",)]
SAID: list[Entry] = [("content", " then f with a x, or g with b 1")]
PART: list[Entry] = [("content", " then f alone")]


def said(sent: list[Entry], own: list[Entry], **fields: Any) -> list[str]:
    beside: dict[str, Any] = {"black_box": True, "reference": scripted(own)} | fields
    return [one.message for one in run_checks(subject(scripted(sent), **beside), ["no_double_ownership"]).findings]


@pytest.mark.parametrize(
    ("sent", "own", "words"),
    [
        (ONE, ONE, []),
        ([*ONE, *AGAIN], ONE, ["The call to `f` is sent once more than the output has it."]),
        ([*ONE, *AGAIN, *AGAIN], ONE, ["The call to `f` is sent once more than the output has it (2 calls in all)."]),
        ([*ONE, *OTHER], ONE, ["The call to `g` is not in the output."]),
        ([*CHANGED, *ONE], ONE, ["The call to `f` is not in the output."]),  # the other one is
        ([*ONE, *OTHER, *SAID], [*ONE, *SAID], []),  # the built-in parser may take a call for text
        ([*ONE, *AGAIN, *SAID], [*ONE, *SAID], []),
        ([*ONE, *AGAIN, *PART], [*ONE, *PART], ["The call to `f` is sent once more than the output has it."]),
        ([*ONE, *AGAIN], [*ONE[:2], ("cut",)], ["The call to `f` is sent once more than the output has it."]),
    ],
)
def test_a_call_too_many_is_told(sent: list[Entry], own: list[Entry], words: list[str]) -> None:
    assert said(sent, own) == words


def test_nothing_is_told_of_a_server_a_failure_or_what_the_contract_allows() -> None:
    sent = [*ONE, *AGAIN]
    assert said(sent, ONE, plays=True) == []
    assert said([*sent, ("raised", "", "boom")], ONE) == []
    assert said(ONE, [("content", "functions.f")], reference=None) == []
    blank: list[Entry] = [*ONE, ("content", "\n"), *ONE]
    assert said([*ONE, *ONE], blank, promised=contract_named("vllm")) == []
