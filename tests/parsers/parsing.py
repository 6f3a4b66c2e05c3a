"""Short ways to parse a text in tests, and small formats to parse it with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers.formats.model import Format, load_format
from parsers.machine.machine import Machine
from parsers.replays.replay import replay
from parsers.selection.registry import build, get_format, policies
from parsers.vocabulary.events import Diagnostic, Event
from parsers.vocabulary.trace import StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece, Tool

Calls = list[tuple[str, str]]


def deltas(*texts: str) -> list[Delta]:
    """One delta a text, each one piece without an id."""
    return [Delta(index, (Piece(text),)) for index, text in enumerate(texts, 1)]


def tokens(*pieces: str | tuple[str, int] | tuple[str, int, str]) -> list[Delta]:
    """One delta a piece with recorded ids: a text is an ordinary token, a pair a marker, a triple gives its kind."""
    made = []
    for piece in pieces:
        if isinstance(piece, str):
            made.append(Piece(piece, 1, None, "text", True))
        else:
            kind: Any = piece[2] if len(piece) == 3 else "added"
            made.append(Piece(piece[0], piece[1], None, kind, True))
    return [Delta(index, (piece,)) for index, piece in enumerate(made, 1)]


def trace_of(
    fmt: str | Format,
    *texts: str,
    policy: Mapping[str, str] | None = None,
    context: Context | None = None,
    fed: Sequence[Delta] | None = None,
    mode: Mode = "text",
    markers: Mapping[str, int] | None = None,
) -> Trace:
    """A traced replay of some deltas."""
    parser = build(get_format(fmt) if isinstance(fmt, str) else fmt, policy)
    given = deltas(*texts) if fed is None else fed
    return replay(parser, given, context or Context(), mode=mode, markers=markers)


def calls(message: Message) -> Calls:
    return [(call.name, call.arguments) for call in message.tool_calls]


def codes(trace: Trace) -> list[str]:
    """The codes of all diagnostics."""
    return [event.code for _, event in trace.events() if isinstance(event, Diagnostic)]


def rows(trace: Trace) -> list[tuple[str, str, str]]:
    """(from, trigger, to) of every row fired."""
    return [(row.from_state, row.trigger, row.to_state) for step in trace.steps for row in step.transitions]


def owners(trace: Trace) -> list[tuple[str, str]]:
    """(text, owner) of every run of the partition."""
    return [(trace.text[run.start : run.end], run.owner) for run in trace.partition]


def dropped(trace: Trace) -> list[tuple[str, str]]:
    """(text, reason) of everything dropped."""
    return [(trace.text[run.start : run.end], run.why) for run in trace.partition if run.owner == "dropped"]


def events_of(trace: Trace, kind: type[Event]) -> list[Event]:
    return [event for _, event in trace.events() if isinstance(event, kind)]


def tool(parameters: Mapping[str, Any], name: str = "f") -> Context:
    """A request with one tool of these properties."""
    return Context(tools=(Tool(name, {"type": "object", "properties": parameters}),))


def small(states: Mapping[str, Any], terminals: Mapping[str, str] | None = None, **more: Any) -> Format:
    """A format with these states; the first one is initial."""
    data = {"schema": 1, "name": "small", "title": "Small", "initial": next(iter(states)), "states": states}
    return load_format({**data, "terminals": terminals or {}, **more})


class Hasty(Machine):
    """A parser that loses the last character of a long delta."""

    @classmethod
    def build(cls, fmt: Format, policy: Mapping[str, str] | None = None) -> StreamParser:
        """What stands in the place of the registry's own."""
        return cls(fmt, policies(fmt, policy))

    def feed(self, delta: Delta) -> list[Event]:
        return super().feed(delta if len(delta.text) < 12 else Delta(delta.index, (Piece(delta.text[:-1]),)))
