"""What depends on cuts is told of the two chunkings that the verdict lays beside each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parsers.checks.known import Known, Origin
from parsers.checks.subject import subject_of
from parsers.compare.divergence import EXACT, Rules
from parsers.replays.chunking import TRACED, WHOLE, Chunking, label
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.found import OutcomeClass, Verdict
from parsers.search.retold import retold
from parsers.search.sweep import json_of
from parsers.vocabulary.trace import Finding, Proof, Topic
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece


class LosesAll:
    """It sends nothing of a delta of more than two characters, but blanks."""

    def begin(self, context: Context) -> None:
        pass

    def feed(self, delta: Delta) -> MessageDelta:
        return MessageDelta(
            content=delta.text if len(delta.text) < 3 else delta.text[:2] + delta.text[2:].lstrip("cdef")
        )

    def finish(self, reason: str | None) -> None:
        pass


def told(text: str, first: Finding, said: Verdict, rules: Rules = EXACT, known: Known | None = None) -> Finding:
    """The finding that stands in the place of the first one."""
    pieces = tuple([Piece(text[at : at + 2]) for at in range(0, len(text), 2)])
    given = Replayer(lambda: BlackBox("loses", LosesAll()), pieces, black_box=True)
    traces = [given.trace(one) for one in (TRACED, WHOLE)]
    outcomes = [
        OutcomeClass(number, trace.message, "stop", 3 - 2 * number, 1, chunking, label(chunking))
        for number, (trace, chunking) in enumerate(zip(traces, (TRACED, WHOLE), strict=True))
    ]
    subject = subject_of(given, traces[0], traces[1], (), rules=rules, known=known or Known())
    (found,) = retold([first], said, outcomes, subject, given.trace)
    return found


def finding(expected: str, actual: str, chunking: Chunking, topic: Topic = Topic.CHUNKS) -> Finding:
    made = Finding("chunking", "error", "parser", "So it is.", id="C1", topic=topic, proof=Proof(json_of(chunking)))
    return replace(made, expected=expected, actual=actual)


def judged(wrong: Chunking, right: Chunking | None) -> Verdict:
    proof = Proof(json_of(wrong))
    return Verdict("chunk_boundary", "error", "parser", "So it is.", findings=(0,), proof=proof, right=right)


LOST = judged(WHOLE, TRACED)
TOKENS, ONE = (
    'With the chunking "token by token", the message differs',
    'With the chunking "whole", the message differs',
)
IN_ONE, IN_TOKENS = "; 1 of 4 chunkings gives this message.", "; 3 of 4 chunkings give this message."


@pytest.mark.parametrize(
    ("first", "said", "begins", "ends", "under"),
    [
        (finding("ab", "abcdef", WHOLE), LOST, ONE, IN_ONE, 0),
        (finding("abcdef", "ab", TRACED), LOST, ONE, IN_ONE, 0),
        (finding("x", "y", TRACED), LOST, ONE, IN_ONE, 1),
        (finding("abcdef", "ab", WHOLE), judged(TRACED, WHOLE), TOKENS, IN_TOKENS, 0),
    ],
)
def test_a_finding_of_other_chunkings_is_told_of_those_of_the_verdict(
    first: Finding, said: Verdict, begins: str, ends: str, under: int
) -> None:
    found = told("abcdef", first, said)
    assert (found.message.startswith(begins), found.message.endswith(ends)) == (True, True), found.message
    assert (found.proof, len(found.follows), found.step is not None) == (said.proof, under, True)


def test_where_nobody_knows_what_is_right_another_difference_is_no_less_another() -> None:
    first, known = replace(finding("x", "y", WHOLE), expected=None, actual=None), Known(grammar=Origin.UNKNOWN)
    found = told("abcdef", first, LOST, known=known)
    assert (found.expected, found.actual, [one.message for one in found.follows]) == (None, None, ["So it is."])


def test_where_the_traced_chunking_fails_a_finding_of_the_same_is_shown_by_that_and_not_by_the_right_one() -> None:
    first, said = finding("ab", "abcdef", WHOLE), judged(TRACED, WHOLE)
    assert told("abcdef", first, said) == replace(first, proof=said.proof)


@pytest.mark.parametrize(
    ("text", "first", "said", "rules"),
    [
        ("abcdef", finding("abcdef", "ab", WHOLE), LOST, EXACT),
        ("abcdef", finding("x", "y", WHOLE, Topic.LEAK), LOST, EXACT),
        ("abcdef", finding("x", "y", WHOLE), judged(Chunking(by="char"), TRACED), EXACT),
        ("abcdef", finding("x", "y", WHOLE), judged(WHOLE, None), EXACT),
        ("abcdef", finding("x", "y", WHOLE), replace(LOST, findings=()), EXACT),
        ("abcdef", finding("x", "y", WHOLE), replace(LOST, proof=None), EXACT),
        ("ab", finding("x", "y", WHOLE), LOST, EXACT),
    ],
)
def test_one_that_is_told_of_them_already_stays(text: str, first: Finding, said: Verdict, rules: Rules) -> None:
    assert told(text, first, said, rules) == first
