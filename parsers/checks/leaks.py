"""Check that no marker of the format reaches the client as text.

Only literals that cannot be ordinary prose count as markers: a letter and a bracket or bar. A marker that stays as
text under every chunking is the model's doing (a warning); one that another chunking of the same output recognises
is the parser's (an error). Markers inside an argument string, and those of a call that could not be read and was kept
on purpose, are notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from parsers.checks.base import Subject, any_of, call_words, channel_words, check, span_of
from parsers.compare import Place, channel_texts, same_message, step_at
from parsers.trace import Finding, RejectedCall
from parsers.types import Span

_Texts = list[tuple[str, dict[str, str]]]
_BRACKETS = frozenset("<>[]|｜")


def is_marker(literal: str) -> bool:
    """Whether a terminal's literal is unmistakable: it has a letter and a bracket or bar."""
    return not _BRACKETS.isdisjoint(literal) and any(char.isalpha() for char in literal)


@check("no_terminal_leak", "L1", "No marker of the format is left in the content, the reasoning or a name.")
def no_terminal_leak(subject: Subject) -> list[Finding]:
    """One finding per marker and channel, one note per rejected call and per quoted marker."""
    markers = [literal for literal in subject.terminals.values() if is_marker(literal)]
    if subject.context.tool_choice == "none" or not markers:
        return []
    return [*_in_text(subject, markers), *_in_arguments(subject, markers)]


def _in_text(subject: Subject, markers: list[str]) -> Iterator[Finding]:
    pattern, others = any_of(markers), _other_texts(subject)
    rejected: dict[int, RejectedCall] = {}
    for name, channel in subject.channels.items():
        if name.endswith((".arguments", ".id")):
            continue
        places: dict[str, list[Place]] = {}
        for match in pattern.finditer(channel.text):
            place = channel.place(match.start())
            call = subject.rejected_at(place.raw)
            if call is None:
                places.setdefault(match.group(), []).append(place)
            else:
                rejected[call.start] = call
        yield from (_leak(subject, others, name, literal, found) for literal, found in places.items())
    yield from (_kept(subject, call) for call in rejected.values())


def _leak(subject: Subject, others: _Texts, name: str, literal: str, places: list[Place]) -> Finding:
    where = channel_words(name, subject.trace.message.tool_calls)
    times = f" {len(places)} times" if len(places) > 1 else ""
    place, span = places[0], span_of(places[0], len(literal))
    count = subject.channels[name].text.count(literal)
    label = next((label for label, texts in others if texts.get(name, literal * count).count(literal) < count), None)
    if label is None:
        message = f"`{literal}` stands in {where}{times}, written as text."
        return no_terminal_leak.finding(message, severity="warning", about="output", step=place.step, span=span)
    message = f'`{literal}` leaks into {where}{times}, while the chunking "{label}" reads it as a marker.'
    return no_terminal_leak.finding(message, step=place.step, span=span, actual=literal)


def _other_texts(subject: Subject) -> _Texts:
    """The channels of the other replays whose message differs, by label."""
    message = subject.trace.message
    differing = [(label, t.message) for label, t in subject.others if not same_message(message, t.message, ids=False)]
    return [(label, channel_texts(other)) for label, other in differing]


def _kept(subject: Subject, call: RejectedCall) -> Finding:
    return no_terminal_leak.finding(
        f"The call at {call.start} to {call.end} could not be read and stays in the text: {call.reason}.",
        severity="info",
        about="output",
        step=step_at(subject.trace, call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
    )


def _in_arguments(subject: Subject, markers: list[str]) -> Iterator[Finding]:
    pattern = any_of([*markers, *_escaped(markers)])
    for index, call in enumerate(subject.trace.message.tool_calls):
        seen: set[str] = set()
        for match in pattern.finditer(call.arguments):
            if match.group() not in seen:
                seen.add(match.group())
                place = subject.arguments(index).place(match.start())
                yield no_terminal_leak.finding(
                    f"`{match.group()}` is quoted inside {call_words(index, call.name)} and is kept as text there.",
                    severity="info",
                    about="output",
                    step=place.step,
                    span=span_of(place, len(match.group())),
                )


def _escaped(markers: Iterable[str]) -> list[str]:
    """The markers as they read inside a JSON string."""
    return [json.dumps(marker, ensure_ascii=False)[1:-1] for marker in markers]
