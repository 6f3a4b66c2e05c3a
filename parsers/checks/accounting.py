"""Checks that every character of the output is accounted for: none is lost, and none is sent twice.

For a parser that says where its text comes from, the partition of the output and the segments of the text events are
examined. For a black box only the weak form is possible: every word of the output outside markers must turn up
somewhere in the message. (The weak form follows invariant A1w of the collected user reports, the empty message A2.)
What comes after a failure of the parser is that failure's doing and is not counted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from parsers.checks.base import Subject, any_of, check
from parsers.checks.made_up import is_sound
from parsers.compare import channel_of, channel_texts, channels, excerpt, known_parts, step_at
from parsers.events import Segment, TextEvent
from parsers.trace import Finding, Ownership, Trace
from parsers.types import Span

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"<[|｜][^<>|｜\s]*[|｜]>")  # the usual spelling of a special token, whoever's it is
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
# Words of the envelope around calls in the known formats, and literals whose spelling JSON changes.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "parameter", "function", "functions", "invoke", "id", "type"))
_ENVELOPE |= {"action", "call", "string", "tool", "tool_call", "tool_calls", "value", "none", "null", "true", "false"}
_CHOSEN = {"declared tool": "unknown_tool", "cut": "truncated_call", "(recovery is": "recovery"}
_CHOSEN |= {"not one JSON object": "invalid_call", "invalid call": "invalid_call", "rejected call": "recovery"}


@check(
    "spans_cover_input",
    "A1",
    "Every character of the output goes to one place; nothing is lost.",
    needs=("raw",),
)
def spans_cover_input(subject: Subject) -> list[Finding]:
    """Errors for gaps, overlaps and lost text; warnings for text that a rule of the parser drops."""
    if is_all_lost(subject):
        return []
    if subject.black_box:
        return _words(subject) if subject.failed_at is None else []
    return [*_tiling(subject), *_lost(subject), *_false_copies(subject.trace), *_dropped(subject)]


@check(
    "all_output_lost",
    "A2",
    "An output with text in it does not give an empty message.",
    needs=("finished", "raw"),
    word="all_output_lost",
)
def all_output_lost(subject: Subject) -> list[Finding]:
    """At most one finding; no error where the parser gives a reason, a note where a policy is the reason."""
    if not is_all_lost(subject):
        return []
    reasons = [run.reason or "" for run in subject.trace.partition if run.owner == "dropped" and run.reason != "lost"]
    text = subject.trace.text
    at = len(text) - len(text.lstrip())
    step, span = step_at(subject.trace, at), Span(at, len(text))
    if not reasons:
        message = "The whole output is lost: the message is empty."
        return [all_output_lost.finding(message, step=step, span=span, actual=text)]
    policy = _contract(subject, reasons[0])
    return [
        all_output_lost.finding(
            f"The message is empty: {reasons[0]}.",
            severity="info" if policy else "warning",
            about="output",
            step=step,
            span=span,
            actual=text,
            policy=policy,
        )
    ]


def is_all_lost(subject: Subject) -> bool:
    """Whether the message is empty though the output has text that is no marker."""
    trace, message = subject.trace, subject.trace.message
    if message.content or message.reasoning or message.tool_calls or subject.failed_at is not None:
        return False
    if subject.reference is not None:
        return any(text.strip() for text in _wanted(subject, subject.reference))
    specials = any_of([*subject.special_tokens, *subject.end_tokens])
    if subject.black_box:
        bare = any_of([*subject.terminals.values(), *subject.special_tokens, *subject.end_tokens]).sub(" ", trace.text)
        return _WORD.search(bare) is not None
    dropped = [trace.text[run.start : run.end] for run in trace.partition if run.owner == "dropped"]
    return any(specials.sub("", text).strip() for text in dropped)


def _tiling(subject: Subject) -> Iterator[Finding]:
    """The first gap and the first overlap of the partition."""
    trace, failed = subject.trace, subject.failed_at
    position, gaps, overlaps = 0, [], []
    for run in [*trace.partition, Ownership(len(trace.text), len(trace.text), "marker")]:
        if run.start > position and (failed is None or run.start < failed):
            gaps.append(Span(position, run.start))
        elif run.start < position:
            overlaps.append(Span(run.start, position))
        position = max(position, run.end)
    for spans, words in ((gaps, "went nowhere"), (overlaps, "went to two places")):
        if spans:
            yield _error(trace, spans[0], words, len(spans))


def _lost(subject: Subject) -> Iterator[Finding]:
    trace, failed = subject.trace, subject.failed_at
    runs = [Span(run.start, run.end) for run in trace.partition if run.owner == "dropped" and run.reason == "lost"]
    # What a failing parser held goes down with it, so a run that reaches the failure is told of there.
    runs = [run for run in runs if failed is None or run.end < failed]
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


def _false_copies(trace: Trace) -> Iterator[Finding]:
    """The first text that does not read like the place it says it was copied from."""
    for step, event in trace.events():
        if isinstance(event, TextEvent):
            for part in known_parts(event):
                if part.kind == "copied" and trace.text[part.start : part.end] != part.text:
                    yield _false_copy(trace, part, channel_of(event), step.index)
                    return


def _false_copy(trace: Trace, part: Segment, name: str, step: int) -> Finding:
    return spans_cover_input.finding(
        f"`{name}` claims to copy characters {part.start} to {part.end}, which read differently.",
        step=step,
        span=Span(part.start, part.end),
        expected=trace.text[part.start : part.end],
        actual=part.text,
    )


def _dropped(subject: Subject) -> Iterator[Finding]:
    """One finding per reason for which text other than whitespace and special tokens is dropped."""
    specials = any_of(subject.special_tokens)
    runs: dict[str, list[Span]] = {}
    for run in subject.trace.partition:
        text = subject.trace.text[run.start : run.end]
        if run.owner == "dropped" and run.reason != "lost" and specials.sub("", text).strip():
            runs.setdefault(run.reason or "no reason given", []).append(Span(run.start, run.end))
    for reason, spans in runs.items():
        more = f" and {len(spans) - 1} more places" if len(spans) > 1 else ""
        policy = _contract(subject, reason)
        yield spans_cover_input.finding(
            f"Characters {spans[0].start} to {spans[0].end}{more} reach nobody: {reason}.",
            severity="info" if policy else "warning",
            about="output",
            step=step_at(subject.trace, spans[0].start),
            span=spans[0],
            actual=subject.trace.text[spans[0].start : spans[0].end],
            policy=policy,
        )


def _contract(subject: Subject, reason: str) -> str | None:
    """The policy that drops text for this reason, where one does."""
    key = next((key for words, key in _CHOSEN.items() if words in reason), None)
    value = None if key is None else subject.policy.get(key)
    return None if value is None else f"{key}={value}"


def _words(subject: Subject) -> list[Finding]:
    """The weak form: words of the output that the message does not hold."""
    trace = subject.trace
    known = _known(channel_texts(trace.message).values()) | _ENVELOPE
    bare = any_of([*subject.terminals.values(), *subject.special_tokens, *subject.end_tokens]).sub(" ", trace.text)
    bare = _TOKEN.sub(" ", bare)
    lost = [word for word in _WORD.findall(_plain(bare)) if word.casefold() not in known]
    if subject.reference is not None:
        wanted = _known(_wanted(subject, subject.reference))
        lost = [word for word in lost if word.casefold() in wanted]
    if not lost:
        return _signs(subject)
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


def _signs(subject: Subject) -> list[Finding]:
    """Signs that are no words, where the content of a black box is that of the built-in parser without some of them."""
    trace, reference = subject.trace, subject.reference
    if reference is None or reference.rejected_calls:
        return []
    wanted, given = channels(reference)["content"], trace.message.content or ""
    markup = any_of([*subject.terminals.values(), *subject.special_tokens, *subject.end_tokens])
    if markup.search(wanted.text) or markup.search(given):
        return []
    left, met, lost = "".join(given.split()), 0, list[int]()
    for at, char in enumerate(wanted.text):
        if char == left[met : met + 1]:
            met += 1
        elif not char.isspace():
            lost.append(at)
    if not lost or met < len(left):
        return []
    char, raw = wanted.text[lost[0]], wanted.place(lost[0]).raw
    more = f" ({len(lost)} characters in all)" if len(lost) > 1 else ""
    finding = spans_cover_input.finding(
        f"The `{char}` of the output is nowhere in the content{more}.",
        severity="warning",
        step=None if raw is None else step_at(trace, raw),
        span=None if raw is None else Span(raw, raw + 1),
        expected=excerpt(wanted.text, lost[0]),
        actual=excerpt(given, lost[0]),
    )
    return [finding]


def _wanted(subject: Subject, reference: Trace) -> list[str]:
    """What the built-in parser of a black box's format delivers, but for calls that a server may refuse."""
    message = reference.message
    calls = [f"{call.name} {call.arguments}" for call in message.tool_calls if is_sound(subject, call)]
    content = "" if reference.rejected_calls else message.content or ""
    return [content, message.reasoning or "", *calls]


def _known(texts: Iterable[str]) -> set[str]:
    return {word.casefold() for text in texts for word in _WORD.findall(_plain(text))}


def _plain(text: str) -> str:
    """`text` with its JSON escapes undone, so that raw and re-written text read alike."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)) if match.group(1) else " ", text)
