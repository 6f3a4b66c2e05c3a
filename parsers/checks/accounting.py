"""Checks that every character of the output is accounted for: no text is lost, and no call.

For a parser that says where its text comes from, the partition of the output and the segments of the text events are
examined. For a black box only the weak form is possible: every word of the output outside markers must turn up
somewhere in the message, and every whole call to a declared tool that the built-in parser of its format finds. (The
weak form follows invariant A1w of the collected user reports, the empty message A2.) What comes after a failure of the
parser is that failure's doing and is not counted again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from parsers.checks.check import LIMIT, Need, any_of, check
from parsers.checks.leaks import is_marker
from parsers.checks.origins import false_copy, is_sound
from parsers.checks.subject import Subject
from parsers.compare.divergence import excerpt
from parsers.vocabulary.channels import CONTENT, Channel, channel_of, message_texts
from parsers.vocabulary.drops import LOST, UNSAID, DropReason
from parsers.vocabulary.events import TextEvent
from parsers.vocabulary.trace import Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"<[|｜][^<>|｜\s]*[|｜]>")  # the usual spelling of a special token, whoever's it is
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
# Words of the envelope around calls in the known formats, and literals whose spelling JSON changes.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "parameter", "function", "functions", "invoke", "id", "type"))
_ENVELOPE |= {"action", "call", "string", "tool", "tool_call", "tool_calls", "value", "none", "null", "true", "false"}


@check("A1", "Every character of the output goes to one place; nothing is lost.", needs=(Need.RAW,))
def _spans_cover_input(subject: Subject) -> list[Finding]:
    """Errors for lost text and false copies; warnings for text that a rule of the parser drops."""
    if _is_all_lost(subject):
        return []
    if subject.black_box:
        return list(_lost_words(subject)) if subject.failed_at is None else []
    return [*_lost(subject), *_false_copies(subject.trace), *_dropped(subject)]


@check(
    "A2",
    "An output with text in it does not give an empty message.",
    needs=(Need.FINISHED, Need.RAW),
    word="all_output_lost",
)
def _all_output_lost(subject: Subject) -> list[Finding]:
    """At most one finding; no error where the parser gives a reason, a note where a policy is the reason."""
    if not _is_all_lost(subject):
        return []
    trace, text = subject.trace, subject.trace.text
    dropped = [run for run in trace.partition if run.owner == "dropped" and run.reason != LOST]
    start = len(text) - len(text.lstrip())
    step, span = trace.step_at(start), Span(start, len(text))
    if not dropped:
        message = "The whole output is lost: the message is empty."
        return [_all_output_lost.finding(message, step=step, span=span, actual=text)]
    reason = dropped[0].reason or UNSAID
    return [
        _all_output_lost.finding(
            f"The message is empty: {reason.words}.",
            severity="warning",
            about="output",
            step=step,
            span=span,
            actual=text,
            policy=subject.contract(reason.policy),
        )
    ]


def _is_all_lost(subject: Subject) -> bool:
    """Whether the message is empty though the output has text that is no marker."""
    trace, message = subject.trace, subject.trace.message
    if message.content or message.reasoning or message.tool_calls or subject.failed_at is not None:
        return False
    if subject.builtin.trace is not None:
        return any(text.strip() for text in _wanted(subject, subject.builtin.trace))
    if subject.black_box:
        return _WORD.search(_markup(subject).sub(" ", trace.text)) is not None
    specials = any_of([*subject.tokens.special, *subject.grammar.end_tokens])
    dropped = [trace.text[run.start : run.end] for run in trace.partition if run.owner == "dropped"]
    return any(specials.sub("", text).strip() for text in dropped)


def _markup(subject: Subject) -> re.Pattern[str]:
    """Whatever of an output is no text: the markers of the format and special tokens."""
    grammar = subject.grammar
    return any_of([*grammar.terminals.values(), *subject.tokens.special, *grammar.end_tokens])


def _lost(subject: Subject) -> Iterator[Finding]:
    """The first stretch of the output that went nowhere."""
    trace, failed = subject.trace, subject.failed_at
    spans = [Span(run.start, run.end) for run in trace.partition if run.reason == LOST]
    # What a failing parser held goes down with it, so a run that reaches the failure is told of there.
    spans = [span for span in spans if failed is None or span.end < failed]
    for span in spans[:1]:
        more = f" ({len(spans)} places in all)" if len(spans) > 1 else ""
        yield _spans_cover_input.finding(
            f"Characters {span.start} to {span.end} of the output were lost{more}.",
            step=trace.step_at(span.start),
            span=span,
            actual=trace.text[span.start : span.end],
        )


def _false_copies(trace: Trace) -> Iterator[Finding]:
    """The first text that does not read like the place it says it was copied from."""
    for step, event in trace.events():
        if isinstance(event, TextEvent) and (part := false_copy(trace, event)) is not None:
            yield _spans_cover_input.finding(
                f"`{channel_of(event)}` claims to copy characters {part.start} to {part.end}, which read differently.",
                topic=Topic.ADDITION,
                step=step.index,
                span=Span(part.start, part.end),
                expected=trace.text[part.start : part.end],
                actual=part.text,
            )
            return


def _dropped(subject: Subject) -> Iterator[Finding]:
    """One finding per reason for which text other than whitespace and special tokens is dropped."""
    trace, specials = subject.trace, any_of(subject.tokens.special)
    places: dict[DropReason, list[Span]] = {}
    for run in trace.partition:
        solid = specials.sub("", trace.text[run.start : run.end]).strip()
        if run.owner == "dropped" and run.reason != LOST and solid:
            places.setdefault(run.reason or UNSAID, []).append(Span(run.start, run.end))
    for reason, spans in places.items():
        start, end = spans[0]
        more = f" and {len(spans) - 1} more places" if len(spans) > 1 else ""
        yield _spans_cover_input.finding(
            f"Characters {start} to {end}{more} reach nobody: {reason.words}.",
            severity="warning",
            about="output",
            step=trace.step_at(start),
            span=spans[0],
            actual=trace.text[start:end],
            policy=subject.contract(reason.policy),
        )


def _lost_words(subject: Subject) -> Iterator[Finding]:
    """The weak form: the first word of the output that the message does not hold, else the first sign."""
    trace, reference = subject.trace, subject.builtin.trace
    known = _words(message_texts(trace.message).values()) | _ENVELOPE
    bare = _TOKEN.sub(" ", _markup(subject).sub(" ", trace.text))
    lost = [word for word in _WORD.findall(_unescaped(bare)) if word.casefold() not in known]
    if reference is not None:
        wanted = _words(_wanted(subject, reference))
        lost = [word for word in lost if word.casefold() in wanted]
    if not lost:
        yield from _lost_signs(subject)
        return
    start = trace.text.find(lost[0])
    more = f" ({counted(len(lost), 'word')} in all)" if len(lost) > 1 else ""
    yield _spans_cover_input.finding(
        f"The word `{lost[0]}` of the output is nowhere in the message{more}.",
        severity="warning",
        step=None if start < 0 else trace.step_at(start),
        span=None if start < 0 else Span(start, start + len(lost[0])),
        actual=excerpt(trace.text, max(start, 0)),
    )


def _lost_signs(subject: Subject) -> Iterator[Finding]:
    """Signs that are no words, where the content of a black box is that of the built-in parser without some of them."""
    trace, reference, markup = subject.trace, subject.builtin.trace, _markup(subject)
    if reference is None or reference.rejected_calls:
        return
    wanted, given = reference.channels[CONTENT], trace.message.content or ""
    if markup.search(wanted.text) or markup.search(given):
        return
    left, met, lost = "".join(given.split()), 0, list[int]()
    for offset, char in enumerate(wanted.text):
        if char == left[met : met + 1]:
            met += 1
        elif not char.isspace():
            lost.append(offset)
    if not lost or met < len(left):
        return
    place = wanted.place(lost[0])
    more = f" ({counted(len(lost), 'character')} in all)" if len(lost) > 1 else ""
    yield _spans_cover_input.finding(
        f"The `{wanted.text[lost[0]]}` of the output is nowhere in the content{more}.",
        severity="warning",
        step=None if place.raw is None else trace.step_at(place.raw),
        span=place.span(),
        expected=excerpt(wanted.text, lost[0]),
        actual=excerpt(given, lost[0]),
    )


def _wanted(subject: Subject, reference: Trace) -> list[str]:
    """What the built-in parser of a black box's format delivers, but for calls that a server may refuse."""
    message = reference.message
    calls = [f"{call.name} {call.arguments}" for call in message.tool_calls if is_sound(subject, call)]
    content = "" if reference.rejected_calls else message.content or ""
    return [content, message.reasoning or "", *calls]


def _words(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(_unescaped(text))}


def _unescaped(text: str) -> str:
    """`text` with its JSON escapes undone, so that raw and re-written text read alike."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)) if match.group(1) else " ", text)


@check(
    "L6",
    "A call that the output begins with a marker of the format is found.",
    severity="warning",
    about="output",
    needs=(Need.TOOLS, Need.FINISHED, Need.RAW),
    word="tool_call_dropped",
)
def _tool_call_dropped(subject: Subject) -> list[Finding]:
    """Errors for whole calls that a black box misses; warnings for outputs whose only calls cannot be read."""
    if subject.request.tool_choice == "none":
        return []
    if subject.builtin.trace is not None:
        return list(islice(_missed(subject, subject.builtin.trace), LIMIT))
    if subject.calls:
        return []
    markers = tuple(literal for literal in subject.grammar.terminals.values() if is_marker(literal))
    begun = [call for call in subject.trace.rejected_calls if subject.trace.text.startswith(markers, call.start)]
    return [_unread(subject, call) for call in begun[:1]]


def _unread(subject: Subject, call: RejectedCall) -> Finding:
    cut = call.end == len(subject.trace.text)
    return _tool_call_dropped.finding(
        f"A call begins at {call.start}, but the output has no call that can be read: {call.reason.words}.",
        step=subject.trace.step_at(call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
        policy=subject.contract("truncated_call" if cut else call.reason.policy),
    )


def _missed(subject: Subject, reference: Trace) -> Iterator[Finding]:
    """Calls of declared tools that the built-in parser finds whole and this one does not find at all."""
    left = Counter(call.name for call in subject.calls)
    for index, call in enumerate(reference.message.tool_calls):
        left[call.name] -= 1
        place = reference.channels[Channel(index, "name")].place(0)
        if left[call.name] >= 0 or not is_sound(subject, call) or _is_shown(subject, place.raw or 0):
            continue
        yield _tool_call_dropped.finding(
            f"The call to `{call.name}` is not found; the built-in parser `{reference.parser}` reads it whole.",
            severity="error",
            about="parser",
            step=None if place.raw is None else subject.trace.step_at(place.raw),
            span=place.span(len(call.name)),
            expected=call.arguments,
        )


def _is_shown(subject: Subject, raw: int) -> bool:
    """Whether a call stands in a block of code, where it may be an example, or in reasoning, where it may be a plan."""
    text = subject.trace.text
    if text.count("```", 0, raw) % 2:
        return True
    closer = any_of(subject.grammar.closers).search(text, raw)
    opener = any_of(subject.grammar.openers).search(text, raw)
    return closer is not None and (opener is None or closer.start() < opener.start())
