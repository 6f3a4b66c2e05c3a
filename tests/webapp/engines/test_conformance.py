"""What a worker does wrong is said in words, rule by rule."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.engines.entering import fake, own
from webapp.engines.conformance import Kept, conformance
from webapp.engines.engine_host import EngineHost
from webapp.engines.entries import Entry


def wrong(entry: Entry, parser: str = "") -> list[str]:
    host = EngineHost("x", entry)
    try:
        return [kept.wrong for kept in conformance(host, parser) if kept.wrong]
    finally:
        host.close()


@pytest.mark.parametrize("entry", [fake(), own("Plain"), own("Whole"), own("Legacy")])
def test_an_engine_that_keeps_the_protocol_is_told_nothing(entry: Entry) -> None:
    assert wrong(entry) == []


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("old", ["engine x does not speak the protocol: /protocol: this program speaks 1, the engine 2"]),
        ("short", ["its answer is none: /replays/0: it has 6 steps, its end among them, and 5 were answered"]),
        ("hasty", ["its answer is none: /replays/0/micros/0: Input should be greater than or equal to 0"]),
        ("forgetful", ["at first it sent"]),
        (
            "reversed",
            ["its answers are not in the order", "answer 1 of a message is that of replay 3", "at first it sent"],
        ),
        ("strict", ["there is no answer: there is no key no_such_key"]),
        ("silent", ["steps [1, 2, 3, 4, 5, 6] were to be told, [] were"]),
        ("chatty", ["there is no answer: it says what it was not asked for"]),
        ("sloppy", ["it replayed as if there were one"]),
    ],
)
def test_what_it_does_wrong_is_said(flag: str, words: list[str]) -> None:
    found = wrong(fake(flag))
    assert [one.startswith(two) for one, two in zip(found, words, strict=False)] == [True] * len(words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Returns", "The parser fails on a plain sentence, at step 1: JSONDecodeError: Expecting value"),
        ("Plain", ""),
    ],
)
def test_a_parser_that_fails_keeps_the_protocol_and_is_told_of(name: str, words: str) -> None:
    host = EngineHost("x", own(name))
    try:
        found = [*conformance(host)]
    finally:
        host.close()
    assert [one.wrong for one in found if one.wrong] == []
    assert (found[-1].note.startswith(words), bool(found[-1].note)) == (True, bool(words))


def test_the_script_is_played_at_the_parser_that_is_named() -> None:
    assert (wrong(fake(), "upper"), len(wrong(fake(), "brief"))) == ([], 5)
    with pytest.raises(UsageError, match=r"fake has no parser 'bief'; it has [0-9]+, such as brief"):
        wrong(fake(), "bief")


def test_a_rule_that_is_kept_has_nothing_wrong() -> None:
    assert Kept("It is so.").wrong == ""
