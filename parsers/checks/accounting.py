"""Checks that every character of the output is accounted for: none is lost, and none is sent twice.

For a parser that says where its text comes from, the partition of the output and the segments of the text events are
examined. For a black box only the weak form is possible: every word of the output outside markers must turn up
somewhere in the message. (The weak form follows invariant A1w of the collected user reports, the empty message A2.)
What comes after a failure of the parser is that failure's doing and is not counted again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

from parsers.checks.check import LIMIT, Subject, any_of, channel_words, check
from parsers.checks.leaks import is_marker
from parsers.checks.source import align, is_sound, made_up
from parsers.compare.divergence import (
    Channel,
    Stretch,
    channel_of,
    channel_texts,
    channels,
    excerpt,
    known_parts,
    step_at,
)
from parsers.vocabulary.drops import LOST, UNSAID, DropReason
from parsers.vocabulary.events import Segment, TextEvent
from parsers.vocabulary.trace import Finding, Ownership, RejectedCall, Trace
from parsers.vocabulary.types import Span

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"<[|｜][^<>|｜\s]*[|｜]>")  # the usual spelling of a special token, whoever's it is
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
# Words of the envelope around calls in the known formats, and literals whose spelling JSON changes.
_ENVELOPE = frozenset(("name", "arguments", "parameters", "parameter", "function", "functions", "invoke", "id", "type"))
_ENVELOPE |= {"action", "call", "string", "tool", "tool_call", "tool_calls", "value", "none", "null", "true", "false"}


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
    dropped = [run for run in subject.trace.partition if run.owner == "dropped" and run.reason != LOST]
    text = subject.trace.text
    at = len(text) - len(text.lstrip())
    step, span = step_at(subject.trace, at), Span(at, len(text))
    if not dropped:
        message = "The whole output is lost: the message is empty."
        return [all_output_lost.finding(message, step=step, span=span, actual=text)]
    reason = dropped[0].reason or UNSAID
    policy = _contract(subject, reason.policy)
    return [
        all_output_lost.finding(
            f"The message is empty: {reason.words}.",
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
    runs = [Span(run.start, run.end) for run in trace.partition if run.reason == LOST]
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
    runs: dict[DropReason, list[Span]] = {}
    for run in subject.trace.partition:
        text = subject.trace.text[run.start : run.end]
        if run.owner == "dropped" and run.reason != LOST and specials.sub("", text).strip():
            runs.setdefault(run.reason or UNSAID, []).append(Span(run.start, run.end))
    for reason, spans in runs.items():
        more = f" and {len(spans) - 1} more places" if len(spans) > 1 else ""
        policy = _contract(subject, reason.policy)
        yield spans_cover_input.finding(
            f"Characters {spans[0].start} to {spans[0].end}{more} reach nobody: {reason.words}.",
            severity="info" if policy else "warning",
            about="output",
            step=step_at(subject.trace, spans[0].start),
            span=spans[0],
            actual=subject.trace.text[spans[0].start : spans[0].end],
            policy=policy,
        )


def _contract(subject: Subject, key: str | None) -> str | None:
    """The policy of this key with its value, where the parser has it: what makes a loss a contract."""
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


# Checks that the message is made of the output: nothing is sent twice, and nothing is made up.
#
# Places are believed where the parser gives them. Beside them, and for a black box alone, what is sent is laid over
# what had arrived by then.

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


# Check that calls the output holds are found.
#
# What a parser that shows its work rejects, it says; a black box is held against the built-in parser of its format, and
# only where that one finds a whole call to a declared tool.


@check(
    "tool_call_dropped",
    "L6",
    "A call that the output begins with a marker of the format is found.",
    severity="warning",
    about="output",
    needs=("tools", "finished", "raw"),
    word="tool_call_dropped",
)
def tool_call_dropped(subject: Subject) -> list[Finding]:
    """Errors for whole calls that a black box misses; warnings for outputs whose only calls cannot be read."""
    if subject.context.tool_choice == "none":
        return []
    if subject.reference is not None:
        return list(islice(_missed(subject, subject.reference), LIMIT))
    if subject.trace.message.tool_calls:
        return []
    markers = tuple(literal for literal in subject.terminals.values() if is_marker(literal))
    begun = [call for call in subject.trace.rejected_calls if subject.trace.text.startswith(markers, call.start)]
    return [_unread(subject, call) for call in begun[:1]]


def _unread(subject: Subject, call: RejectedCall) -> Finding:
    policy = _contract(subject, "truncated_call" if call.end == len(subject.trace.text) else call.reason.policy)
    return tool_call_dropped.finding(
        f"A call begins at {call.start}, but the output has no call that can be read: {call.reason.words}.",
        severity="info" if policy else "warning",
        step=step_at(subject.trace, call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
        policy=policy,
    )


def _is_shown(subject: Subject, raw: int | None) -> bool:
    """Whether a call stands in a block of code, where it may be an example, or in reasoning, where it may be a plan."""
    text, place = subject.trace.text, raw or 0
    if text.count("```", 0, place) % 2:
        return True
    closer = any_of(subject.closers).search(text, place)
    opener = any_of(subject.openers).search(text, place)
    return closer is not None and (opener is None or closer.start() < opener.start())


def _missed(subject: Subject, reference: Trace) -> Iterator[Finding]:
    """Calls of declared tools that the built-in parser finds whole and this one does not find at all."""
    left = Counter(call.name for call in subject.trace.message.tool_calls)
    places = channels(reference)
    for index, call in enumerate(reference.message.tool_calls):
        left[call.name] -= 1
        raw = places[f"tool_calls[{index}].name"].place(0).raw
        if left[call.name] >= 0 or not is_sound(subject, call) or _is_shown(subject, raw):
            continue
        yield tool_call_dropped.finding(
            f"The call to `{call.name}` is not found; the built-in parser `{reference.parser}` reads it whole.",
            severity="error",
            about="parser",
            step=None if raw is None else step_at(subject.trace, raw),
            span=None if raw is None else Span(raw, raw + len(call.name)),
            expected=call.arguments,
        )
