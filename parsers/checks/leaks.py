"""Checks that no marker of the format reaches the client as text.

Only literals that cannot be ordinary prose count as markers: a letter and a bracket or bar. A marker that stays as
text under every chunking is the model's doing (a warning); one that another chunking of the same output recognises
is the parser's (an error), and so is one that the built-in parser reads while it finds the same calls. Markers inside
an argument string, and those of a call that could not be read and was kept on purpose, are notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from parsers.checks.base import Check, Subject, any_of, call_words, channel_words, check, span_of
from parsers.checks.json_prefix import JsonPrefix
from parsers.compare import ANY_ID, Place, channel_texts, same_message, step_at
from parsers.trace import Finding, RejectedCall
from parsers.types import Message, Span

_Texts = list[tuple[str, dict[str, str]]]
_GIVEN_BACK = frozenset(("rejected_call", "fallback_released"))  # what these tell of became text again
_BRACKETS = frozenset("<>[]|｜")


def is_marker(literal: str) -> bool:
    """Whether a terminal's literal is unmistakable: it has a letter and a bracket or bar."""
    return not _BRACKETS.isdisjoint(literal) and any(char.isalpha() for char in literal)


@check(
    "no_terminal_leak",
    "L1",
    "No marker of the format is left in the content.",
    word="tool_markup_in_content",
)
def no_terminal_leak(subject: Subject) -> list[Finding]:
    """One finding per marker, and one note per rejected call."""
    rejected: dict[int, RejectedCall] = {}
    found = list(_in_text(no_terminal_leak, subject, ("content",), rejected))
    return found + [_kept(subject, call) for call in rejected.values()]


@check(
    "no_reasoning_leak",
    "L2",
    "No marker of the format, and so no call, is left in the reasoning.",
    word="tool_markup_in_reasoning",
)
def no_reasoning_leak(subject: Subject) -> list[Finding]:
    """One finding per marker."""
    return list(_in_text(no_reasoning_leak, subject, ("reasoning",), {}))


@check("no_argument_leak", "L3", "No marker of the format stands in a name, or in arguments outside their strings.")
def no_argument_leak(subject: Subject) -> list[Finding]:
    """One finding per marker and call; one that is quoted in a string is a note."""
    names = [name for name in subject.channels if name.endswith(".name")]
    return [*_in_text(no_argument_leak, subject, names, {}), *_in_arguments(subject)]


def markers_of(subject: Subject) -> list[str]:
    """The markers that may leak: none where the request says that no call is to be read."""
    return [] if subject.context.tool_choice == "none" else [m for m in subject.terminals.values() if is_marker(m)]


def _in_text(of: Check, subject: Subject, names: Iterable[str], rejected: dict[int, RejectedCall]) -> Iterator[Finding]:
    pattern, others = any_of(markers_of(subject)), _other_texts(subject)
    for name in names:
        channel = subject.channels[name]
        places: dict[str, list[Place]] = {}
        for match in pattern.finditer(channel.text):
            place = channel.place(match.start())
            call = subject.rejected_at(place.raw)
            if call is None:
                places.setdefault(match.group(), []).append(place)
            else:
                rejected[call.start] = call
        yield from (_leak(of, subject, others, name, literal, found) for literal, found in places.items())


def _leak(of: Check, subject: Subject, others: _Texts, name: str, literal: str, places: list[Place]) -> Finding:
    where = channel_words(name, subject.trace.message.tool_calls)
    times = f" {len(places)} times" if len(places) > 1 else ""
    count = subject.channels[name].text.count(literal)
    reader = next((who for who, texts in others if texts.get(name, literal * count).count(literal) < count), None)
    place = next((place for place in places if _was_read(subject, place, literal)), None)
    span = span_of(place or places[0], len(literal))
    if reader is None and place is None:
        message = f"`{literal}` stands in {where}{times}, written as text."
        return of.finding(message, severity="warning", about="output", step=places[0].step, span=span)
    message = f"`{literal}` leaks into {where}{times}, while {reader or 'the parser itself'} reads it as a marker."
    return of.finding(message, step=(place or places[0]).step, span=span, actual=literal)


def _was_read(subject: Subject, place: Place, literal: str) -> bool:
    """Whether the parser moved on by this very marker, which it nevertheless sent."""
    if place.raw is None or place.step is None or place.kind != "copied":
        return False
    step = subject.trace.steps[place.step - 1]
    if any(event.code in _GIVEN_BACK for event in step.diagnostics):
        return False
    return any(subject.terminals.get(m.trigger) == literal for m in step.transitions if m.start == place.raw)


def _other_texts(subject: Subject) -> _Texts:
    """The channels of other replays with another message, and of the built-in parser if it finds the same calls."""
    message = subject.trace.message
    differing = [(label, t.message) for label, t in subject.others if not same_message(message, t.message, ANY_ID)]
    texts = [(f'the chunking "{label}"', channel_texts(other)) for label, other in differing]
    reference = subject.reference
    if reference is not None and _calls(reference.message) == _calls(message) != []:
        texts.append((f"the built-in parser `{reference.parser}`", channel_texts(reference.message)))
    return texts


def _calls(message: Message) -> list[str]:
    return [call.name for call in message.tool_calls if call.complete]


def _kept(subject: Subject, call: RejectedCall) -> Finding:
    return no_terminal_leak.finding(
        f"The call at {call.start} to {call.end} could not be read and stays in the text: {call.reason}.",
        severity="info",
        about="output",
        step=step_at(subject.trace, call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
    )


def _in_arguments(subject: Subject) -> Iterator[Finding]:
    markers = markers_of(subject)
    pattern = any_of([*markers, *_escaped(markers)])
    for index, call in enumerate(subject.trace.message.tool_calls):
        seen: set[str] = set()
        reader, read = JsonPrefix(), 0
        for match in pattern.finditer(call.arguments):
            if reader.feed(call.arguments[read : match.start()]) is not None:
                break  # no JSON even before the marker: arguments_json tells of it
            read = match.start()
            if match.group() not in seen:
                seen.add(match.group())
                # A marker may itself begin with the quote that opens the string.
                quoted = reader.in_string or match.group().startswith('"')
                yield _in_argument(subject, index, match.group(), read, quoted=quoted)


def _in_argument(subject: Subject, index: int, literal: str, offset: int, *, quoted: bool) -> Finding:
    words = call_words(index, subject.trace.message.tool_calls[index].name)
    place = subject.arguments(index).place(offset)
    span = span_of(place, len(literal))
    if quoted:
        message = f"`{literal}` is quoted inside {words} and is kept as text there."
        return no_argument_leak.finding(message, severity="info", about="output", step=place.step, span=span)
    message = f"`{literal}` stands among the arguments of {words}, outside any string."
    return no_argument_leak.finding(message, step=place.step, span=span, actual=literal)


def _escaped(markers: Iterable[str]) -> list[str]:
    """The markers as they read inside a JSON string."""
    return [json.dumps(marker, ensure_ascii=False)[1:-1] for marker in markers]
