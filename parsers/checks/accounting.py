"""Check that every character of the output is accounted for.

For a parser that says where its text comes from, the partition of the output and the segments of the text events are
examined. For a black box only the weak form is possible: every word of the output outside markers must turn up
somewhere in the message. (The weak form follows invariant A1w of the collected user reports, the empty message A2.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from parsers.checks.base import Subject, any_of, check
from parsers.compare import channel_of, channel_texts, excerpt, known_parts, step_at
from parsers.events import Segment, TextEvent
from parsers.trace import Finding, Ownership, Trace
from parsers.types import Span

_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
# Words of the envelope around calls in the known formats, and literals whose spelling JSON changes.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "parameter", "function", "functions", "invoke", "id", "type"))
_ENVELOPE |= {"action", "call", "string", "tool", "tool_call", "tool_calls", "value", "none", "null", "true", "false"}


@check("spans_cover_input", "A1", "Every character of the output goes to one place; nothing is lost or doubled.")
def spans_cover_input(subject: Subject) -> list[Finding]:
    """Errors for gaps, overlaps, lost and doubled text; warnings for text that a rule of the parser drops."""
    if subject.black_box:
        return _words(subject)
    return [*_tiling(subject.trace), *_lost(subject.trace), *_doubled(subject.trace), *_dropped(subject)]


def _tiling(trace: Trace) -> Iterator[Finding]:
    """The first gap and the first overlap of the partition."""
    position, gaps, overlaps = 0, [], []
    for run in [*trace.partition, Ownership(len(trace.text), len(trace.text), "marker")]:
        if run.start > position:
            gaps.append(Span(position, run.start))
        elif run.start < position:
            overlaps.append(Span(run.start, position))
        position = max(position, run.end)
    for spans, words in ((gaps, "went nowhere"), (overlaps, "went to two places")):
        if spans:
            yield _error(trace, spans[0], words, len(spans))


def _lost(trace: Trace) -> Iterator[Finding]:
    runs = [Span(run.start, run.end) for run in trace.partition if run.owner == "dropped" and run.reason == "lost"]
    if runs:
        yield _error(trace, runs[0], "were lost", len(runs))


def _error(trace: Trace, span: Span, words: str, places: int) -> Finding:
    more = f" ({places} places in all)" if places > 1 else ""
    return spans_cover_input.finding(
        f"Characters {span.start} to {span.end} of the output {words}{more}.",
        step=step_at(trace, span.start),
        span=span,
        actual=trace.text[span.start : span.end],
    )


def _doubled(trace: Trace) -> Iterator[Finding]:
    """Text that is sent twice, and copies that do not read like the place they were copied from."""
    sent: list[tuple[int, int, str]] = []
    for step, event in trace.events():
        if isinstance(event, TextEvent):
            name = channel_of(event)
            for part in known_parts(event):
                if part.kind == "copied" and trace.text[part.start : part.end] != part.text:
                    yield _false_copy(trace, part, name, step.index)
                # A call's id may hold its name, so only the flowing text must have a place of its own.
                if part.end > part.start and event.owner in ("content", "reasoning", "arguments"):
                    sent.append((part.start, part.end, name))
    sent.sort()
    for (start, end, name), (again, _, other) in pairwise(sent):
        if again < end:
            yield _twice(trace, Span(max(start, again), end), name, other)
            return


def _false_copy(trace: Trace, part: Segment, name: str, step: int) -> Finding:
    return spans_cover_input.finding(
        f"`{name}` claims to copy characters {part.start} to {part.end}, which read differently.",
        step=step,
        span=Span(part.start, part.end),
        expected=trace.text[part.start : part.end],
        actual=part.text,
    )


def _twice(trace: Trace, span: Span, name: str, other: str) -> Finding:
    where = f"twice to `{name}`" if name == other else f"to both `{name}` and `{other}`"
    return spans_cover_input.finding(
        f"Characters {span.start} to {span.end} were sent {where}.",
        step=step_at(trace, span.start),
        span=span,
        actual=trace.text[span.start : span.end],
    )


def _dropped(subject: Subject) -> Iterator[Finding]:
    """One warning per reason for which text other than whitespace and special tokens is dropped."""
    specials = any_of(subject.special_tokens)
    runs: dict[str, list[Span]] = {}
    for run in subject.trace.partition:
        text = subject.trace.text[run.start : run.end]
        if run.owner == "dropped" and run.reason != "lost" and specials.sub("", text).strip():
            runs.setdefault(run.reason or "no reason given", []).append(Span(run.start, run.end))
    for reason, spans in runs.items():
        more = f" and {len(spans) - 1} more places" if len(spans) > 1 else ""
        yield spans_cover_input.finding(
            f"Characters {spans[0].start} to {spans[0].end}{more} reach nobody: {reason}.",
            severity="warning",
            about="output",
            step=step_at(subject.trace, spans[0].start),
            span=spans[0],
            actual=subject.trace.text[spans[0].start : spans[0].end],
        )


def _words(subject: Subject) -> list[Finding]:
    """The weak form: words of the output that the message does not hold."""
    trace = subject.trace
    known = {word.casefold() for text in channel_texts(trace.message).values() for word in _WORD.findall(_plain(text))}
    bare = any_of([*subject.terminals.values(), *subject.special_tokens]).sub(" ", trace.text)
    if not known and bare.strip():
        return [spans_cover_input.finding("The whole output is lost: the message is empty.", actual=trace.text)]
    known |= _ENVELOPE
    lost = [word for word in _WORD.findall(_plain(bare)) if word.casefold() not in known]
    if not lost:
        return []
    at = trace.text.find(lost[0])
    more = f" ({len(lost)} words in all)" if len(lost) > 1 else ""
    finding = spans_cover_input.finding(
        f"The word `{lost[0]}` of the output is nowhere in the message{more}.",
        severity="warning",
        step=None if at < 0 else step_at(trace, at),
        span=None if at < 0 else Span(at, at + len(lost[0])),
        actual=excerpt(trace.text, max(at, 0)),
    )
    return [finding]


def _plain(text: str) -> str:
    """`text` with its JSON escapes undone, so that raw and re-written text read alike."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)) if match.group(1) else " ", text)
