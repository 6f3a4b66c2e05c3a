"""Parsers that show their work and are broken in one way each: the right check says so, and points at the fault."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    ContentText,
    Event,
    Marker,
    ReasoningText,
    Segment,
)
from parsers.vocabulary.trace import Hold, StateView
from parsers.vocabulary.types import Context, MessageDelta, Tool
from tests.parsers.checks.broken import Fault, open_box

TEXT = (
    "<think>Where is it?</think>I look it up. <tool_call>\n"
    '{"name": "find", "arguments": {"city": "New York"}}\n</tool_call>\n<tool_call>\n'
    '{"name": "show", "arguments": {"zip": "02134"}}\n</tool_call> Done.'
)
STRING = {"type": "string"}
TOOLS = Context(
    (
        Tool("find", {"type": "object", "properties": {"city": STRING}}),
        Tool("show", {"type": "object", "properties": {"zip": STRING}}),
    )
)
Change = Callable[[Event], list[Event]]


class Changes(Fault):
    """Every event that `when` picks becomes others; `first` only the first one of an output."""

    def __init__(self, when: Callable[[Event], bool], change: Change, *, first: bool = True) -> None:
        super().__init__()
        self.when, self.change, self.first, self.done = when, change, first, False

    def begin(self) -> None:
        self.done = False

    def events(self, number: int, events: list[Event]) -> list[Event]:
        out = []
        for event in events:
            if self.when(event) and not (self.done and self.first):
                self.done = True
                self.mark(number)
                out += self.change(event)
            else:
                out.append(event)
        return out


class Later(Fault):
    """Events that `when` picks are sent some deltas late, without a word."""

    def __init__(self, when: Callable[[Event], bool], deltas: int) -> None:
        super().__init__()
        self.when, self.deltas = when, deltas
        self.kept: list[tuple[int, Event]] = []

    def begin(self) -> None:
        self.kept = []

    def events(self, number: int, events: list[Event]) -> list[Event]:
        self.kept += [(number + self.deltas, event) for event in events if self.when(event)]
        if self.kept:
            self.mark(number)
        out = [event for event in events if not self.when(event)]
        out += [event for due, event in self.kept if due <= number or self.text.endswith("Done.")]
        self.kept = [(due, e) for due, e in self.kept if due > number and not self.text.endswith("Done.")]
        return out


class Throws(Fault):
    def events(self, number: int, events: list[Event]) -> list[Event]:
        if "zip" in self.text:
            self.mark(number)
            raise KeyError("zip")
        return events

    def delta(self, number: int, delta: MessageDelta | None) -> MessageDelta | None:
        self.events(number, [])
        return delta


class Square(Fault):
    def cost(self, examined: int) -> int:
        return examined * examined


class LeaksPrefix(Fault):
    def events(self, number: int, events: list[Event]) -> list[Event]:
        if self.text.endswith("up. <tool"):
            return events  # the token is `_call`, see below
        if self.text.endswith("up. <") and not self.hit:
            self.mark(number)
            at = len(self.text)
            return [*events, ContentText(at - 1, at, "<")]
        return events


class Holds(Fault):
    def __init__(self, hold: Callable[[str], Hold | None]) -> None:
        super().__init__()
        self.hold = hold

    def view(self, view: StateView) -> StateView:
        hold = self.hold(self.text)
        return view if hold is None else replace(view, holds=(*view.holds, hold))


def is_text(words: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, ContentText) and words in event.text


def is_(*kinds: type[Event], call: int | None = None) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, kinds) and (call is None or getattr(event, "call", None) == call)


def args(words: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, CallArguments) and words in event.text


def has_call(event: Event) -> bool:
    return hasattr(event, "call")


def renumbered(number: Callable[[int], int]) -> Change:
    """The event of a call, with the call's number changed."""

    def change(event: Event) -> list[Event]:
        changed: Any = copy(event)
        changed.call = number(changed.call)
        return [changed]

    return change


def with_(**fields: Any) -> Change:
    return lambda event: [replace(event, **fields)]


def made(kind: type[Any], text: str, **fields: Any) -> Change:
    """The event, and one more with text that comes from nowhere."""
    return lambda event: [
        event,
        kind(event.end, event.end, text, (Segment(text, event.end, event.end, "synthetic"),), **fields),
    ]


class Repeats(Fault):
    """The name is sent again with the first arguments."""

    def events(self, number: int, events: list[Event]) -> list[Event]:
        if self.hit is None and any(isinstance(event, CallArguments) for event in events):
            self.mark(number)
            return [CallName(len(self.text), len(self.text), "find", ()), *events]
        return events


class Coerces(Fault):
    """A string of digits is a number to it."""

    def events(self, number: int, events: list[Event]) -> list[Event]:
        return [self.number_of(number, event) if args("")(event) else event for event in events]

    def number_of(self, number: int, event: Event) -> Event:
        if (
            not isinstance(event, CallArguments)
            or event.call == 0
            or any(mark in event.text for mark in (":", "zip", "{"))
        ):
            return event
        if "02134" in event.text:
            self.mark(number)
        behind = ":" in self.text.partition("zip")[2]
        text = event.text.replace('"', "" if behind else '"').replace("02134", "2134")
        return replace(event, text=text, segments=())


class Case(NamedTuple):
    """`words` stand in the message of the finding; `about` whose fault it is said to be."""

    fault: Callable[[], Fault]
    check: str
    words: str
    severity: str = "error"
    pointed: bool = True


FAULTS = {
    "a delta is lost": Case(
        lambda: Changes(is_text("look"), lambda _: []),
        "spans_cover_input",
        "Characters 29 to 33 of the output were lost.",
    ),
    "the tail is swallowed": Case(
        lambda: Changes(is_text("Done"), lambda _: []),
        "spans_cover_input",
        "Characters 190 to 195 of the output were lost.",
        pointed=False,
    ),
    "everything is lost": Case(
        lambda: Changes(lambda _: True, lambda _: [], first=False),
        "all_output_lost",
        "the message is empty",
        pointed=False,
    ),
    "a delta is doubled": Case(
        lambda: Changes(is_text("look"), lambda event: [event, event]),
        "no_double_ownership",
        "29 to 33 of the output were sent twice",
    ),
    "reasoning is content as well": Case(
        lambda: Changes(
            is_(ReasoningText), lambda e: [e, ContentText(e.start, e.end, TEXT[e.start : e.end])], first=False
        ),
        "no_double_ownership",
        "were sent to both",
    ),
    "text is made up": Case(lambda: Changes(is_text("look"), made(ContentText, "Sure!")), "nothing_invented", "Sure!"),
    "text is changed": Case(
        lambda: Changes(is_text("look"), with_(text="cook")), "spans_cover_input", "claims to copy characters 29 to 33"
    ),
    "a name is changed": Case(
        lambda: Changes(is_(CallName), with_(text="lookup_now", segments=())),
        "nothing_invented",
        "The name of call 0 (`lookup_now`) is not in the output",
    ),
    "an argument is made up": Case(
        lambda: Changes(args("York"), with_(text="Amsterdam", segments=())), "nothing_invented", "`Amsterdam`"
    ),
    "a marker leaks": Case(
        lambda: Changes(is_(Marker), lambda e: [ContentText(e.start, e.end, TEXT[e.start : e.end])], first=False),
        "no_terminal_leak",
        "leaks into the content, while the parser itself reads it as a marker",
        pointed=False,
    ),
    "the beginning of a marker leaks": Case(LeaksPrefix, "no_early_leak", "`<` is sent in the content"),
    "a closing marker ends up in the arguments": Case(
        lambda: Changes(is_(CallEnd), lambda e: [CallArguments(e.start, e.start, "</tool_call>", ()), e]),
        "no_argument_leak",
        "`</tool_call>` stands among the arguments",
    ),
    "calls are numbered from one": Case(
        lambda: Changes(
            has_call,
            renumbered(lambda call: call + 1),
            first=False,
        ),
        "index_dense",
        "Call 1 begins where call 0 should.",
    ),
    "calls are swapped": Case(
        lambda: Changes(
            has_call,
            renumbered(lambda call: 1 - call),
            first=False,
        ),
        "index_dense",
        "Call 1 begins where call 0 should.",
    ),
    "the id comes late": Case(lambda: Later(is_(CallId), 1), "id_once", "Call 0 begins without an id."),
    "ids are shared": Case(
        lambda: Changes(is_(CallId), with_(text="call_0", segments=()), first=False),
        "id_once",
        "Calls 0 and 1 have the same id.",
        pointed=False,
    ),
    "the name comes late": Case(
        lambda: Later(is_(CallName), 9), "name_once_before_arguments", "are sent before its name.", pointed=False
    ),
    "the name comes twice": Case(Repeats, "name_once_before_arguments", "sent again"),
    "the name is empty": Case(
        lambda: Changes(is_(CallName), with_(text="", segments=())),
        "no_empty_delta",
        "The name of call 0 is sent empty.",
    ),
    "an old call goes on": Case(
        lambda: Changes(is_(CallArguments, call=1), lambda e: [e, CallArguments(e.end, e.end, " ", (), 0)]),
        "arguments_closed",
        "Arguments of call 0 are sent after its end.",
    ),
    "the last brace is lost": Case(
        lambda: Changes(args("}"), lambda e: [Marker(e.start, e.end)]),
        "arguments_closed",
        "The arguments of call 0 (`find`) are left open",
        pointed=False,
    ),
    "a brace too many": Case(
        lambda: Changes(args("}"), made(CallArguments, "}", call=0)),
        "arguments_json",
        "are no JSON object: at character 20 of the arguments `}` stands after its end",
        pointed=False,
    ),
    "a string becomes a number": Case(
        Coerces, "strings_whole", "`zip` of call 1 (`show`) is declared a string and has become 2134."
    ),
    "a character is damaged": Case(
        lambda: Changes(is_text("look"), made(ContentText, "\ufffd")), "utf8_clean", "could not be decoded"
    ),
    "the answer stays reasoning": Case(
        lambda: Changes(
            is_(ContentText), lambda e: [ReasoningText(e.start, e.end, TEXT[e.start : e.end])], first=False
        ),
        "reasoning_boundary",
        "Text after `</think>` is sent as reasoning.",
    ),
    "text waits for nothing": Case(
        lambda: Later(is_(ContentText, ReasoningText, CallArguments, Marker), 999),
        "emission_lag",
        "are neither sent nor held for a stated reason",
        severity="warning",
        pointed=False,
    ),
    "it holds too much": Case(
        lambda: Holds(lambda text: Hold(0, 40, "lexer", "maybe") if len(text) == 41 else None),
        "held_bounded",
        "Up to 40 characters are held for a marker",
        pointed=False,
    ),
    "it never lets go": Case(
        lambda: Holds(lambda text: Hold(len(text) - 1, len(text), "policy", "who knows")),
        "ends_idle",
        "are still held after the end: who knows.",
        pointed=False,
    ),
    "it throws": Case(Throws, "parser_raised", "KeyError: 'zip'"),
    "its work grows with the square": Case(Square, "linear_time", "examine 4.", severity="warning", pointed=False),
}


def test_a_right_parser_is_blamed_for_nothing() -> None:
    findings, trace = open_box("qwen", TEXT, Fault(), TOOLS)
    assert findings == []
    assert [call.arguments for call in trace.message.tool_calls] == ['{"city": "New York"}', '{"zip": "02134"}']


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
@pytest.mark.replays
def test_a_broken_parser_is_found_and_explained(case: Case) -> None:
    fault = case.fault()
    findings, trace = open_box("qwen", TEXT, fault, TOOLS)
    found = next((finding for finding in findings if finding.check == case.check), None)
    assert found is not None, findings
    assert case.words in found.message
    assert found.severity == case.severity
    if case.pointed:
        assert found.step == fault.hit, (found, trace.steps[fault.hit or 0])


def test_one_failure_is_one_finding() -> None:
    findings, _ = open_box("qwen", TEXT, Throws(), TOOLS)
    assert [finding.check for finding in findings if finding.severity != "info"] == ["parser_raised"]
