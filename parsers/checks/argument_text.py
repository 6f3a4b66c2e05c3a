"""Checks on the arguments as JSON text: do they parse at the end, are they closed, and could they at every step?

Whose fault bad JSON is, is decided at its source: if the parser wrote the opening brace itself, or a whole JSON object
stands in the output where the arguments begin, the parser broke it (an error); else the model wrote it so (a warning).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from parsers.checks.check import LIMIT, Subject, call_words, check, span_of
from parsers.checks.json_prefix import JsonPrefix, is_whole_object
from parsers.checks.json_tree import Node, read_object, walk
from parsers.compare.divergence import Channel, excerpt, shared_prefix
from parsers.vocabulary.events import CallArguments, CallEnd
from parsers.vocabulary.trace import About, Finding, Trace


@check("arguments_json", "J1", "The arguments of every call are one JSON object.", needs=("finished",))
def arguments_json(subject: Subject) -> list[Finding]:
    """One finding per call whose arguments do not parse, are cut off, or name a key twice."""
    findings: list[Finding] = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        reader = JsonPrefix()
        bad = reader.feed(call.arguments)
        if bad is None and reader.done:
            findings += _repeated_keys(subject, index)
        elif bad is None and (call.arguments or not call.complete):
            expected = not call.complete and subject.context.finish_reason == "length"
            # If it is the parser's fault that they are open, arguments_closed tells of it.
            if not expected and _open_fault(subject, index) == "output":
                findings.append(_unparsable(subject, index, None, "output"))
        elif call.complete:
            findings.append(_unparsable(subject, index, bad, _fault(subject, index, len(findings))))
    return findings


@check(
    "arguments_closed",
    "J3",
    "The arguments of a call are whole when the output has ended the call.",
    needs=("finished",),
)
def arguments_closed(subject: Subject) -> list[Finding]:
    """Errors for arguments that are open in an ended call, and for those that come after its end."""
    findings = list(_after_end(subject.trace))
    for index, call in enumerate(subject.trace.message.tool_calls):
        reader = JsonPrefix()
        if not call.arguments or reader.feed(call.arguments) is not None or reader.done:
            continue
        if _open_fault(subject, index) == "parser":
            channel = subject.arguments(index)
            place = channel.place(len(call.arguments))
            findings.append(
                arguments_closed.finding(
                    f"The arguments of {call_words(index, call.name)} are left open, though the output ends the call.",
                    step=place.step,
                    span=span_of(place, 0),
                    actual=excerpt(call.arguments, len(call.arguments)),
                )
            )
    return findings


def _readable(subject: Subject, start: int) -> str:
    """The output as far as one value can go from `start`: by ids, a marker ends what it stands in, strings too."""
    text, at = subject.trace.text, 0
    for piece in subject.pieces if subject.trace.mode == "ids" else ():
        if at >= start and piece.recorded and piece.kind in ("special", "added"):
            return text[:at]
        at += len(piece.text)
    return text


def _open_fault(subject: Subject, index: int) -> About:
    """Whose fault it is that a call's arguments are left open."""
    if subject.trace.message.tool_calls[index].complete:
        return _fault(subject, index, index)
    return "parser" if _stands_whole(subject, index) else "output"


def _after_end(trace: Trace) -> Iterator[Finding]:
    ended: dict[int, int] = {}
    for step, event in trace.events():
        if isinstance(event, CallEnd):
            ended.setdefault(event.call, step.index)
        elif isinstance(event, CallArguments) and event.text and event.call in ended:
            message = f"Arguments of call {event.call} are sent after its end."
            yield arguments_closed.finding(message, step=step.index, actual=event.text)


def _stands_whole(subject: Subject, index: int) -> bool:
    """Whether the output has the whole object of which these arguments are the beginning.

    A black box with tagged arguments writes the braces itself; there the built-in parser says whether the call ends.
    """
    call, text = subject.trace.message.tool_calls[index], subject.trace.text
    place = subject.arguments(index).place(0)
    at = text.find(call.arguments) if place.raw is None else place.raw
    if index < LIMIT and at >= 0 and text.startswith(call.arguments, at):
        source = JsonPrefix()
        source.feed(_readable(subject, at), at)
        return source.done
    if subject.reference is None or index >= len(subject.reference.message.tool_calls):
        return False
    other = subject.reference.message.tool_calls[index]
    return other.complete and other.name == call.name and is_whole_object(other.arguments)


def _unparsable(subject: Subject, index: int, bad: int | None, about: About) -> Finding:
    call = subject.trace.message.tool_calls[index]
    offset = len(call.arguments) if bad is None else bad
    place = subject.arguments(index).place(offset)
    words, policy = call_words(index, call.name), None
    if not call.arguments:
        message = f"The arguments of {words} are empty, not a JSON object."
    elif bad is None:
        message = f"The arguments of {words} end before their JSON does."
        policy = _policy(subject, index)
    else:
        message = f"The arguments of {words} are not one JSON object: character {bad} cannot stand there."
    return arguments_json.finding(
        message,
        severity="info" if policy else "error" if about == "parser" else "warning",
        about=about,
        step=place.step,
        span=None if bad is None else span_of(place),
        actual=excerpt(call.arguments, offset),
        policy=policy,
    )


def _policy(subject: Subject, index: int) -> str | None:
    """The policy by which a last call that the output cuts off is sent as far as it came."""
    last = index == len(subject.trace.message.tool_calls) - 1
    return subject.contract("truncated_call", "as_streamed") if last else None


def _repeated_keys(subject: Subject, index: int) -> Iterator[Finding]:
    call = subject.trace.message.tool_calls[index]
    for node in walk(read_object(call.arguments)):
        seen: set[str] = set()
        for member in node.members:
            if member.key in seen:
                place = subject.arguments(index).place(member.at)
                yield arguments_json.finding(
                    f"`{member.key}` is given twice in {call_words(index, call.name)}; most readers keep the last.",
                    severity="info",
                    about="output",
                    step=place.step,
                    span=span_of(place),
                )
            seen.add(member.key)


def _fault(subject: Subject, index: int, examined: int) -> About:
    """Whose fault it is that a call's arguments are not JSON. Looked at for the first ones only, to stay linear."""
    channel = subject.arguments(index)
    place = channel.place(0)
    if place.kind in ("synthetic", "converted"):
        return "parser"
    if not channel.text or examined >= LIMIT:
        return "output"
    raw = subject.trace.text.find(channel.text) if place.raw is None else place.raw
    if raw < 0:
        return "parser"
    return "parser" if _object_stands_at(_readable(subject, raw), raw, channel.text) else "output"


def _object_stands_at(text: str, raw: int, arguments: str) -> bool:
    """Whether the output has a whole JSON object where the arguments begin, of which the parser made bad JSON.

    Text after a whole object is the parser's doing only where the object is a value of a larger one (its closing
    brace was taken along); elsewhere the model wrote too much.
    """
    source, made = JsonPrefix(), JsonPrefix()
    source.feed(text, raw)
    made.feed(arguments)
    return source.done and (not made.done or text[:raw].rstrip().endswith(":"))


@check(
    "arguments_prefix",
    "J2",
    "What has been streamed of a call's arguments is always a beginning of the final text, and of a JSON object.",
)
def arguments_prefix(subject: Subject) -> list[Finding]:
    """Errors for streamed text that the final arguments take back; findings at the first hopeless character."""
    findings: list[Finding] = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        sent = subject.streamed.get(f"tool_calls[{index}].arguments", Channel(""))
        if not call.arguments.startswith(sent.text):
            findings.append(_parting(sent, call.arguments, call_words(index, call.name)))
        bad = JsonPrefix().feed(sent.text)
        if bad is not None and not (call.complete and sent.text == call.arguments):  # else arguments_json tells of it
            findings.append(_hopeless(subject, index, sent, bad, _fault(subject, index, len(findings))))
    return findings


def _parting(sent: Channel, final: str, words: str) -> Finding:
    offset = shared_prefix(sent.text, final)
    return arguments_prefix.finding(
        f"The streamed arguments of {words} leave the final text at character {offset}.",
        step=sent.place(offset).step,
        expected=excerpt(final, offset),
        actual=excerpt(sent.text, offset),
    )


def _hopeless(subject: Subject, index: int, sent: Channel, bad: int, about: About) -> Finding:
    call = subject.trace.message.tool_calls[index]
    return arguments_prefix.finding(
        f"From character {bad} on, what is streamed of {call_words(index, call.name)} cannot become a JSON object.",
        severity="error" if about == "parser" else "warning",
        about=about,
        step=sent.place(bad).step,
        actual=excerpt(sent.text, bad),
    )


# Check that string arguments are read as the output writes them.
#
# A string is looked for in the output, escapes undone. Where it stands right after a quote, it must go on to that
# quote: a parser that takes something inside a string for its end leaves the rest away. And a value that is declared a
# string stays one. What has no place in the output at all is nothing_invented's.

_QUOTES = "\"'"
_PLACES = 20  # so many places where a string may stand are looked at
_FAILURES = 20  # so many strings are looked for in all of the output


@check("strings_whole", "Y2", "A string argument reads as the output writes it, to its end.", needs=("raw",))
def strings_whole(subject: Subject) -> list[Finding]:
    """Errors for strings cut at something inside them, and for declared strings that became something else."""
    schemas = {tool.name: tool.parameters for tool in reversed(subject.context.tools)}
    findings: list[Finding] = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        if call.complete and is_whole_object(call.arguments):
            root = read_object(call.arguments)
            if call.arguments not in subject.trace.text:
                findings += _cut(subject, index, root)
            findings += _retyped(subject, index, root, schemas.get(call.name))
    return findings


def _cut(subject: Subject, index: int, root: Node) -> Iterator[Finding]:
    text, arguments = subject.trace.text, subject.trace.message.tool_calls[index].arguments
    position, failures = 0, 0
    for node in sorted(walk(root), key=lambda node: node.start):
        raw = arguments[node.start + 1 : node.end - 1]
        if node.kind != "string" or not raw:
            continue
        at = text.find(raw, position)
        if at < 0 and failures < _FAILURES:
            failures += 1
            at = text.find(raw)
        if at < 0:
            continue
        position, rest = at + len(raw), _goes_on(text, raw, at) if failures < _FAILURES else ""
        if rest:
            failures += 1
            place = subject.arguments(index).place(node.start + 1)
            words = call_words(index, subject.trace.message.tool_calls[index].name)
            yield strings_whole.finding(
                f"A string of {words} ends early: in the output `{rest}` follows before its closing quote.",
                step=place.step,
                span=span_of(place, len(raw)),
                expected=raw + rest,
                actual=raw,
            )


def _goes_on(text: str, raw: str, at: int) -> str:
    """What follows a string inside its quotes; '' where any of its places ends with it, or it has too many."""
    first = ""
    for _ in range(_PLACES):
        if at < 0:
            return "" if any(f"{quote}{raw}{quote}" in text for quote in _QUOTES) else first
        quote, end = text[at - 1 : at], at + len(raw)
        if not quote or quote not in _QUOTES or text[at - 2 : at - 1] == "\\" or text[end : end + 1] in ("", quote):
            return ""
        closing = text.find(quote, end)
        if closing < 0 or "\n" in text[end:closing]:
            return ""
        first = first or text[end:closing]
        at = text.find(raw, at + 1)
    return ""


def _retyped(subject: Subject, index: int, root: Node, schema: Any) -> Iterator[Finding]:
    """Values whose schema is exactly string, that are something else, where the output does not write them so."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    arguments = subject.trace.message.tool_calls[index].arguments
    for member in root.members:
        declared = properties.get(member.key) if isinstance(properties, dict) else None
        if not isinstance(declared, dict) or declared.get("type") != "string" or member.value.kind == "string":
            continue
        spelling = arguments[member.value.start : member.value.end]
        if not written_so(subject.trace.text, member.key, spelling):
            place = subject.arguments(index).place(member.value.start)
            words = call_words(index, subject.trace.message.tool_calls[index].name)
            yield strings_whole.finding(
                f"`{member.key}` of {words} is declared a string and has become {spelling}.",
                step=place.step,
                span=span_of(place),
                expected=json.dumps(spelling),
                actual=spelling,
            )


def written_so(text: str, key: str, spelling: str) -> bool:
    """Whether the output itself writes this value as JSON or Python does: behind its key and a colon or equals sign."""
    separator = rf"""["']?\s*[:=]\s*{re.escape(spelling[:40])}"""
    return re.search(re.escape(key) + separator, text) is not None
