"""A case as one stand-alone pytest file.

Strategy: the file is fixed code around literals. Every literal is written by `repr`, so that no text of a case can
become code. The fixed code needs pytest and the standard library; only the default body of `make_parser`, the one
function a user replaces, imports the installed inspector.

Invariants: same case, same file; what is compared is what `parsers.cases.expect` compares, except the finish reason,
which a server decides around its parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.cases import jsontext
from parsers.cases.io import one_line, to_data
from parsers.cases.model import Case, Expect, ExpectedCall
from parsers.replays.chunking import DEFAULT_COMPARED, Chunking, Sent, apply, label
from parsers.vocabulary.types import Delta, Piece, UsageError

_PARSER_KEYS = ("schema", "source", "parser", "input", "tokenizer", "tools", "context")

_HEAD = '''\
"""One model output, cut into deltas in several ways, and the message that must come out each time.

Exported by Toolcall Inspector. Run it with `pytest`. To test another parser, replace the body of `make_parser`;
nothing else here knows which parser runs. The finish reason is not compared: servers decide it around the parser.
"""

from __future__ import annotations

import json
from collections import deque

import pytest
'''

_BODY = '''\
OUTPUT = "".join([token[1] for token in CASE["input"]["tokens"]])


def make_parser():
    """Make a fresh parser: an object with two methods.

    feed(text: str, ids: list[int]) -> list of OpenAI-style deltas (dicts with reasoning, content, tool_calls);
    finish(reason: str | None) -> list of such deltas: what was still held back when the output ended.
    """
    from parsers.wire.assemble import Assembler
    from parsers.cases.io import load_case
    from parsers.vocabulary.types import Delta
    from webapp.engines import choose

    case = load_case(CASE)
    parser = choose(case).make()
    parser.begin(case.to_context(), mode=case.mode(), markers=case.markers())
    return InspectorParser(parser, Assembler(), case.pieces(), Delta)


class InspectorParser:
    """The default parser behind the two methods. It finds the pieces of the output again by the length of the text."""

    def __init__(self, parser, assembler, pieces, make_delta):
        self.parser, self.assembler, self.make_delta = parser, assembler, make_delta
        self.pieces = deque(pieces)
        self.fed = 0

    def feed(self, text, ids):
        self.fed += 1
        delta = self.make_delta(self.fed, tuple(self.take(len(text))))
        if delta.token_ids != tuple(ids):
            delta.early_ids = tuple(ids)
        return self.sent(self.parser.feed(delta))

    def finish(self, reason):
        return self.sent(self.parser.finish(reason))

    def sent(self, events):
        delta = self.assembler.add(events)
        return [] if delta is None else [delta.to_openai()]

    def take(self, size):
        while self.pieces and len(self.pieces[0].text) <= size:
            size -= len(self.pieces[0].text)
            yield self.pieces.popleft()
        if size:
            whole = self.pieces.popleft()
            rest = type(whole)(whole.text[size:], kind=whole.kind, recorded=whole.recorded)
            self.pieces.appendleft(rest)
            yield type(whole)(whole.text[:size], whole.token_id, whole.raw, whole.kind, whole.recorded)


def accumulate(deltas):
    """Build the message as a client does: text is appended, parts of a call go to the call of their index."""
    reasoning, content, calls = [], [], {}
    for delta in deltas:
        reasoning.append(delta.get("reasoning") or delta.get("reasoning_content") or "")
        content.append(delta.get("content") or "")
        for part in delta.get("tool_calls") or []:
            call = calls.setdefault(part["index"], {"name": [], "arguments": []})
            function = part.get("function") or {}
            call["name"].append(function.get("name") or "")
            call["arguments"].append(function.get("arguments") or "")
    order = sorted(calls) if CALLS_BY_INDEX else calls
    return {
        "reasoning": "".join(reasoning),
        "content": "".join(content),
        "tool_calls": [{key: "".join(parts) for key, parts in calls[index].items()} for index in order],
    }


def replay(deltas):
    parser = make_parser()
    sent = [delta for text, ids in deltas for delta in parser.feed(text, ids)]
    sent += parser.finish(FINISH_REASON)
    return accumulate(sent)


def words(text):
    return text.split() if SOFT_WHITESPACE else text


def same(a, b):
    """Whether two JSON values are equal: true is not 1, the order of keys does not matter."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def assert_arguments(expected, actual):
    if "raw" in expected:
        assert actual == expected["raw"]
        return
    try:
        value = json.loads(actual)
    except ValueError:
        pytest.fail(f"the arguments are not JSON: {actual!r}, expected {expected['arguments']!r}")
    assert same(value, expected["arguments"]), f"arguments are {actual!r}, expected {expected['arguments']!r}"


@pytest.mark.parametrize("deltas", list(CHUNKINGS.values()), ids=list(CHUNKINGS))
def test_the_chunking_holds_the_whole_output(deltas):
    assert "".join([text for text, _ in deltas]) == OUTPUT


@pytest.mark.parametrize("deltas", list(CHUNKINGS.values()), ids=list(CHUNKINGS))
def test_the_message_is_as_expected(deltas):
    message = replay(deltas)
    for field in ("reasoning", "content"):
        if field in EXPECT:
            assert words(message[field]) == words(EXPECT[field]), field
    if "tool_calls" in EXPECT:
        assert [call["name"] for call in message["tool_calls"]] == [call["name"] for call in EXPECT["tool_calls"]]
        for call, expected in zip(message["tool_calls"], EXPECT["tool_calls"]):
            assert_arguments(expected, call["arguments"])
'''


def pytest_file(
    case: Case,
    pieces: Sequence[Piece] | None = None,
    *,
    expect: Expect | None = None,
    parser: str | None = None,
    keep_engine: bool = False,
    chunkings: Sequence[Chunking] | None = None,
    due: Sequence[int] | None = None,
    sent: Sent | None = None,
) -> str:
    """The text of a test file for `case`.

    `pieces` defaults to the case's own tokens, `expect` to the case's own expectation, `chunkings` to the case's
    followed by the default ones. `parser` names the built-in parser where the case says "auto" or a foreign engine;
    `keep_engine`: the engine of the case comes with the inspector, so the default parser can run it.
    `due` and `sent` shape the deltas as `parsers.replays.chunking.apply` has it; tokens that a decode policy changes
    are given as they were decoded, in a case without one (`parsers.cases.run.settled_case`).
    The file grows with output length times number of chunkings. Raises UsageError where something is missing.
    """
    wanted = expect or case.expect
    if wanted is None:
        raise UsageError("this case expects nothing yet: accept today's result, or write what is right, then export")
    found = case.pieces() if pieces is None else tuple(pieces)
    if found is None:
        raise UsageError("this case stores no tokens: give the pieces a tokenizer made of its text")
    chosen = dict.fromkeys((*case.replay, *DEFAULT_COMPARED) if chunkings is None else chunkings)
    if not chosen:
        raise UsageError("give at least one chunking to test")
    literals = [
        _constant("TITLE", case.title or ""),
        _constant("CASE", _parser_data(case.with_pieces(found), parser, keep_engine), inline=True),
        _constant("EXPECT", _expected(wanted)),
        _constant("SOFT_WHITESPACE", case.compare.whitespace == "soft"),
        _constant("CALLS_BY_INDEX", case.compare.calls == "index"),
        _constant("FINISH_REASON", case.context.finish_reason),
        _chunkings({chunking: apply(chunking, found, case.mode(), due=due, sent=sent) for chunking in chosen}),
    ]
    return "\n".join([_HEAD, *literals, _BODY])


def _parser_data(case: Case, name: str | None, keep_engine: bool) -> dict[str, Any]:
    """What the default parser needs of the case, with a built-in parser named."""
    data = to_data(case)
    if case.parser.name == "auto" or (case.parser.engine is not None and not keep_engine):
        if name is None:
            raise UsageError("name the built-in parser that the test file shall run: the case does not")
        data["parser"] = {**data["parser"], "name": name}
        data["parser"].pop("engine", None)
    data["input"] = {"tokens": data["input"]["tokens"]}
    return {key: data[key] for key in _PARSER_KEYS if key in data}


def _expected(expect: Expect) -> dict[str, Any]:
    """The expectation with only what is checked, each text as one string."""
    texts = {"reasoning": expect.reasoning, "content": expect.content}
    found: dict[str, Any] = {field: text for field, text in texts.items() if text is not None}
    if expect.tool_calls is not None:
        found["tool_calls"] = [_expected_call(call) for call in expect.tool_calls]
    return found


def _expected_call(call: ExpectedCall) -> dict[str, Any]:
    if call.raw is not None:
        return {"name": call.name, "raw": call.raw}
    return {"name": call.name, "arguments": call.arguments}


def _chunkings(chunkings: Mapping[Chunking, Sequence[Delta]]) -> str:
    rows: dict[str, list[Any]] = {}
    for chunking, deltas in chunkings.items():
        rows[_free_label(label(chunking), rows)] = [[delta.text, list(delta.token_ids)] for delta in deltas]
    literal = jsontext.pretty(rows, lambda path: len(path) == 2, repr)
    return f"# How the output arrives: for each chunking its deltas, as text and token ids.\nCHUNKINGS = {literal}\n"


def _free_label(name: str, taken: dict[str, list[Any]]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _constant(name: str, value: Any, *, inline: bool = False) -> str:
    literal = jsontext.pretty(value, one_line if inline else (lambda path: False), repr)
    return f"{name} = {literal}"
