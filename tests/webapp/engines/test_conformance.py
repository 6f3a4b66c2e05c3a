"""What a worker does wrong is said in words, rule by rule."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.engines.entering import fake, own
from webapp.children.endings import Ending
from webapp.engines.conformance import Kept, conformance
from webapp.engines.engine_host import _KINDS, EngineHost
from webapp.engines.entries import Entry
from webapp.engines.foreign import no_parser


def wrong(entry: Entry, parser: str = "") -> list[str]:
    host = EngineHost("x", entry)
    try:
        return [kept.wrong for kept in conformance(host, parser) if kept.wrong]
    finally:
        host.close()


@pytest.mark.replays
@pytest.mark.parametrize("entry", [fake(), own("Plain"), own("Whole"), own("Legacy")])
def test_an_engine_that_keeps_the_protocol_is_told_nothing(entry: Entry) -> None:
    assert wrong(entry) == []


@pytest.mark.replays
@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("old", ["engine x does not speak the protocol: /protocol: this program speaks 1, the engine 2"]),
        ("short", ["its answer is none: /replays/0: it has 6 steps, its end among them, and 5 were answered"]),
        ("hasty", ["its answer is none: /replays/0/micros/0: must be at least 0"]),
        ("forgetful", ["at first it sent"]),
        (
            "reversed",
            ["its answers are not in the order", "answer 1 of a message is that of replay 3", "at first it sent"],
        ),
        ("strict", ["there is no answer: there is no key no_such_key"]),
        ("silent", ["steps [1, 2, 3, 4, 5, 6] were to be told, [] were"]),
        ("chatty", ["there is no answer: it says what it was not asked for"]),
        ("sloppy", ["it replayed as if there were one"]),
        ("doubled", ["there is no answer: it says answer and failed in one line: `{"]),
        ("twins", ["it names echo 2 times"]),
        ("lawless", ['there is no contract "nobody\'s"; there are openai']),
        ("stateless", ["6 steps were taken, and 1 have a state"]),
        ("misplaced", ["its answer is none: /replays/0/lines/functions: must be a list, not true"]),
        ("beyond", ["it says that step 99 ran a line, of 6 that there are"]),
        ("fibbing", ["it says at step 2 that the one before it sent {'content': 'fib'}, and in its answer"]),
        ("far", ["its answer is none: /replays/0: it has 6 steps, and is said to have failed at step 1,000"]),
    ],
)
def test_what_it_does_wrong_is_said(flag: str, words: list[str]) -> None:
    found = wrong(fake(flag))
    assert [one.startswith(two) for one, two in zip(found, words, strict=False)] == [True] * len(words)


@pytest.mark.replays
@pytest.mark.parametrize(("flag", "words"), [("far", "is said to have failed"), ("babbling", '`"loading"`')])
def test_nobody_is_accused_of_what_he_did_not_do(flag: str, words: str) -> None:
    """A process that was ended at one rule says nothing of the next, which is begun with another one."""
    found = wrong(fake(flag))
    assert (len(found) > 5, [one for one in found if words not in one]) == (True, [])


def test_what_gives_no_answer_is_told_in_words() -> None:
    host = EngineHost("x", fake("late", seconds=0.5))
    try:
        first = next(kept.wrong for kept in conformance(host) if kept.wrong)
    finally:
        host.close()
    assert first == "there is no answer: it did not return in 0.5 seconds, and its process was ended"
    assert {*_KINDS} == {*Ending}


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


@pytest.mark.replays
def test_the_script_is_played_at_the_parser_that_is_named() -> None:
    assert (wrong(fake(), "upper"), len(wrong(fake(), "brief"))) == ([], 8)
    with pytest.raises(UsageError, match=r"fake has no parser 'bief'; it has [0-9]+, such as brief"):
        wrong(fake(), "bief")


def test_a_rule_that_is_kept_has_nothing_wrong() -> None:
    assert Kept("It is so.").wrong == ""


def test_a_name_that_a_tool_and_a_reasoning_parser_have_is_offered_once() -> None:
    assert (
        no_parser("mine", "granit", ["granite", "granite"]) == "mine has no parser 'granit'; it has 1, such as granite"
    )
