"""Parsers that are broken in one way each: the checks of changed outputs catch them, say where, and prove it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest

from parsers.checks import run_checks
from parsers.replays.chunking import TRACED, Chunking
from parsers.replays.edits import edited
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.search import Search
from parsers.search.variants import total, variants
from parsers.selection.registry import build, get_format, policies
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Event,
    Segment,
)
from parsers.vocabulary.trace import Finding, RejectedCall, StateView, StreamParser, Transition
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, Mode, Piece, Tool, ToolCallDelta
from tests.parsers.checks.subjects import subject

CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "New York City"}}\n</tool_call>'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = Context((Tool("find", SCHEMA),))


class Wrapped:
    """A built-in parser whose parts a fault replaces."""

    def __init__(self, name: str = "qwen") -> None:
        self.inner = build(get_format(name))
        self.name = name
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self.examined = 0
        self.open: int | None = None
        self.arguments = ""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        self.inner.transitions = self.transitions
        self.open, self.arguments = None, ""
        self.inner.begin(context, mode=mode, markers=markers)
        self.rejected, self.examined = self.inner.rejected, 0

    def feed(self, delta: Delta) -> list[Event]:
        events = self.seen(self.inner.feed(delta))
        self.examined = self.inner.examined
        return events

    def finish(self, reason: str | None = None) -> list[Event]:
        return self.seen(self.inner.finish(reason))

    def view(self) -> StateView:
        return self.inner.view()

    def seen(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, CallStart):
                self.open, self.arguments = event.call, ""
            elif isinstance(event, CallArguments):
                self.arguments += event.text
            elif isinstance(event, CallEnd):
                self.open = None
        return events


class LeaksState(Wrapped):
    """What was left unsent at the end of one output is said at the beginning of the next."""

    rest = ""

    def finish(self, reason: str | None = None) -> list[Event]:
        self.rest = "…"
        return super().finish(reason)

    def feed(self, delta: Delta) -> list[Event]:
        rest, self.rest = self.rest, ""
        events = super().feed(delta)
        return [ContentText(0, 0, rest, (Segment(rest, 0, 0, "synthetic"),)), *events] if rest else events


class Guesses(Wrapped):
    """A call that is cut off is closed and called whole."""

    def finish(self, reason: str | None = None) -> list[Event]:
        call, told = self.open, self.arguments
        events = [event for event in super().finish(reason) if not isinstance(event, CallEnd) or event.complete]
        if call is None or not (events or told):
            return events
        rest = '"}' if told.count('"') % 2 else "}"
        at = 10_000
        return [
            *events,
            CallArguments(at, at, rest, (Segment(rest, at, at, "synthetic"),), call),
            CallEnd(at, at, call),
        ]


class ThrowsOnDouble(Wrapped):
    """Two markers in a row are too much."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        super().begin(context, mode=mode, markers=markers)
        self.text = ""

    def feed(self, delta: Delta) -> list[Event]:
        self.text += delta.text
        if "<tool_call><tool_call>" in self.text:
            raise KeyError("name")
        return super().feed(delta)


class Latches(Wrapped):
    """After one diagnostic no call is sent any more."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        super().begin(context, mode=mode, markers=markers)
        self.failed = False

    def seen(self, events: list[Event]) -> list[Event]:
        out = []
        for event in super().seen(events):
            self.failed |= isinstance(event, Diagnostic)
            if not (self.failed and isinstance(event, CallStart | CallName | CallArguments | CallEnd)):
                out.append(event)
        return [event for event in out if not (self.failed and event.kind == "CallId")]


class Caps(Wrapped):
    """Arguments beyond 8 KiB are dropped."""

    def seen(self, events: list[Event]) -> list[Event]:
        out = []
        for event in events:
            before = len(self.arguments)
            super().seen([event])
            if isinstance(event, CallArguments) and before + len(event.text) > 8192:
                kept = event.text[: max(0, 8192 - before)]
                event = CallArguments(
                    event.start, event.end, kept, (Segment(kept, event.start, event.end),), event.call
                )
            out.append(event)
        return out


class Quadratic(Wrapped):
    """All text so far is looked at again with every delta."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        super().begin(context, mode=mode, markers=markers)
        self.size = self.work = 0

    def feed(self, delta: Delta) -> list[Event]:
        events = super().feed(delta)
        self.size += len(delta.text)
        self.work += self.size
        self.examined = self.work
        return events


class IgnoresPrompt(Wrapped):
    """Whatever the prompt opened, the output begins in content."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        super().begin(replace(context, reasoning_open=False, prompt_tail=None), mode=mode, markers=markers)


class IgnoresChoice(Wrapped):
    """tool_choice none changes nothing."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        super().begin(replace(context, tool_choice="auto"), mode=mode, markers=markers)


class NeedsTools(Wrapped):
    """Without declared tools there are no calls."""

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        none = replace(context, tool_choice="none")
        super().begin(context if context.tools else none, mode=mode, markers=markers)


class ByPattern:
    """A foreign parser that takes calls out of the whole text with a pattern, and heals what is cut off."""

    def __init__(self, pattern: str, *, heals: bool = False) -> None:
        self.pattern, self.heals = re.compile(pattern, re.DOTALL), heals

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        text = self.text + ('"}}</tool_call>' if self.heals and reason == "length" else "")
        sent = MessageDelta()
        for match in self.pattern.finditer(text):
            try:
                call = json.loads(match.group(1))
            except ValueError:
                continue
            given = json.dumps(call.get("arguments"))
            sent.tool_calls.append(ToolCallDelta(len(sent.tool_calls), None, call["name"], given))
        sent.content = self.pattern.sub("", text).strip() or None
        return sent


def pattern(text: str, *, heals: bool = False) -> Callable[[], StreamParser]:
    return lambda: BlackBox("pattern", ByPattern(text, heals=heals))


LAZY = r"<tool_call>(.*?)</tool_call>"


class Fault(NamedTuple):
    make: Callable[[], StreamParser]
    check: str
    says: str
    output: str = CALL
    context: Context = TOOLS
    severity: str = "error"


FAULTS: dict[str, Fault] = {
    "state of the last output": Fault(LeaksState, "reusable", "after the same output"),
    "a value is guessed": Fault(Guesses, "truncation", "gives call 0 (`find`) as complete"),
    "a doubled marker raises": Fault(
        ThrowsOnDouble,
        "changed_output_raised",
        "with the `<tool_call>` at character 0 twice, the parser failed: KeyError",
    ),
    "an error is never forgotten": Fault(Latches, "recovers", "the output does not give that call"),
    "an error in the output itself": Fault(
        Latches, "recovers", "with a call to find appended, the output does not", "<tool_call>oops</tool_call>" + CALL
    ),
    "a buffer with an end": Fault(Caps, "no_length_cap", "with 16,000 characters in the argument `city`"),
    "work grows with the square": Fault(Quadratic, "linear_arguments", "the parser examines", severity="warning"),
    "the prompt is ignored": Fault(
        IgnoresPrompt,
        "start_state",
        "leaves reasoning open, but the parser begins in content",
        context=Context(prompt_tail="<think>\n", reasoning_open=True),
    ),
    "the choice is ignored": Fault(IgnoresChoice, "tool_choice", "with tool_choice none, the output still gives"),
    "no tools, no calls": Fault(NeedsTools, "tool_choice", "without the declared tools, the output does not give"),
    "a quoted marker ends a string": Fault(pattern(LAZY), "escapes", "with `</tool_call>` in the argument `city`"),
    "only at the end": Fault(
        pattern(LAZY + r"\Z"), "neighbours", "with prose after the output, the output gives another first call"
    ),
    "only at the beginning": Fault(
        pattern(r"\A" + LAZY), "neighbours", "with prose before the output, the output gives another first call"
    ),
    "a healed value": Fault(
        pattern(LAZY, heals=True), "truncation", "gives call 0 (`find`) as complete", severity="warning"
    ),
    "only one call": Fault(pattern(LAZY + r"(?!.*<tool_call>)"), "neighbours", "with a call to find after the output"),
    "the last call only": Fault(pattern(r"\A" + LAZY), "recovers", "with a call to find appended, the output does not"),
}


def replayer_of(fault: Fault, make: Callable[[], StreamParser] | None = None) -> Replayer:
    fmt = get_format("qwen")
    terminals = {name: text for name, text in fmt.terminals.items() if len(text) > 1}
    black_box = isinstance(fault.make(), BlackBox) and make is None
    return Replayer(
        make or fault.make,
        (Piece(fault.output),),
        fault.context,
        terminals=terminals,
        black_box=black_box,
        format=fmt,
        policy=policies(fmt),
    )


def found(replayer: Replayer) -> list[Finding]:
    trace = replayer.trace(TRACED)
    made = tuple(variants(replayer, trace))
    assert 0 < len(made) < 2 * total(replayer, trace)
    seen = subject(trace, replayer.context, variants=made, black_box=replayer.black_box)
    return run_checks(seen, sorted({fault.check for fault in FAULTS.values()})).findings


@cache
def of_fault(name: str) -> list[Finding]:
    return found(replayer_of(FAULTS[name]))


@pytest.mark.replays
@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_parser_is_found_and_explained(name: str) -> None:
    fault = FAULTS[name]
    findings = [one for one in of_fault(name) if one.check == fault.check and one.severity != "info"]
    said = [one for one in findings if fault.says in one.message]
    assert said, findings
    assert said[0].severity == fault.severity
    assert said[0].about == "parser"


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.replays
def test_the_proof_of_a_finding_replays_to_what_it_says(name: str) -> None:
    replayer = replayer_of(FAULTS[name])
    for one in of_fault(name):
        assert one.proof is not None
        shown = shown_by(replayer, one)
        if one.check == "changed_output_raised":
            assert shown.raised is not None
            assert str(shown.raised) in one.message
        elif one.check in ("truncation", "recovers", "neighbours"):
            assert said(shown.message).startswith((one.actual or "").removesuffix("…")[:100]) or one.actual in (
                "no calls",
                "no such call",
            )
            assert bool(shown.message.tool_calls) == (one.actual not in ("no calls", "no such call"))


def shown_by(replayer: Replayer, finding: Finding) -> Any:
    proof = finding.proof
    assert proof is not None
    changed = replayer.with_pieces(edited(replayer.pieces, proof.edits, replayer.markers))
    return changed.with_context(replace(changed.context, **proof.context)).outcome(
        Chunking.model_validate(proof.chunking)
    )


def said(message: Message) -> str:
    return ", ".join([f"{call.name}({call.arguments})" for call in message.tool_calls])


@pytest.mark.replays
@pytest.mark.parametrize("fault", [FAULTS["a value is guessed"], FAULTS["an error in the output itself"]])
def test_the_parser_without_the_fault_is_not_blamed(fault: Fault) -> None:
    right = replayer_of(fault, lambda: build(get_format("qwen")))
    assert [one for one in found(right) if one.severity != "info"] == []


NEVER_SMALL = {"no tools, no calls", "a buffer with an end"}


@pytest.mark.replays
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - NEVER_SMALL))
def test_a_search_finds_the_fault_and_makes_the_output_small(name: str) -> None:
    search = Search(replayer_of(FAULTS[name]))
    for _ in search.run():
        pass
    result = search.found()
    assert FAULTS[name].check in [one.check for one in (*result.findings, *result.robustness)]
    shown = {one.severity for one in result.findings} - {"info"}
    assert (result.verdict.severity == "pass") is not bool(shown)
    assert result.minimized is not None
    assert len(result.minimized.text) < 112
