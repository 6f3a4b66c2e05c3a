"""A replay that follows steps it made before comes to the message and the trace of one that makes every step."""

from __future__ import annotations

import pytest

from parsers.machine import learnt
from parsers.replays import reading
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.types import Context, Delta, Piece

CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a b c d e f", "line": 7}}\n</tool_call>\n'
AGAIN = {
    "calls": ("qwen", CALL),
    "content": ("qwen", f"Reading the file, as I was told.\n{CALL}"),
    "reasoning": ("qwen3", f"<think>I may read it, if I want to.</think>{CALL}"),
    "no call": ("json", '{"no": "name"} and '),
    "broken": ("qwen", '<tool_call>\n{"name": "f", "arguments": {"a": \n</tool_call>\n'),
    "pythonic": ("pythonic", '[read(path="a b c d", line=7)]\n'),
}


def cut(text: str) -> list[Delta]:
    return [Delta(number, (Piece(text[at : at + 4]),)) for number, at in enumerate(range(0, len(text), 4), 1)]


@pytest.mark.parametrize("name", AGAIN)
@pytest.mark.replays
def test_steps_that_are_followed_say_what_steps_that_are_made_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, text = AGAIN[name]
    deltas, fmt, context = cut(text * 60), get_format(parser), Context()
    monkeypatch.setattr(reading, "WORTH", 10**9)
    message, trace = parse(build(fmt), deltas, context), replay(build(fmt), deltas, context)
    monkeypatch.setattr(reading, "WORTH", 0)
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    assert parse(build(fmt), deltas, context) == message == trace.message
    assert replay(build(fmt), deltas, context) == trace


def test_what_is_followed_is_absorbed_and_no_parser_is_fed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, own = list[int](), reading.Reading.follow

    def follow(self: reading.Reading, at: int) -> list[learnt.Followed]:
        found = own(self, at)
        followed.extend(step[3] for step in found)
        return found

    monkeypatch.setattr(reading.Reading, "follow", follow)
    monkeypatch.setattr(learnt, "_DELTAS", 60)
    deltas = cut(CALL * 60)
    assert len(parse(build(get_format("qwen")), deltas, Context()).tool_calls) == 60
    assert sum(followed) > len(deltas) / 2


def test_a_step_behind_those_that_were_followed_is_told_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas, fmt = cut(CALL * 60 + 'So: <tool_call>\n{"name": "other", "arguments": {"x": [1'), get_format("qwen")
    monkeypatch.setattr(reading, "WORTH", 10**9)
    trace = replay(build(fmt), deltas, Context())
    monkeypatch.undo()
    monkeypatch.setattr(learnt, "_DELTAS", 60)
    assert replay(build(fmt), deltas, Context()) == trace
