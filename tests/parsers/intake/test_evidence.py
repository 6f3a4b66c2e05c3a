"""What follows from a recording, and how the missing is asked for."""

from __future__ import annotations

import pytest

from parsers.intake.evidence import Fact, facts_about, missing_inputs
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request

TEXT, IDS, DELTAS, SERVER, TOOLS, START, FINISH = range(7)
# A recording, which fact, how certain, a part of its words.
FACTS = [
    (Recording("a"), TEXT, "exact", "character for character"),
    (Recording("a", pieces=(Piece("a"),)), TEXT, "exact", "rebuilt from its bytes"),
    (Recording(None, ids=(1,)), TEXT, "missing", "tokenizer"),
    (Recording(None), TEXT, "missing", "taken it apart"),
    (Recording(None, ids=(1, 2)), IDS, "exact", "2 token ids"),
    (Recording("a", pieces=(Piece("a", 1),)), IDS, "exact", "1 token id"),
    (Recording("ab", pieces=(Piece("a", 1), Piece("b"))), IDS, "missing", "assumed"),
    (Recording("a", deltas=(RecordedDelta("a", (1, 2)), RecordedDelta(""))), IDS, "exact", "2 token ids"),
    (Recording("ab", deltas=(RecordedDelta("a", (1,)), RecordedDelta("b"))), IDS, "missing", "assumed"),
    (Recording("a"), IDS, "missing", "assumed"),
    (Recording("a", deltas=(RecordedDelta("a"),)), DELTAS, "exact", "1 delta;"),
    (Recording(None, counts=(1, 2)), DELTAS, "exact", "2 deltas;"),
    (Recording("a"), DELTAS, "missing", "a chunking is assumed"),
    (Recording("a"), SERVER, "missing", "Nothing shows"),
    (Recording(None, stream=({},)), SERVER, "exact", "in one piece"),
    (Recording(None, stream=({}, {})), SERVER, "exact", "2 chunks"),
    (Recording("a"), TOOLS, "missing", "not known"),
    (Recording("a", request=Request(tools=({}, {}))), TOOLS, "exact", "2 tools"),
    (Recording("a"), START, "assumed", "not known"),
    (Recording("a", prompt_text="p"), START, "exact", "end of the prompt"),
    (Recording("a", prompt_ids=(1,)), START, "exact", "token ids"),
    (Recording("a", request=Request(prompt_tail="p")), START, "exact", "end of the prompt"),
    (Recording("a", request=Request(reasoning_open=True)), START, "exact", "reasoning block"),
    (Recording("a"), FINISH, "missing", "not recorded"),
    (Recording("a", finish_reason="stop"), FINISH, "exact", "stop"),
]


@pytest.mark.parametrize(("recording", "which", "certainty", "part"), FACTS)
def test_each_fact_follows_from_what_was_recorded(recording: Recording, which: int, certainty: str, part: str) -> None:
    fact = facts_about(recording)[which]
    assert (fact.certainty, part in fact.words) == (certainty, True), fact.words


def test_a_fact_that_is_given_stands() -> None:
    given = Fact("ids", "lossy", "some")
    assert facts_about(Recording("a"), (given,))[IDS] is given


# A recording and what is asked for.
ASKS = [
    (Recording("a"), []),
    (Recording(None, "sse_log", ids=(1,)), ["tokenizer", "tools", "reasoning_open"]),
    (Recording(None, "sse_log"), ["text", "tools", "reasoning_open"]),
    (Recording("a", "sse_log", request=Request(tools=(), prompt_tail="p")), []),
]


@pytest.mark.parametrize(("recording", "fields"), ASKS)
def test_what_is_missing_is_asked_for(recording: Recording, fields: list[str]) -> None:
    assert [ask.field for ask in missing_inputs(recording)] == fields
