"""What follows from a recording, how the missing is asked for, and the commands that would record it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from parsers.intake.captures import ANY, PICKLE, SERVERS, captures
from parsers.intake.curl import curls
from parsers.intake.facts import asks, facts
from parsers.intake.jsonread import whole_characters
from parsers.intake.model import Fact
from parsers.intake.requests import request_of
from parsers.intake.unquote import printed_bytes, unescaped, unescaped_bytes
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
    fact = facts(recording)[which]
    assert (fact.certainty, part in fact.words) == (certainty, True), fact.words


def test_a_fact_that_is_given_stands() -> None:
    given = Fact("ids", "lossy", "some")
    assert facts(Recording("a"), (given,))[IDS] is given


# A recording and what is asked for.
ASKS = [
    (Recording("a"), []),
    (Recording(None, "sse_log", ids=(1,)), ["tokenizer", "tools", "reasoning_open"]),
    (Recording(None, "sse_log"), ["text", "tools", "reasoning_open"]),
    (Recording("a", "sse_log", request=Request(tools=(), prompt_tail="p")), []),
]


@pytest.mark.parametrize(("recording", "fields"), ASKS)
def test_what_is_missing_is_asked_for(recording: Recording, fields: list[str]) -> None:
    assert [ask.field for ask in asks(recording)] == fields


@pytest.mark.parametrize("server", SERVERS)
def test_the_command_of_the_server_comes_first_and_all_are_there(server: str) -> None:
    found = captures(server)
    assert found[0].server == server
    assert {capture.server for capture in found} == set(SERVERS)


@pytest.mark.parametrize("server", [None, "no such server"])
def test_where_the_server_is_not_known_the_command_that_fits_any_comes_first(server: str | None) -> None:
    assert captures(server)[0].server == ANY


@pytest.mark.parametrize("capture", captures(None), ids=SERVERS)
def test_the_commands_can_be_pasted_into_a_shell(capture: Any) -> None:
    assert shlex.split(capture.command)
    for curl in curls(capture.command):
        assert curl.url.startswith("http://localhost:")
        assert isinstance(request_of(json.loads(curl.data[0])), Request)
        assert not curl.unclosed


def test_the_script_for_pickles_is_short_and_only_for_its_owner() -> None:
    assert len(PICKLE.command.splitlines()) <= 13
    assert "yourself" in PICKLE.words


# The inside of a quoted string, and what it stands for.
ESCAPES = [
    ("plain", "plain"),
    (r"a\nb\tc\\d\"e\'", "a\nb\tc\\d\"e'"),
    (r"\x41\u00e9\U0001f600\101", "Aé😀A"),
    (r"\U0011ffff", r"\U0011ffff"),
    (r"\q\/", r"\q/"),
    ("a\\\nb", "ab"),
]


@pytest.mark.parametrize(("inner", "text"), ESCAPES)
def test_escapes_are_read_as_programs_write_them(inner: str, text: str) -> None:
    assert unescaped(inner) == text


# A line, and the text whose bytes it prints.
PRINTED = [
    (r"b'\xf0\x9f\x98\x80'", "😀"),
    (r"x=b'\xff'", "\ufffd"),
    ('got b"it\'s"),', "it's"),
    ("b'é'", "\ufffd"),
    ("b'Ā'", "Ā"),
    ("b'open", None),
    ("b'", None),
    ("ab'c'", None),
    ("'text'", None),
]


@pytest.mark.parametrize(("line", "text"), PRINTED)
def test_printed_bytes_are_read_as_text(line: str, text: str | None) -> None:
    assert printed_bytes(line) == text


def test_bytes_of_letters_are_their_letters() -> None:
    assert unescaped_bytes("abc") == "abc"


def test_an_object_too_deep_to_be_written_is_empty() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert whole_characters({"a": deep}) == {}


def test_more_commands_than_anybody_pastes_are_text() -> None:
    assert len(list(curls("curl x\n" * 50))) == 20
