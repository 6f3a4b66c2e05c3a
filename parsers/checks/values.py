"""Check that arguments keep the keys and values that the output writes.

Where a format writes arguments as JSON the output itself says what each value is. The built-in parser of the format
says where the arguments stand; only such as are in the output letter by letter count. A value that the declared schema
turns into another is schema_changes', and a string that ends early or stops being one is strings_whole's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from parsers.checks.check import Subject, call_words, check, span_of
from parsers.checks.json_prefix import JsonPrefix, is_whole_object
from parsers.checks.json_tree import Node, read_object
from parsers.checks.schema import Judge, Path, misfits, where
from parsers.compare.divergence import Channel, channels, step_at
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Span, ToolCall

_FAILURES = 20  # so many arguments are looked for in all of the output
_SHOWN = 40


@check(
    "values_kept",
    "Y4",
    "Arguments that the output writes as JSON keep their keys and values.",
    needs=("raw", "reference"),
)
def values_kept(subject: Subject) -> list[Finding]:
    """An error for each key that is lost or new, and for each value that became another."""
    reference = subject.reference
    calls = subject.trace.message.tool_calls
    if reference is None or [call.name for call in calls] != [call.name for call in reference.message.tool_calls]:
        return []
    schemas = {tool.name: tool.parameters for tool in reversed(subject.context.tools)}
    places = channels(reference)
    findings: list[Finding] = []
    for index, (call, written) in enumerate(_written(subject, reference.message.tool_calls)):
        if written is not None and call.arguments != written.arguments and is_whole_object(call.arguments):
            pair = _Pair(call, written, schemas.get(call.name))
            findings += _told(subject, index, pair, places[f"tool_calls[{index}].arguments"])
    return findings


def _written(subject: Subject, own: list[ToolCall]) -> Iterator[tuple[ToolCall, ToolCall | None]]:
    """Each call with its built-in reading, where that has its arguments from the output letter by letter."""
    text, position, failures = subject.trace.text, 0, 0
    for call, right in zip(subject.trace.message.tool_calls, own, strict=True):
        whole = right.complete and failures < _FAILURES and is_whole_object(right.arguments)
        at = text.find(right.arguments, position) if whole else -1
        failures += whole and at < 0
        position = max(position, at)
        yield call, right if at >= 0 else None


@dataclass(slots=True, frozen=True)
class _Other:
    """A difference: where it is, the value as the output writes it, the value of the parser; None: there is none."""

    path: Path
    written: Node | None
    given: Node | None


@dataclass
class _Pair:
    """The arguments of one call as a parser gives them, and as the output writes them."""

    given: ToolCall
    written: ToolCall
    schema: Any

    def differences(self) -> Iterator[_Other]:
        """Where the values differ, in the order of the output; one for all that is inside a value."""
        waiting: list[_Other] = [_Other((), read_object(self.written.arguments), read_object(self.given.arguments))]
        while waiting:
            one = waiting.pop()
            if one.written is None or one.given is None or _scalar(one.written) != _scalar(one.given):
                if not self._is_told_elsewhere(one):
                    yield one
                continue
            waiting += reversed(_inside(one.path, one.written, one.given))

    def _is_told_elsewhere(self, one: _Other) -> bool:
        """Whether the schema made this value, or a string ends early or is none any more."""
        if one.written is None or one.given is None:
            return False
        if one.written.kind == "string":
            early = one.given.kind == "string" and str(one.written.value).startswith(str(one.given.value) or "\0")
            if early or (one.given.kind != "string" and self._declared(one.path) == "string"):
                return True
        return one.path in self._misfits_written and one.path not in self._misfits_given

    def _declared(self, path: Path) -> Any:
        properties = self.schema.get("properties") if isinstance(self.schema, dict) and len(path) == 1 else None
        declared = properties.get(path[0]) if isinstance(properties, dict) else None
        return declared.get("type") if isinstance(declared, dict) else None

    @cached_property
    def _misfits_written(self) -> frozenset[Path]:
        return misfits(self.schema, self.written.arguments)

    @cached_property
    def _misfits_given(self) -> frozenset[Path]:
        return misfits(self.schema, self.given.arguments)


def _scalar(node: Node) -> tuple[str, object]:
    """What two values must share to be the same, members and items apart: 1 and 1.0 are, true and 1 are not."""
    return "number" if node.kind == "integer" else node.kind, node.value


def _inside(path: Path, written: Node, given: Node) -> list[_Other]:
    """The members or items of two values, side by side. Of a key that is there twice the last counts."""
    if written.kind == "array":
        longest = max(len(written.items), len(given.items))
        a, b = ([*node.items, *[None] * (longest - len(node.items))] for node in (written, given))
        return [_Other((*path, at), a[at], b[at]) for at in range(longest)]
    old = {member.key: member.value for member in written.members}
    new = {member.key: member.value for member in given.members}
    return [_Other((*path, key), old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]


def _told(subject: Subject, index: int, pair: _Pair, places: Channel) -> Iterator[Finding]:
    words = call_words(index, pair.given.name)
    mine, end = subject.arguments(index), len(pair.given.arguments) - 1
    for one in pair.differences():
        old = None if one.written is None else pair.written.arguments[one.written.start : one.written.end]
        new = None if one.given is None else pair.given.arguments[one.given.start : one.given.end]
        name = f"{where(one.path)} of {words}" if one.path else f"The value of {words}"
        yield values_kept.finding(
            f"{name} {_became(old, new)}.",
            step=mine.place(end if one.given is None else one.given.start).step,
            span=None if one.written is None else span_of(places.place(one.written.start), len(old or "")),
            expected=old,
            actual=new,
        )


def _became(old: str | None, new: str | None) -> str:
    if new is None:
        return f"is {_short(old or '')} in the output and is missing"
    return "is not in the output" if old is None else f"is {_short(old)} in the output and has become {_short(new)}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


# Checks against the declared tools: is the tool known, and do the arguments fit its schema?


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
