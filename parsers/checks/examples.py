"""Examples: for every check a replay on which it finds something and one on which it holds.

They stand in `examples.json`, are shown by docs/checks.md and run by a test. A replay in it is written by hand
(`scripted`): `steps` are lists of entries [kind, raw text, other text], and the other keys are the arguments of
`scripted`. What else a subject is made of has the names of its parts. `like` names one of `subjects` to begin with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import msgspec
from pydantic import TypeAdapter

from parsers.checks.known import Known
from parsers.checks.subject import Builtin, Costs, Grammar, Replays, Server, Subject, Tokens, Variant
from parsers.formats.contracts import contract_named
from parsers.replays.partition import partition
from parsers.vocabulary.drops import LOST, UNSAID, Cause, DropReason, stated
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Failure,
    Marker,
    Raised,
    ReasoningText,
    Segment,
    TextEvent,
)
from parsers.vocabulary.trace import Hold, RejectedCall, StateView, Step, Trace
from parsers.vocabulary.types import Context, MessageDelta, Span
from parsers.wire.assemble import Assembler

Entry = Sequence[Any]  # kind, raw text, other text or a DropReason

_TEXTS: dict[str, type[TextEvent]] = {"content": ContentText, "reasoning": ReasoningText}
_CALL_TEXTS: dict[str, type[CallName] | type[CallId] | type[CallArguments]] = {
    "name": CallName,
    "id": CallId,
    "arguments": CallArguments,
}
_PARTS: dict[str, Any] = {
    "request": Context,
    "grammar": Grammar,
    "tokens": Tokens,
    "server": Server,
    "costs": Costs,
    "variants": list[Variant],
    "black_box": bool,
    "known": Known,
}


@dataclass(slots=True, frozen=True)
class Example:
    """`check` says `says` first on the subject `finds`, and nothing worse than a note on `holds`."""

    check: str
    finds: Subject
    says: str
    holds: Subject


@cache
def examples() -> Mapping[str, Example]:
    """The examples by the names of their checks."""
    data = json.loads((resources.files("parsers.checks") / "examples.json").read_text("utf-8"))
    named = data["subjects"]
    return {
        check: Example(check, _subject(given["finds"], named), given["says"], _subject(given["holds"], named))
        for check, given in data["examples"].items()
    }


def _subject(given: Mapping[str, Any], named: Mapping[str, Any]) -> Subject:
    data = {**named.get(given.get("like", ""), {}), **given}
    trace = _trace(data)
    whole = _trace(data["whole"]) if "whole" in data else None
    compared = [(label, _trace(other)) for label, other in data.get("compared", {}).items()]
    own = Builtin(_trace(data["builtin"]) if "builtin" in data else None)
    known = {key: kind for key, kind in _PARTS.items() if key in data}
    parts = {key: TypeAdapter(kind).validate_json(json.dumps(data[key])) for key, kind in known.items()}
    return Subject(Replays(trace, whole, compared), builtin=own, promised=contract_named(data.get("promised")), **parts)


def _trace(data: Mapping[str, Any]) -> Trace:
    deltas = TypeAdapter(dict[int, MessageDelta | None]).validate_python(data.get("deltas", {}))
    holds = msgspec.convert(data.get("holds", {}), dict[int, list[Hold]], strict=False)
    trace = scripted(*data["steps"], deltas=deltas, holds=holds, blind=data.get("blind", False))
    trace.finish_reason = data.get("finish_reason", trace.finish_reason)
    trace.rejected_calls = [_rejected(*call) for call in data.get("rejected", ())]
    for step, ids in zip(trace.steps, data.get("ids", ()), strict=False):
        step.ids = tuple(ids)
    return trace


def _rejected(start: int, end: int, words: str, cause: str | None = None) -> RejectedCall:
    """A call that was given back: for a reason in words, or, with its name in their place, for a known cause."""
    if cause is None:
        return RejectedCall(start, end, None, stated(words))
    return RejectedCall(start, end, words, DropReason(Cause[cause]))


def scripted(
    *steps: Sequence[Entry],
    deltas: Mapping[int, MessageDelta | None] | None = None,
    holds: Mapping[int, Sequence[Hold]] | None = None,
    make_ids: bool = True,
    blind: bool = False,
    ended: bool = True,
    **fields: Any,
) -> Trace:
    """A trace of these steps and a last one for the end. `deltas` and `holds` (by step) and `fields` overrule.

    Entries of the kinds content, reasoning, name, id and arguments write text; with other text it is that one
    (converted, or synthetic where the raw text is empty). marker, lost and dropped (other text: the reason, or its
    words) write nothing, again sends as content what has come before, unsent nothing; end and cut close the call; note
    is a warning with its code and its words (or of the severity behind these), and raised says with what the parser
    failed. A name without an id gets one made up. `blind` leaves the deltas only, as from a parser that says nothing
    about itself.
    """
    writer, made, assembler = _Writer(make_ids), list[Step](), Assembler()
    for index, entries in enumerate([*steps, *([[]] if ended else [])], 1):
        start = len(writer.text)
        events = [event for entry in entries for event in writer.events(*entry)]
        delta = assembler.add(events)
        delta = deltas[index] if deltas is not None and index in deltas else delta
        held = tuple((holds or {}).get(index, ()))
        span, view, last = Span(start, len(writer.text)), StateView("CONTENT", held), index > len(steps)
        made.append(Step(index, span, (), "CONTENT", held, (), tuple(events), delta, view, end=last))
    assembler.add(writer.cut_off())
    trace = Trace("demo", (), {"by": "token"}, "text", writer.text, made, assembler.message())
    trace.finish_reason = "tool_calls" if trace.message.tool_calls else "stop"
    trace.partition = partition([event for _, event in trace.events()], len(trace.text))
    if blind:
        trace.partition = []
        for step in made:
            step.events = ()
    for name, value in fields.items():
        setattr(trace, name, value)
    return trace


class _Writer:
    """Turns entries into events, keeping the place in the text and the open call."""

    def __init__(self, make_ids: bool) -> None:
        self.text = ""
        self._call = -1
        self._is_open = False
        self._make_ids = make_ids

    def events(self, kind: str, raw: str = "", *other: Any) -> list[Event]:
        """The events of one entry."""
        start, end = len(self.text), len(self.text) + len(raw)
        self.text += raw
        if kind in ("end", "cut"):
            self._is_open = False
            return [CallEnd(start, end, call=self._call, complete=kind == "end")]
        if kind not in _TEXTS and kind not in _CALL_TEXTS:
            return _textless(kind, start, end, self.text, other)
        out = other[0] if other else raw
        segments = (Segment(out, start, end, "converted" if raw else "synthetic"),) if other else None
        if kind in _TEXTS:
            return [_TEXTS[kind](start, end, out, segments)]
        begun = self._begun(kind, start) if kind != "arguments" and not self._is_open else []
        return [*begun, _CALL_TEXTS[kind](start, end, out, segments, call=self._call)]

    def _begun(self, kind: str, start: int) -> list[Event]:
        self._call, self._is_open = self._call + 1, True
        made = f"id-{self._call}"
        ids = [CallId(start, start, made, (Segment(made, start, start, "synthetic"),), call=self._call)]
        return [CallStart(start, start, call=self._call), *(ids if kind == "name" and self._make_ids else [])]

    def cut_off(self) -> list[Event]:
        """The end of a call that is still open."""
        return self.events("cut") if self._is_open else []


def _textless(kind: str, start: int, end: int, text: str, other: Sequence[Any]) -> list[Event]:
    """The events of an entry that writes no text of its own."""
    if kind in ("marker", "structure"):
        return [Marker(start, end, kind)]
    if kind in ("lost", "dropped"):
        reason = other[0] if other and other[0] else LOST if kind == "lost" else UNSAID
        return [Dropped(start, end, stated(reason) if isinstance(reason, str) else reason)]
    if kind == "again":
        at = text.index(other[0])
        return [ContentText(at, at + len(other[0]), other[0])]
    if kind == "note":
        return [Diagnostic(start, end, other[0], other[2] if len(other) > 2 else "warning", other[1])]
    return [Raised.at(start, end, Failure(other[0]))] if kind == "raised" else []
