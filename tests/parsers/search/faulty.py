"""Parsers that are broken on purpose, and the engine that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import ENGINES, Choice, Engine, builtin
from parsers.cases.io import load_case
from parsers.machine.machine import Machine
from parsers.replays.recorded import BlackBox
from parsers.selection.registry import Evidence, get_format, policies
from parsers.vocabulary.events import CallArguments, CallEnd, CallStart, ContentText, Event, Segment
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, ToolCallDelta

Change = Callable[[list[Event], str], list[Event]]


class Faulty(Machine):
    """A built-in parser whose events are changed, delta by delta."""

    def __init__(self, name: str, change: Change) -> None:
        super().__init__(get_format(name), policies(get_format(name)))
        self._change = change

    def feed(self, delta: Delta) -> list[Event]:
        return self._change(super().feed(delta), delta.text)


def loses_second_call(events: list[Event], _: str) -> list[Event]:
    """Of two calls that begin in one delta the second is lost."""
    begun = [event.call for event in events if isinstance(event, CallStart)]
    return [event for event in events if getattr(event, "call", None) not in begun[1:]]


def drops_text_after_call(events: list[Event], _: str) -> list[Event]:
    """Text in the delta that ends a call is lost."""
    ended = next((at for at, event in enumerate(events) if isinstance(event, CallEnd)), len(events))
    return [event for at, event in enumerate(events) if at < ended or not isinstance(event, ContentText)]


def flushes_angle(events: list[Event], text: str) -> list[Event]:
    """A delta that ends in < sends it at once, whatever comes of it."""
    if not text.endswith("<"):
        return events
    at = events[-1].end if events else 0
    return [*events, ContentText(at, at, "<", (Segment("<", at, at, "synthetic"),))]


def loses_brace(events: list[Event], _: str) -> list[Event]:
    """The last brace of arguments is lost when the call ends in the same delta."""
    if any(isinstance(event, CallEnd) for event in events):
        for event in events:
            if isinstance(event, CallArguments) and event.text.endswith("}"):
                event.text, event.segments = event.text[:-1], None
                event.end -= 1
    return events


def fails_on_lone_quote(events: list[Event], text: str) -> list[Event]:
    """A delta of one quote is an index error."""
    if text.strip() == '"':
        raise IndexError("string index out of range")
    return events


class LeaksMarkers:
    """A foreign parser that looks for its markers in one delta at a time."""

    OPEN, CLOSE = "<tool_call>", "</tool_call>"
    _inside: list[str] | None

    def begin(self, context: Context) -> None:
        self._inside = None
        self._calls = 0

    def feed(self, delta: Delta) -> MessageDelta | None:
        text, sent = delta.text, MessageDelta()
        while text:
            if self._inside is None:
                before, marker, text = text.partition(self.OPEN)
                sent.content = (sent.content or "") + before or None
                self._inside = [] if marker else None
                continue
            inside, marker, text = text.partition(self.CLOSE)
            self._inside.append(inside)
            if marker:
                sent.tool_calls.append(self._call("".join(self._inside)))
                self._inside = None
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None

    def _call(self, body: str) -> ToolCallDelta:
        self._calls += 1
        name = body.partition('"name": "')[2].partition('"')[0]
        arguments = body.partition('"arguments": ')[2].rstrip().removesuffix("}")
        return ToolCallDelta(self._calls - 1, f"call-{self._calls}", name, arguments)


def engine(make: Callable[[str], StreamParser], *, black_box: bool = False) -> Engine:
    """An engine that runs these parsers in place of the built-in one."""

    def run(case: Case, evidence: Evidence) -> Choice:
        plain = case.model_copy(update={"parser": ParserRef(name=case.parser.name)})
        choice = builtin(plain, evidence)
        return replace(choice, make=lambda: make(choice.format.name), black_box=black_box)

    return run


def engines(change: Change) -> Mapping[str, Engine]:
    """Engines among which `faulty` changes events."""
    return {**ENGINES, "faulty": engine(lambda name: Faulty(name, change))}


LEAKY: Mapping[str, Engine] = {
    **ENGINES,
    "faulty": engine(lambda name: BlackBox(name, LeaksMarkers()), black_box=True),
}


def characters_of(text: str) -> list[Piece]:
    """The tokens of a model that has one for each character."""
    return [Piece(char, ord(char)) for char in text]


def case_of(text: str | Sequence[str], name: str = "qwen", **more: object) -> Case:
    """A case that the faulty engine runs, with a token of the model for each character: so all cuts between them are
    honest."""
    tokens = [[piece.token_id, piece.text] for piece in characters_of("".join(text))]
    parser = {"name": name, "engine": "faulty"}
    own = {"tokenizer": {"name": "own"}}
    return load_case({"schema": 1, "parser": parser, "input": {"tokens": tokens}, **own, **more})
