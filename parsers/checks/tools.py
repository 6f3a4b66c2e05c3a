"""Checks against the declared tools: is the tool known, and do the arguments fit its schema?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parsers.checks.base import Subject, check, span_of
from parsers.checks.json_prefix import JsonPrefix, is_whole_object
from parsers.checks.json_tree import read_object
from parsers.checks.schema import Judge, Path, misfits
from parsers.compare import step_at
from parsers.trace import Finding
from parsers.types import Span, ToolCall


@check(
    "arguments_schema",
    "Y1",
    "The arguments fit the schema that the request declares for the tool.",
    severity="warning",
    about="output",
    needs=("tools",),
)
def arguments_schema(subject: Subject) -> list[Finding]:
    """One finding per key that is unknown, missing or of the wrong type, at the step where it began.

    What the built-in parser of the format reads rightly beside a black box is no fault of the model's.
    """
    schemas = {tool.name: tool.parameters for tool in reversed(subject.context.tools)}
    findings = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        findings += list(_misfits(subject, index, call, schemas.get(call.name)))
    return findings


def _misfits(subject: Subject, index: int, call: ToolCall, schema: Mapping[str, Any] | None) -> Iterator[Finding]:
    reader = JsonPrefix()
    if schema is None or reader.feed(call.arguments) is not None or not reader.done:
        return
    theirs = _fitting(subject, index, call, schema)
    for problem in Judge(schema, call.arguments).problems(read_object(call.arguments)):
        place = subject.arguments(index).place(problem.at)
        yield arguments_schema.finding(
            problem.message.replace("{tool}", f"`{call.name}`") + ".",
            about="output" if theirs is None or problem.path in theirs else "parser",
            step=place.step,
            span=span_of(place),
            expected=problem.expected,
            actual=problem.actual,
        )


def _fitting(subject: Subject, index: int, call: ToolCall, schema: Mapping[str, Any]) -> frozenset[Path] | None:
    """Where the same call does not fit as the built-in parser reads it; None where that does not read it."""
    own = [] if subject.reference is None or subject.served else subject.reference.message.tool_calls
    if index >= len(own) or own[index].name != call.name or not is_whole_object(own[index].arguments):
        return None
    return misfits(schema, own[index].arguments)


@check(
    "known_tool",
    "N3",
    "Every call names a tool that the request declares.",
    severity="warning",
    about="output",
    needs=("tools",),
)
def known_tool(subject: Subject) -> list[Finding]:
    """One finding per call, kept or rejected, whose name is not declared."""
    names = {tool.name: None for tool in subject.context.tools}
    declared = ", ".join(names)
    findings = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        if call.name and call.name not in names:
            place = subject.channels[f"tool_calls[{index}].name"].place(0)
            message = f"`{call.name}` is not one of the declared tools."
            span = span_of(place, len(call.name))
            findings.append(known_tool.finding(message, step=place.step, span=span, expected=declared))
    for rejected in subject.trace.rejected_calls:
        if rejected.name and rejected.name not in names:
            message = f"`{rejected.name}`, in a call that was not kept, is not one of the declared tools."
            step, span = step_at(subject.trace, rejected.start), Span(rejected.start, rejected.end)
            findings.append(known_tool.finding(message, step=step, span=span, expected=declared))
    return findings
