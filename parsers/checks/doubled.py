"""Checks that the message is made of the output: nothing is sent twice, and nothing is made up.

Places are believed where the parser gives them. Beside them, and for a black box alone, what is sent is laid over
what had arrived by then.
"""

from __future__ import annotations

from itertools import pairwise

from parsers.checks.alignment import align
from parsers.checks.base import Subject, channel_words, check
from parsers.checks.made_up import made_up
from parsers.compare import Channel, Stretch, channel_of, known_parts
from parsers.events import TextEvent
from parsers.trace import Finding, Trace
from parsers.types import Span

_FLOWING = ("reasoning", "content")
_SHOWN = 40


@check(
    "no_double_ownership",
    "A4",
    "No character of the output is sent twice, or to two channels.",
    needs=("raw",),
)
def no_double_ownership(subject: Subject) -> list[Finding]:
    """At most one finding: the first place that is sent again."""
    trace = subject.trace
    sent: list[tuple[int, int, str, int]] = []
    for step, event in trace.events():
        # A call's id may hold its name, so only the flowing text must have a place of its own.
        if isinstance(event, TextEvent) and event.owner in ("content", "reasoning", "arguments"):
            name = channel_of(event)
            sent += [(p.start, p.end, name, step.index) for p in known_parts(event) if p.end > p.start]
    sent.sort()
    for (start, end, name, step_a), (again, _, other, step_b) in pairwise(sent):
        if again < end:
            return [_twice(trace, Span(max(start, again), end), name, other, max(step_a, step_b))]
    return _sent_again(subject) or _in_both(subject)


def _twice(trace: Trace, span: Span, name: str, other: str, step: int) -> Finding:
    where = f"twice to `{name}`" if name == other else f"to both `{name}` and `{other}`"
    return no_double_ownership.finding(
        f"Characters {span.start} to {span.end} were sent {where}.",
        step=step,
        span=span,
        actual=trace.text[span.start : span.end],
    )


def _sent_again(subject: Subject) -> list[Finding]:
    """Text that the output does not have a second time."""
    for name in _FLOWING:
        found = misfit(subject, name)
        if found is not None and (at := _stands(subject.trace, *found)) is not None:
            text, step = _around(*found), found[0].step
            span = Span(at, at + len(text))
            message = f"`{text}` is sent to {channel_words(name, [])} once more than the output has it."
            return [no_double_ownership.finding(message, step=step, span=span, actual=text)]
    return []


def _in_both(subject: Subject) -> list[Finding]:
    """More of some letter in content and reasoning together than has arrived, though each of them alone fits."""
    trace = subject.trace
    if not (trace.message.content and trace.message.reasoning) or any(misfit(subject, name) for name in _FLOWING):
        return []
    room: dict[str, int] = {}
    for step in trace.steps:
        for char in trace.text[step.span.start : step.span.end]:
            room[char] = room.get(char, 0) + 1
        sent = "" if step.delta is None else (step.delta.reasoning or "") + (step.delta.content or "")
        for char in sent:
            room[char] = room.get(char, 0) - 1
            if room[char] < 0 and not char.isspace():
                message = "What is sent as reasoning and as content is together more than the output has."
                return [no_double_ownership.finding(message, step=step.index, actual=sent)]
    return []


@check(
    "nothing_invented",
    "A3",
    "Everything sent comes from the output: text is a copy, and so are argument values.",
    needs=("raw",),
)
def nothing_invented(subject: Subject) -> list[Finding]:
    """Errors for text, words and numbers that the output does not have."""
    if _claims_falsely(subject.trace):
        return []  # spans_cover_input tells of it
    findings = []
    for name in _FLOWING:
        found = misfit(subject, name)
        if found is not None and _stands(subject.trace, *found) is None:
            stretch, offset = found
            findings.append(
                nothing_invented.finding(
                    f"`{_around(stretch, offset)}` is sent to {channel_words(name, [])}; the output does not have it.",
                    step=stretch.step,
                    actual=stretch.text,
                )
            )
    return findings + [
        nothing_invented.finding(message, step=place.step, actual=word) for message, place, word in made_up(subject)
    ]


def misfit(subject: Subject, name: str) -> tuple[Stretch, int] | None:
    """The first text of a channel that cannot have come from what had arrived, and where it stops fitting."""
    found = align(subject.trace, subject.streamed.get(name, Channel("")))
    return None if found.misfit is None else (found.misfit, found.offset)


def _around(stretch: Stretch, offset: int) -> str:
    """What was sent around the place where it stops fitting."""
    return stretch.text[max(0, offset - _SHOWN) : offset + _SHOWN].strip()


def _stands(trace: Trace, stretch: Stretch, offset: int) -> int | None:
    """Where text that does not fit stands in what had arrived: then it was sent before, or out of turn."""
    limit = trace.steps[stretch.step - 1].span.end
    rest = stretch.text[offset : offset + _SHOWN].strip()
    places = [trace.text.find(text, 0, limit) for text in (stretch.text.strip(), rest)]
    return next((at for at in places if at >= 0), None)


def _claims_falsely(trace: Trace) -> bool:
    parts = (p for _, e in trace.events() if isinstance(e, TextEvent) for p in known_parts(e))
    return any(part.kind == "copied" and trace.text[part.start : part.end] != part.text for part in parts)
