"""Checks on the arguments as JSON text: do they parse at the end, and could they at every step?

Whose fault bad JSON is, is decided at its source: if the parser wrote the opening brace itself, or a whole JSON object
stands in the output where the arguments begin, the parser broke it (an error); else the model wrote it so (a warning).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checks.base import LIMIT, Subject, call_words, check, span_of
from parsers.checks.json_prefix import JsonPrefix
from parsers.checks.json_tree import read_object, walk
from parsers.compare import Channel, excerpt, shared_prefix
from parsers.trace import About, Finding


@check("arguments_json", "J1", "The arguments of every call are one JSON object.")
def arguments_json(subject: Subject) -> list[Finding]:
    """One finding per call whose arguments do not parse, are cut off, or name a key twice."""
    findings: list[Finding] = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        reader = JsonPrefix()
        bad = reader.feed(call.arguments)
        if bad is None and reader.done:
            findings += _repeated_keys(subject, index)
        elif call.complete or (subject.context.finish_reason != "length" and bad is None):
            cut = bad is None and not call.complete
            findings.append(
                _unparsable(subject, index, bad, "output" if cut else _fault(subject, index, len(findings)))
            )
    return findings


def _unparsable(subject: Subject, index: int, bad: int | None, about: About) -> Finding:
    call = subject.trace.message.tool_calls[index]
    offset = len(call.arguments) if bad is None else bad
    place = subject.arguments(index).place(offset)
    words = call_words(index, call.name)
    if not call.arguments:
        message = f"The arguments of {words} are empty, not a JSON object."
    elif bad is None:
        message = f"The arguments of {words} end before their JSON does."
    else:
        message = f"The arguments of {words} are not one JSON object: character {bad} cannot stand there."
    return arguments_json.finding(
        message,
        severity="error" if about == "parser" else "warning",
        about=about,
        step=place.step,
        span=None if bad is None else span_of(place),
        actual=excerpt(call.arguments, offset),
    )


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
    """Whose fault it is that a call's arguments are not JSON. Looked at for the first findings only, to stay linear."""
    channel = subject.arguments(index)
    place = channel.place(0)
    if place.kind in ("synthetic", "converted"):
        return "parser"
    if not channel.text or examined >= LIMIT:
        return "output"
    raw = subject.trace.text.find(channel.text) if place.raw is None else place.raw
    if raw < 0:
        return "parser"
    return "parser" if _object_stands_at(subject.trace.text, raw, channel.text) else "output"


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
        if sent.text != call.arguments:
            findings.append(_parting(sent, call.arguments, call_words(index, call.name)))
        bad = JsonPrefix().feed(sent.text)
        if bad is not None:
            findings.append(_hopeless(subject, index, sent, bad, _fault(subject, index, len(findings))))
    return findings


def _parting(sent: Channel, final: str, words: str) -> Finding:
    offset = shared_prefix(sent.text, final)
    verb = "leave the final text" if offset < len(sent.text) else "stop short of the final text"
    return arguments_prefix.finding(
        f"The streamed arguments of {words} {verb} at character {offset}.",
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
