"""What should come out against what did: the one comparison that tests, the page and bug reports share.

None of an expectation is not checked; "" says there is no such text, which a message spells None. Arguments compare
as JSON values where the expectation gives a value, as text where it gives the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parsers.cases import jsontext
from parsers.cases.case import Compare, Expect, ExpectedCall, ExpectedEvent
from parsers.cases.jsontext import JsonError
from parsers.cases.message_events import MessageEvent, counted, counted_events, events_of
from parsers.vocabulary.channels import Channel
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message, ToolCall


@dataclass(slots=True)
class Difference:
    """One field that is not as expected. `field` is named like a channel: content, tool_calls[0].arguments ...

    `events` are the kinds of all parts in order, `events[1]` is one of them.
    """

    field: str
    expected: str
    actual: str


def accept(message: Message, finish_reason: str | None = None) -> Expect:
    """The expectation that today's result meets. Arguments that are not one portable JSON object are kept as text."""
    calls = tuple([_accepted(call) for call in message.tool_calls])
    return Expect(reasoning=message.reasoning, content=message.content, tool_calls=calls, finish_reason=finish_reason)


def trace_differences(expect: Expect | None, trace: Trace, compare: Compare | None = None) -> list[Difference]:
    """Every field in which a replay is not as expected; [] where it is, and where nothing is expected."""
    if expect is None:
        return []
    return differences(expect, trace.message, trace.finish_reason, compare, expected_order(expect, trace, compare))


def expected_order(expect: Expect, trace: Trace, compare: Compare | None = None) -> list[MessageEvent] | None:
    """What a replay says in order, which is the expected one where its deltas do not state it; None where the
    expectation says nothing of the order."""
    if expect.events is None:
        return None
    soft = compare is not None and compare.whitespace == "soft"
    wanted = [(event.kind, event.text or "") for event in expect.events]
    return counted_events(events_of(trace, wanted, soft=soft), soft=soft)


def expected_parts(expect: Expect, *, soft: bool) -> list[ExpectedEvent]:
    """The parts that an expectation says in order, as they are compared: text of one kind that no other part stands
    between is one. `soft`: white space does not count, so that text of nothing else is none."""
    parts = expect.events or ()
    told = counted([(one.kind, one.text or "") for one in parts], soft=soft)
    return [
        parts[at] if parts[at].kind == "tool_call" else parts[at].model_copy(update={"text": text}) for at, text in told
    ]


def differences(
    expect: Expect,
    message: Message,
    finish_reason: str | None = None,
    compare: Compare | None = None,
    events: Sequence[MessageEvent] | None = None,
) -> list[Difference]:
    """Every field in which the result is not as expected; [] where it is. The order is compared where `events` say it.

    A message lists its calls by index, so `compare.calls`, which is about two replays, has no bearing here.
    """
    soft = compare is not None and compare.whitespace == "soft"
    found = []
    for field, wanted, text in (
        ("reasoning", expect.reasoning, message.reasoning or ""),
        ("content", expect.content, message.content or ""),
    ):
        if wanted is not None and wanted != text and not (soft and wanted.split() == text.split()):
            found.append(Difference(field, wanted, text))
    if expect.tool_calls is not None:
        found.extend(_call_differences(expect.tool_calls, message.tool_calls))
    if expect.finish_reason not in (None, finish_reason):
        found.append(Difference("finish_reason", expect.finish_reason or "", finish_reason or ""))
    if expect.events is not None and events is not None:
        parts = expected_parts(expect, soft=soft)
        found.extend(_event_differences(parts, counted_events(events, soft=soft), soft=soft))
    return found


def event_words(event: ExpectedEvent) -> str:
    """An expected part of a message as text."""
    return f"{event.name} {arguments_text(event.call)}" if event.kind == "tool_call" else event.text or ""


def arguments_text(call: ExpectedCall) -> str:
    """The expected arguments as text."""
    return call.raw if call.raw is not None else jsontext.line(call.arguments)


def _call_differences(expected: tuple[ExpectedCall, ...], calls: list[ToolCall]) -> Iterator[Difference]:
    if len(expected) != len(calls):
        yield Difference("tool_calls", _listed([c.name for c in expected]), _listed([c.name for c in calls]))
    for index, (wanted, call) in enumerate(zip(expected, calls, strict=False)):
        if wanted.name != call.name:
            yield Difference(str(Channel(index, "name")), wanted.name, call.name)
        if not _same_arguments(wanted, call.arguments):
            yield Difference(str(Channel(index, "arguments")), arguments_text(wanted), call.arguments)


def _event_differences(
    expected: Sequence[ExpectedEvent], events: Sequence[MessageEvent], *, soft: bool
) -> Iterator[Difference]:
    """The kinds in order where these differ, else every part that does."""
    kinds, came = [one.kind for one in expected], [one.kind for one in events]
    if kinds != came:
        yield Difference("events", ", ".join(kinds), ", ".join(came))
        return
    yield from part_differences(expected, events, soft=soft)


def part_differences(
    expected: Sequence[ExpectedEvent], events: Sequence[MessageEvent], *, soft: bool = False
) -> Iterator[Difference]:
    """Every part that another one stands in the place of, as far as both go."""
    for number, (wanted, event) in enumerate(zip(expected, events, strict=False)):
        if not _is_event(wanted, event, soft=soft):
            yield Difference(f"events[{number}]", event_words(wanted), event.words)


def _is_event(wanted: ExpectedEvent, event: MessageEvent, *, soft: bool) -> bool:
    if wanted.kind != event.kind:
        return False
    if event.kind == "tool_call":
        return wanted.name == event.name and _same_arguments(wanted.call, event.text)
    text = wanted.text or ""
    return text == event.text or (soft and text.split() == event.text.split())


def _same_arguments(wanted: ExpectedCall, text: str) -> bool:
    if wanted.raw is not None:
        return wanted.raw == text
    try:
        return jsontext.same(wanted.arguments, jsontext.read(text))
    except JsonError:
        return False


def _accepted(call: ToolCall) -> ExpectedCall:
    try:
        value = jsontext.read(call.arguments)
        jsontext.check(value)
        jsontext.check_portable_numbers(value)
    except JsonError:
        return ExpectedCall(name=call.name, raw=call.arguments)
    if not isinstance(value, dict):
        return ExpectedCall(name=call.name, raw=call.arguments)
    return ExpectedCall(name=call.name, arguments=value)


def _listed(names: list[str]) -> str:
    return f"{len(names)} call{'' if len(names) == 1 else 's'}" + (f": {', '.join(names)}" if names else "")
