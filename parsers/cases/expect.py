"""What should come out against what did: the one comparison that tests, the page and bug reports share.

None of an expectation is not checked; "" says there is no such text, which a message spells None. Arguments compare
as JSON values where the expectation gives a value, as text where it gives the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.cases import jsontext
from parsers.cases.case import Compare, Expect, ExpectedCall
from parsers.cases.jsontext import JsonError
from parsers.vocabulary.channels import Channel
from parsers.vocabulary.types import Message, ToolCall


@dataclass(slots=True)
class Difference:
    """One field that is not as expected. `field` is named like a channel: content, tool_calls[0].arguments ..."""

    field: str
    expected: str
    actual: str


def accept(message: Message, finish_reason: str | None = None) -> Expect:
    """The expectation that today's result meets. Arguments that are not one portable JSON object are kept as text."""
    calls = tuple([_accepted(call) for call in message.tool_calls])
    return Expect(reasoning=message.reasoning, content=message.content, tool_calls=calls, finish_reason=finish_reason)


def differences(
    expect: Expect, message: Message, finish_reason: str | None = None, compare: Compare | None = None
) -> list[Difference]:
    """Every field in which the result is not as expected; [] where it is.

    A message lists its calls by index, so `compare.calls` has no bearing here; exported tests see deltas and use it.
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
    return found


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
