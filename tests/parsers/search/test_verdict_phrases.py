"""The phrases a verdict is made of: what goes wrong between two messages, and under which chunking."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from parsers.replays.chunking import WHOLE, Chunking
from parsers.search.found import Leave, OutcomeClass
from parsers.search.verdict_cuts import _shares
from parsers.search.verdict_phrases import _the_call, harm, under
from parsers.vocabulary.types import Message, ToolCall


def call(name: str, arguments: str = "{}", *, complete: bool = True) -> ToolCall:
    return ToolCall("id", name, arguments, complete)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (Message(tool_calls=[call("f")]), Message(), "the only call (`f`) is lost"),
        (Message(tool_calls=[call("f"), call("g")]), Message(), "both calls are lost"),
        (Message(tool_calls=[call("f"), call("g")]), Message(tool_calls=[call("f")]), "the second call (`g`) is lost"),
        (
            Message(tool_calls=[call("f"), call("g"), call("h")]),
            Message(tool_calls=[call("h")]),
            "the first call (`f`) and the second call (`g`) are lost",
        ),
        (
            Message(tool_calls=[call("f", '{"a":"\u00fc"}'), call("g")]),
            Message(tool_calls=[call("f", '{"a": "\\u00fc"}')]),
            "the second call (`g`) is lost",
        ),
        (
            Message(tool_calls=[call("f", '{"a": 1}'), call("g")]),
            Message(tool_calls=[call("f", '{"a": 2}')]),
            "the second call (`g`) is lost, and others change",
        ),
        (
            Message(tool_calls=[call("f", '{"a":1}'), call("g", "[1]")]),
            Message(tool_calls=[call("f", '{"a": 1}'), call("g", "[2]")]),
            "the arguments of the second call (`g`) have `2` for `1` from their character 1 on",
        ),
        (
            Message(content="Hi.", tool_calls=[call("f", '{"a":1}')]),
            Message(content="Hi", tool_calls=[call("f", '{"a": 1}')]),
            "`.` is lost from the content",
        ),
        (
            Message(tool_calls=[call("f", '{"a":1}')]),
            Message(tool_calls=[call("f", '{"a": 1}')]),
            "the arguments of the only call (`f`) are the same JSON value, written otherwise (white space only)",
        ),
        (
            Message(tool_calls=[call("f", '{"a":"0.50","b":[0.50]}')]),
            Message(tool_calls=[call("f", '{"a": "0.50", "b": [0.5]}')]),
            "the arguments of the only call (`f`) are the same JSON value, written otherwise (`0.5` for `0.50`)",
        ),
        (
            Message(tool_calls=[call("f", '{"stops":[2],"seats":1}')]),
            Message(tool_calls=[call("f", '{"seats":1,"stops":[2]}')]),
            "the arguments of the only call (`f`) have the same values in another order of keys",
        ),
        (
            Message(tool_calls=[call("f", '{"a":1}')]),
            Message(tool_calls=[call("x"), call("f", '{"a": 1}')]),
            "one call too many comes out, to `x`",
        ),
        (
            Message(tool_calls=[call("f"), call("g")]),
            Message(tool_calls=[call("x")]),
            "the first call (`f`) is lost, and others change",
        ),
        (
            Message(tool_calls=[call("f")]),
            Message(tool_calls=[call("f"), call("x")]),
            "one call too many comes out, to `x`",
        ),
        (
            Message(tool_calls=[call("f")]),
            Message(tool_calls=[call("x")]),
            "the name of the only call (`f`) becomes `x`",
        ),
        (
            Message(tool_calls=[call("f", '{"a": 1}')]),
            Message(tool_calls=[call("f", '{"a": 1')]),
            "the arguments of the only call (`f`) lose `}`",
        ),
        (
            Message(tool_calls=[call("f", '{"a": 1}')]),
            Message(tool_calls=[call("f", '{"a": 1}}')]),
            "the arguments of the only call (`f`) gain `}`",
        ),
        (
            Message(tool_calls=[call("f")]),
            Message(tool_calls=[call("f", "")]),
            "the arguments of the only call (`f`) are lost",
        ),
        (
            Message(tool_calls=[call("f", '{"a": 1}')]),
            Message(tool_calls=[call("f", '{"a": 2}')]),
            "the arguments of the only call (`f`) have `2` for `1` from their character 6 on",
        ),
        (
            Message(tool_calls=[call("f")]),
            Message(tool_calls=[call("f", complete=False)]),
            "the only call (`f`) is not closed",
        ),
        (
            Message(tool_calls=[call("f", complete=False)]),
            Message(tool_calls=[call("f")]),
            "the only call (`f`) is closed",
        ),
        (Message(content="ab"), Message(content="a"), "`b` is lost from the content"),
        (Message(content="a"), Message(content="a<"), "`<` leaks into the content"),
        (Message(content="a"), Message(content="ab"), "`b` is added to the content"),
        (Message(content="abc"), Message(content="axc"), "the content has `x` for `b` from its character 1 on"),
        (Message(reasoning="ab"), Message(reasoning="a"), "`b` is lost from the reasoning"),
        (Message("a", "b"), Message(None, "ab"), "`ab` becomes content, not reasoning"),
        (Message(None, "ab"), Message("a", "b"), "`a` becomes reasoning, not content"),
        (Message(content="a"), Message(content="a"), "the ids of the calls change"),
        (
            Message(tool_calls=[call("f"), call("g")], order=(0, 1)),
            Message(tool_calls=[call("f"), call("g")], order=(1, 0)),
            "the places of the calls change",
        ),
    ],
)
def test_the_harm_is_said_in_one_phrase(right: Message, wrong: Message, words: str) -> None:
    assert harm(right, wrong) == words


def test_equal_calls_that_are_fewer_are_counted() -> None:
    twice = [call("f"), call("f")]
    assert harm(Message(tool_calls=twice), Message(tool_calls=twice[:1])) == "the second call (`f`) is lost"
    assert _the_call(6, [call("f")] * 7) == "call 6 (`f`)"
    assert _the_call(0, [call("")]) == "the only call"


@pytest.mark.parametrize(
    ("chunking", "words"),
    [
        (Chunking(by="cuts", cuts=(9,)), "when the output is cut after character 9"),
        (Chunking(by="cuts", cuts=(9, 12)), "when the output is cut after characters 9 and 12"),
        (Chunking(by="cuts", cuts=(1, 2, 3, 4, 5)), 'with the chunking "cut at 1, 2, 3, 4 and 5"'),
        (Chunking(by="cuts", cuts=(9, 9)), "when an empty delta comes after character 9"),
        (Chunking(by="cuts", cuts=(0,)), "when an empty delta comes first"),
        (Chunking(by="cuts", cuts=(20,)), "when an empty delta comes last"),
        (
            Chunking(by="cuts", cuts=(0, 3, 5, 7, 7, 9, 9)),
            'with the chunking "cut at 3 and 5, empty deltas at 0, 7 and 9"',
        ),
        (
            Chunking(by="cuts", cuts=(3, 4, 7, 7, 9, 9)),
            "when the output is cut after characters 3 and 4 and an empty delta comes after characters 7 and 9",
        ),
        (Chunking(by="whole"), "when the output comes in one delta"),
        (Chunking(by="cuts", cuts=()), "when the output comes in one delta"),
        (Chunking(by="token"), "when the output comes token by token"),
        (Chunking(by="char", size=3), "in deltas of 3 characters"),
        (Chunking(by="random", seed=4), 'with the chunking "random, seed 4"'),
        (Chunking(by="token", holdback_chars=6), 'with the chunking "token by token, last 6 characters held back"'),
    ],
)
def test_a_chunking_is_the_condition_of_a_sentence(chunking: Chunking, words: str) -> None:
    assert under(chunking, 20) == words


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        (Leave(3, "a comma"), "a comma is missing"),
        (Leave(3), "something is missing"),
        (Leave(3, "`name` is spelled `nmae`", misspelled=True), "`name` is spelled `nmae`"),
        (Leave(3, "a comma", instead="`d` stands instead of a comma"), "`d` stands instead of a comma"),
    ],
)
def test_where_an_output_leaves_a_grammar_is_told_by_what_stands_there_or_is_due(leave: Leave, words: str) -> None:
    assert leave.clause == words


@pytest.mark.parametrize(
    ("one_shot", "words"),
    [
        (None, "2 of 3 chunkings give this; none gives what the format reads."),
        (True, "2 of 3 chunkings give this; the code path for whole outputs gives the fullest message."),
        (False, "2 of 3 chunkings give this; 1 gives the fullest message, e.g. whole."),
    ],
)
def test_it_is_said_which_chunkings_give_the_right_message(one_shot: bool | None, words: str) -> None:
    worst, right = [
        OutcomeClass(number, Message(), "stop", count, 0, WHOLE, label)
        for number, count, label in ((0, 2, "token by token"), (1, 1, "whole"))
    ]
    evidence: Any = SimpleNamespace(
        outcomes=[worst, right], is_one_shot=lambda one: one_shot and one is right, own=None, allowed=None
    )
    assert _shares(evidence, worst, None if one_shot is None else right) == words
