"""No check without a broken parser that it catches: those that the other tables of faults leave out, and the count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from parsers.checks import CHECKS
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Dropped,
    Event,
    Marker,
    ReasoningText,
)
from parsers.vocabulary.types import Context, Tool
from tests.parsers.checks import test_faults, test_faults_black_box, test_variant_faults
from tests.parsers.checks.broken import Fault, open_box
from tests.parsers.checks.test_faults import TEXT, TOOLS, Changes, Coerces, is_, with_
from tests.parsers.search import test_unseen_faults

ENDED = "All is well.<|im_end|>"
THOUGHT = "<think>It is sunny.</think>Sunny."
FORCED = Context(TOOLS.tools, tool_choice="required")
TYPED = Context((Tool("show", {"type": "object", "properties": {"zip": {"type": "string"}}}),))


class Case(NamedTuple):
    """A fault, an output in which it shows, and what the finding says."""

    check: str
    fault: Callable[[], Fault]
    words: str
    text: str = TEXT
    context: Context = TOOLS


def as_reasoning(text: str) -> Callable[[Event], list[Event]]:
    return lambda event: [ReasoningText(event.start, event.end, text[event.start : event.end])]


def as_content(text: str) -> Callable[[Event], list[Event]]:
    return lambda event: [ContentText(event.start, event.end, text[event.start : event.end])]


FAULTS = [
    Case("no_reasoning_leak", lambda: Changes(is_(Marker), as_reasoning(TEXT)), "`<think>` leaks into the reasoning"),
    Case("no_control_tokens", lambda: Changes(is_(Dropped, Marker), as_content(ENDED)), "`<|im_end|>`", ENDED),
    Case("known_tool", lambda: Changes(is_(CallName), with_(text="city", segments=())), "`city`"),
    Case(
        "calls_apart",
        lambda: Changes(is_(CallArguments, call=1), lambda e: [e, CallArguments(e.end, e.end, " ", (), 0)]),
        "Call 0 goes on after call 1 began.",
    ),
    Case("arguments_schema", Coerces, "zip"),
    Case(
        "call_as_asked",
        lambda: Changes(is_(CallStart, CallName, CallId, CallArguments, CallEnd), lambda _: [], first=False),
        "requires a call",
        context=FORCED,
    ),
    Case(
        "answer_only_in_reasoning",
        lambda: Changes(is_(ContentText), as_reasoning(THOUGHT), first=False),
        "All of the output is reasoning",
        THOUGHT,
        Context(finish_reason="stop"),
    ),
]

ROOT = Path(__file__).resolve().parents[3]

# What no parser alone can break, and the test that breaks it otherwise.
ELSEWHERE = {
    "monotone": "a message is what its deltas add up to: tests/parsers/checks/test_deltas.py builds others",
    "decodes_alike": "the detokenizer's fault: tests/parsers/checks/test_characters.py",
    "ids_with_text": "the server's fault: tests/parsers/checks/test_characters.py",
    "bookkeeping": "the serving layer's lists: tests/parsers/checks/test_references.py",
    "rerenders": "the chat template's doing: tests/parsers/checks/test_rerenders.py",
    "schema_changes": "the schema's doing: tests/parsers/checks/test_metamorphic_request.py",
    "deltas_build_message": "the server's fault: tests/parsers/checks/test_server_stream.py",
    "finish_reason": "the server's fault: tests/parsers/checks/test_server_stream.py",
    "server_agrees": "the server's fault: tests/parsers/checks/test_server_stream.py",
    "chunk_shape": "the server's fault: tests/parsers/checks/test_server_stream.py",
    "no_structure_sent": "a matter of black boxes: tests/parsers/checks/test_structure.py",
    "nothing_left_over": "the server's fault: tests/parsers/checks/test_left_over.py",
    "sent_once": "the server's fault: tests/parsers/checks/test_said_again.py",
    "calls_as_promised": "a matter of contracts: tests/parsers/checks/test_departures.py",
}


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.check)
def test_the_check_catches_its_fault(case: Case) -> None:
    findings, _ = open_box("qwen", case.text, case.fault(), case.context)
    assert [found for found in findings if found.check == case.check and case.words in found.message], findings


@pytest.mark.replays
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.check)
def test_without_the_fault_it_is_silent(case: Case) -> None:
    findings, _ = open_box("qwen", case.text, Fault(), case.context)
    assert [found for found in findings if found.check == case.check] == []


def test_every_check_catches_a_broken_parser() -> None:
    tables = (test_faults.FAULTS, test_faults_black_box.FAULTS, test_variant_faults.FAULTS)
    caught = {case.check for case in FAULTS} | {fault.check for table in tables for fault in table.values()}
    caught |= {seen.check for seen in test_unseen_faults.FAULTS}
    assert CHECKS.keys() - caught == ELSEWHERE.keys()
    for reason in ELSEWHERE.values():
        assert (ROOT / reason.rpartition(": ")[2].split()[0]).is_file(), reason
