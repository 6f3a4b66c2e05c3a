"""The gate out of the wrapper: text under the content policies, calls one after the other, each with its verdict.

Strict drops a call that is not valid, lenient keeps it with a warning; both alike for every chunking. Calls are
numbered, and get the ids they would have without the wrapper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from parsers.formats.model import Format
from parsers.machine.output import Writer, call_id
from parsers.machine.stages import PlainContent
from parsers.vocabulary.drops import Cause, DropReason
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
    ReasoningText,
    Segment,
    Severity,
    TextEvent,
)
from parsers.vocabulary.seen import held
from parsers.vocabulary.trace import Hold, RejectedCall
from parsers.vocabulary.types import Context
from parsers.wrappers.attempt import Call, as_object, calls_of, owned_spans

_CALL_EVENTS = (CallStart, CallId, CallName, CallArguments, CallEnd)


class Gate:
    """Implements stages.PlainOutput; `take` hands over the events since the last take."""

    def __init__(self, fmt: Format, policy: Mapping[str, str], context: Context, *, strict: bool) -> None:
        self.calls = 0
        self.rejected: list[RejectedCall] = []
        self._format = fmt
        self._policy = policy
        self._context = context
        self._strict = strict
        self._refused: list[str] = []
        self._writer = Writer()
        self._stage = PlainContent(self, policy)

    def take(self) -> list[Event]:
        """The events since the last take."""
        return self._writer.take()

    def hold(self) -> Hold | None:
        """White space that waits for what follows."""
        waits = self._stage.hold()
        return None if waits is None else held(waits, "")[0]

    def diagnostic(self, code: str, message: str, at: int, severity: Severity = "info") -> Diagnostic:
        """A diagnostic at a place."""
        return Diagnostic(at, at, code, severity, message)

    def send(self, events: Sequence[Event]) -> None:
        """Let events go; calls among them are judged."""
        done = 0
        for call in calls_of(events):
            self._text(events[done : call.first])
            self._call(events[call.first : call.last + 1], call)
            done = call.last + 1
        self._text(events[done:])

    def finish(self, at: int) -> None:
        """The output is over: where no call is left, a client that wants the model to try again is told why."""
        self._stage.finish()
        if self._refused and not self.calls:
            were = "was" if len(self._refused) == 1 else "were"
            parts = [f"No call is left: {', '.join(self._refused)} {were} not valid."]
            if self._context.named_tool is not None:
                parts.append(f"The request asks for {self._context.named_tool}.")
            if self._context.tools:
                parts.append(f"Declared: {', '.join([tool.name for tool in self._context.tools])}.")
            parts.append("A valid call is one JSON object that fits the schema of its tool.")
            self._writer.add(self.diagnostic("no_valid_call", " ".join(parts), at))

    def _text(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, ContentText) and event.segments is None:
                self._stage.text(event.text, event.start)
            elif isinstance(event, ReasoningText) and event.segments is None:
                self._writer.text(ReasoningText, event.text, event.start, event.end)
            else:
                self._writer.add(event)

    def _call(self, events: Sequence[Event], call: Call) -> None:
        wrong = fault_of(call.name, call.arguments, self._context)
        place = events[0].start, events[-1].end
        if wrong is not None and self._strict:
            self._refuse(events, call, wrong)
            return
        self._stage.call()
        for event in events:
            self._writer.add(self._numbered(event, call) if isinstance(event, _CALL_EVENTS) else event)
        if wrong is not None:
            words = f"The call to {call.name} is kept, though it is not valid: {wrong.words}."
            self._writer.add(self.diagnostic("invalid_call", words, place[1], "warning"))
        self.calls += 1

    def _numbered(self, event: CallStart | CallId | CallName | CallArguments | CallEnd, call: Call) -> Event:
        event = replace(event, call=self.calls)
        if isinstance(event, CallId) and not owned_spans(event):
            seed, dialect = self._context.id_seed, self._policy["id_dialect"]
            text = call_id(dialect, self._format.ids, seed, self.calls, call.name)
            return replace(event, text=text, segments=(Segment(text, event.start, event.end, "synthetic"),))
        return event

    def _refuse(self, events: Sequence[Event], call: Call, wrong: DropReason) -> None:
        dropped = wrong.within(Cause.INVALID, by="invalid_call")
        self._stage.call()
        texts = [event for event in events if isinstance(event, TextEvent)]
        for start, end in _united([span for event in texts for span in owned_spans(event)]):
            self._writer.add(Dropped(start, end, dropped))
        for event in events:
            if not isinstance(event, (TextEvent, *_CALL_EVENTS)):
                self._writer.add(event)
        start, end = events[0].start, events[-1].end
        self.rejected.append(RejectedCall(start, end, call.name, wrong.within(Cause.INVALID)))
        self._refused.append(call.name)
        words = f"The call to {call.name} is dropped: {wrong.words}."
        self._writer.add(self.diagnostic("rejected_call", words, end, "warning"))

    # stages.PlainOutput

    def content(self, text: str, start: int) -> None:
        """See stages.PlainOutput."""
        self._writer.text(ContentText, text, start, start + len(text))

    def leave_out(self, start: int, end: int, reason: DropReason) -> None:
        """See stages.PlainOutput."""
        self._writer.add(Dropped(start, end, reason))


def _united(owned: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap as one: an id may hold the name."""
    made: list[tuple[int, int]] = []
    for start, end in sorted(owned):
        if made and start < made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((start, end))
    return made


# Is a call valid? Its arguments must be one JSON object, its tool declared, what the tool requires there.
#
# The rules are those of vllm.rs (2026-05): a string that holds an object counts as the object; a required key must be
# there and not null, unless the tool says strict false. Nothing is renamed, removed or converted here.


def fault_of(name: str, arguments: str, context: Context) -> DropReason | None:
    """Return what is wrong with a call; None for a valid one."""
    value = as_object(arguments)
    if value is None:
        return DropReason(Cause.ARGUMENTS_NOT_ONE_OBJECT)
    tool = context.tool(name)
    if tool is None:
        return DropReason(Cause.UNDECLARED, name) if context.tools else None
    required = (tool.parameters or {}).get("required")
    if tool.strict is False or not isinstance(required, list):
        return None
    missing = [key for key in required if isinstance(key, str) and value.get(key) is None]
    return DropReason(Cause.LACKS_REQUIRED, f"{name} requires: {', '.join(missing)}") if missing else None
