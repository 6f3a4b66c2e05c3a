"""What no built-in format can do to the machine, but a format or codec of someone else's could."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, cast

import pytest

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import ArgumentParser
from parsers.formats.model import load_format
from parsers.replays.replay import replay
from parsers.selection.registry import build
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, Piece

END = {"on": "END", "to": "A"}


class Stalled(ArgumentParser):
    """An argument parser that never takes anything."""

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        return pos


def stalled(text: str, monkeypatch: pytest.MonkeyPatch) -> Trace:
    known = cast(MutableMapping[str, type[ArgumentParser]], ARGUMENT_PARSERS)
    monkeypatch.setitem(known, "stalled", Stalled)
    state: dict[str, Any] = {"codec": {"name": "stalled"}, "rows": [END], "inert": ["X"]}
    fmt = load_format(
        {"schema": 1, "name": "s", "title": "S", "initial": "A", "terminals": {"X": "<x>"}, "states": {"A": state}}
    )
    return replay(build(fmt), [Delta(1, (Piece(text),))], Context())


@pytest.mark.parametrize("text", ["abc", "<x>", "a<x>b"])
def test_a_codec_that_takes_nothing_cannot_stop_the_machine(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = stalled(text, monkeypatch)
    assert trace.message.content == text
    assert "stray_text" in [d.code for step in trace.steps for d in step.diagnostics]


def test_a_marker_without_a_row_does_not_end_the_skipping_of_a_call() -> None:
    states = {
        "A": {"text": "content", "rows": [{"on": "OPEN", "to": "CALL", "emit": ["CallStart"]}, END]},
        "CALL": {
            "codec": {"name": "json_call"},
            "rows": [
                {"on": "CLOSE", "to": "A", "emit": ["CallEnd"]},
                {"on": "REJECT", "to": "A"},
                {"on": "END", "to": "A", "emit": ["CallEnd"]},
            ],
        },
        "ELSEWHERE": {"text": "content", "rows": [{"on": "OTHER_MARK", "to": "A"}, END]},
    }
    terminals = {"OPEN": "<a>", "CLOSE": "</a>", "OTHER_MARK": "<z>"}
    fmt = load_format(
        {
            "schema": 1,
            "name": "s",
            "title": "S",
            "initial": "A",
            "terminals": terminals,
            "states": states,
            "policies": ["recovery"],
        }
    )
    marks = {text: number for number, text in enumerate(terminals.values())}
    texts = ["<a>", "oops ", "<z>", " more", "</a>", "tail"]
    pieces = [Piece(t, marks.get(t, 9), kind="added" if t in marks else "text", recorded=True) for t in texts]
    deltas = [Delta(n, (piece,)) for n, piece in enumerate(pieces, 1)]
    trace = replay(build(fmt, {"recovery": "skip_call"}), deltas, Context(), mode="ids", markers=marks)
    assert trace.message.content == "tail"
    assert not [run for run in trace.partition if run.reason == LOST]


def careless(text: str) -> Trace:
    """A format whose calls never end and may be named twice: the static check refuses it, the machine survives it."""
    states = {
        "A": {"text": "content", "rows": [{"on": "OPEN", "to": "N", "emit": ["CallStart"]}, END]},
        "N": {"text": "name", "rows": [{"on": "CLOSE", "to": "A"}, {"on": "AGAIN", "to": "N"}, END]},
    }
    terminals = {"OPEN": "<a>", "CLOSE": "</a>", "AGAIN": "<n>"}
    fmt = load_format(
        {"schema": 1, "name": "s", "title": "S", "initial": "A", "terminals": terminals, "states": states}
    )
    trace = replay(build(fmt), [Delta(n, (Piece(char),)) for n, char in enumerate(text, 1)], Context())
    assert not [run for run in trace.partition if run.reason == LOST]
    return trace


@pytest.mark.parametrize(
    ("text", "names"),
    [("<a>f</a>", ["f"]), ("<a>f</a>x", ["f"]), ("<a>f</a><a>g</a>", ["f", "g"]), ("<a>f<n>g</a>", ["f"])],
)
def test_calls_that_a_format_never_ends_or_names_twice_are_calls_once(text: str, names: list[str]) -> None:
    trace = careless(text)
    assert [call.name for call in trace.message.tool_calls] == names
    assert not trace.steps[-1].holds
