"""Checks against the declared tools: is the tool known, and do the arguments fit its schema?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parsers.checks.check import LIMIT, Need, check
from parsers.checks.json_text import is_whole_object
from parsers.checks.schema import UnjudgedError, misfits, schema_of
from parsers.checks.subject import Subject
from parsers.checks.written import whole_name, written_otherwise
from parsers.vocabulary.channels import Channel, call_words
from parsers.vocabulary.trace import About, Finding, Topic
from parsers.vocabulary.types import Span, Tool, ToolCall

_FEW = 5  # so many places of a call that do not fit are looked for in the output


@check(
    "Y1",
    "The arguments fit the schema that the request declares for the tool.",
    severity="warning",
    about="output",
    needs=(Need.TOOLS,),
)
def _arguments_schema(subject: Subject) -> Iterator[Finding]:
    """A finding for each place that does not fit, at the step where its key began, and for what is wrong with a schema.

    It is the model's fault, unless the same call fits as another chunking or the built-in parser reads it, or the raw
    output has what fits.
    """
    tools = {tool.name: tool for tool in reversed(subject.request.tools)}
    for tool in tools.values():
        yield from _flaws(tool)
    for index, call in enumerate(subject.calls):
        parameters = tools[call.name].parameters if call.name in tools else None
        if parameters is not None and is_whole_object(call.arguments):
            yield from _misfits(subject, index, call, parameters)


def _flaws(tool: Tool) -> Iterator[Finding]:
    """What is wrong with a schema itself is about the request, and so is what is not judged, as a note."""
    for flaw in schema_of(tool.parameters).flaws if tool.parameters is not None else ():
        what = "is broken" if flaw.broken else "is not judged in full"
        yield _arguments_schema.finding(
            f"The schema of `{tool.name}` {what}: {flaw.words}.",
            topic=Topic.BAD_SCHEMA,
            severity=None if flaw.broken else "info",
            about="request",
        )


def _misfits(subject: Subject, index: int, call: ToolCall, parameters: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        problems = schema_of(parameters).problems(call.arguments, f"`{call.name}`")
    except UnjudgedError as error:
        message = f"The arguments of {call_words(index, call.name)} are not judged by the schema: {error}."
        yield _arguments_schema.finding(message, topic=Topic.BAD_SCHEMA, severity="info", about="request")
        return
    readings = [misfits(parameters, text) for text in _readings(subject, index, call)] if problems else []
    for number, problem in enumerate(problems):
        closely = index < LIMIT and number < _FEW
        written = written_otherwise(subject, parameters, call.arguments, problem) if closely else None
        by_parser = written is not None or any(problem.path not in others for others in readings)
        yield _arguments_schema.finding(
            f"{problem.message}." if written is None else f"{problem.message}; {written}.",
            about="parser" if by_parser else "output",
            at=subject.arguments(index).place(problem.at),
            expected=problem.expected,
            actual=problem.actual,
            sort=problem.keyword,
        )


def _readings(subject: Subject, index: int, call: ToolCall) -> set[str]:
    """The other arguments that chunkings and the built-in parser read in the same call."""
    reference, message = subject.builtin.trace, subject.builtin.message
    messages = [trace.message for _, trace in subject.others]
    messages += [reference.message] if reference is not None and not subject.server.plays else []
    messages += [message] if message is not None else []
    calls = [message.tool_calls[index] for message in messages if index < len(message.tool_calls)]
    texts = {other.arguments for other in calls if other.name == call.name and other.complete} - {call.arguments}
    return {text for text in texts if is_whole_object(text)}


@check(
    "N3",
    "Every call names a tool that the request declares.",
    severity="warning",
    about="output",
    needs=(Need.TOOLS,),
)
def _known_tool(subject: Subject) -> Iterator[Finding]:
    trace, names = subject.trace, {tool.name: None for tool in subject.request.tools}
    declared = ", ".join(names)
    for index, call in enumerate(subject.calls):
        sent_otherwise = index in subject.renamed or (subject.raw and call.name not in trace.text)
        if call.name and call.name not in names and not sent_otherwise:  # else it is the parser that changed the name
            place = trace.channels[Channel(index, "name")].place(0)
            whole = whole_name(subject, call.name) if index < LIMIT else None
            written = "" if whole is None else f"; the output has `{whole}`, which is"
            message = f"`{call.name}` is not one of the declared tools{written}."
            about: About = "output" if whole is None else "parser"
            yield _known_tool.finding(message, about=about, at=place, length=len(call.name), expected=declared)
    for rejected in trace.rejected_calls:
        if rejected.name and rejected.name not in names:
            message = f"`{rejected.name}`, in a call that was not kept, is not one of the declared tools."
            step, span = trace.step_at(rejected.start), Span(rejected.start, rejected.end)
            yield _known_tool.finding(message, step=step, span=span, expected=declared)
