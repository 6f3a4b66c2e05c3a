"""Checks on what a server sent: beside the replay of the same output, and for itself, chunk by chunk.

Calls of the two sides belong together by their index. Ids that a side makes up do not count; those that the parser
copied from the output do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from parsers.checks.base import Subject, any_of, call_words, channel_words, check, counted
from parsers.compare import Channel, Grade, excerpt, sent_channels, shared_prefix
from parsers.events import CallStart, Severity
from parsers.trace import Finding
from parsers.types import MessageDelta

PARTS = ("name", "id", "arguments")
KINDS = ("reasoning", "content", "arguments")
Sizes = tuple[int, int, int]


@check(
    "server_agrees",
    "K2",
    "The deltas that the server sent are those of the replay, and so is the finish reason.",
    severity="warning",
    about="parser",
    needs=("server_deltas",),
)
def server_agrees(subject: Subject) -> list[Finding]:
    """One finding per channel and call in which the server's deltas and the replay's depart, one for the finish reason;
    where all is the same, a note on the first chunk that sends it at another time. Where the server sent what it should
    have read, that is the one finding."""
    theirs = sent_channels((number, chunk.delta) for number, chunk in enumerate(subject.server or (), start=1))
    ours = subject.streamed
    raw = _unread(subject, theirs)
    if raw is not None:
        return [raw]
    findings = [
        _departs(subject, name, theirs.get(name, Channel("")), ours.get(name, Channel("")))
        for name in ("reasoning", "content")
        if theirs.get(name, Channel("")).text != ours.get(name, Channel("")).text
    ]
    findings += _calls(subject, theirs, ours)
    findings += _finish(subject)
    return findings or list(_timing(subject))


def _unread(subject: Subject, theirs: dict[str, Channel]) -> Finding | None:
    """The server sent no call and its content holds their markup: there was no parser for it, or it was not asked."""
    message, content = subject.trace.message, _bare(subject, theirs.get("content", Channel("")).text)
    if not content or any(name.startswith("tool_calls") for name in theirs):
        return None
    starts = (event.start for _, event in subject.trace.events() if isinstance(event, CallStart))
    start = next(starts, None)
    if (start is not None or message.reasoning) and content == _bare(subject, subject.trace.text):
        what = "the whole output"
    elif start is not None and content.endswith(_bare(subject, subject.trace.text[start:])):
        what = "the calls"
    else:
        return None
    return server_agrees.finding(
        f"The server sent {what} as content, markup and all: no parser that reads it was at work there.",
        about="request",
        expected="; ".join([f"{call.name}({call.arguments})" for call in message.tool_calls]) or message.reasoning,
        actual=excerpt(theirs["content"].text, 0),
        grade="calls" if message.tool_calls else "text",
    )


def _bare(subject: Subject, text: str) -> str:
    """A text without white space, and without tokens that servers leave out of what they send."""
    return "".join(any_of([*subject.special_tokens, *subject.end_tokens]).sub("", text).split())


def _departs(subject: Subject, name: str, theirs: Channel, ours: Channel) -> Finding:
    """A channel that both sides may have."""
    sent, replayed = theirs.text, ours.text
    offset = shared_prefix(sent, replayed)
    place = f"at character {offset} of {channel_words(name, subject.trace.message.tool_calls)}"
    chunk, step = theirs.place(offset).step, ours.place(offset).step
    here = "the replay" if step is None else f"the replay (step {step})"
    if offset == len(sent):
        last = "" if chunk is None else f", with chunk {chunk}"
        message = f"The server's deltas end {place}{last}; {here} goes on."
    elif offset == len(replayed):
        message = f"The server's chunk {chunk} goes on {place}, where {here} ends."
    else:
        message = f"The server's chunk {chunk} departs from {here} {place}."
    squeezed = "".join(sent.split()) == "".join(replayed.split())
    grade: Grade = "calls" if name.startswith("tool_calls") else "whitespace" if squeezed else "text"
    return server_agrees.finding(
        message,
        severity="info" if grade == "whitespace" else None,
        step=step,
        expected=excerpt(replayed, offset),
        actual=excerpt(sent, offset),
        grade=grade,
    )


def _calls(subject: Subject, theirs: dict[str, Channel], ours: dict[str, Channel]) -> Iterator[Finding]:
    """Every call that only one side has, and every part of one in which the sides depart."""
    sent, replayed = _begun(chunk.delta for chunk in subject.server or ()), _begun(subject.trace.deltas)
    for index in sorted(sent.keys() | replayed.keys()):
        if index not in replayed or index not in sent:
            yield _alone(subject, index, sent.get(index), replayed.get(index), ours if index in replayed else theirs)
            continue
        for part in PARTS:
            name = f"tool_calls[{index}].{part}"
            left, right = theirs.get(name, Channel("")), ours.get(name, Channel(""))
            if part == "id" and left.text and right.text and not _is_copied(subject, name):
                continue
            if left.text != right.text:
                yield _departs(subject, name, left, right)


def _begun(deltas: Iterator[MessageDelta | None] | list[MessageDelta | None]) -> dict[int, int]:
    """By index of a call, the number of the delta that began it."""
    begun: dict[int, int] = {}
    for number, delta in enumerate(deltas, start=1):
        for part in () if delta is None else delta.tool_calls:
            begun.setdefault(part.index, number)
    return begun


def _alone(subject: Subject, index: int, chunk: int | None, step: int | None, side: dict[str, Channel]) -> Finding:
    """A call that one side does not have."""
    name, arguments = (side.get(f"tool_calls[{index}].{part}", Channel("")).text for part in ("name", "arguments"))
    words, shown = call_words(index, name), f"{name}({arguments})"
    if step is None:
        message = f"The server's chunk {chunk} begins {words}, which the replay does not have."
        return server_agrees.finding(message, expected="", actual=shown, grade="calls")
    message = f"The replay begins {words} at step {step}; the server sent no such call."
    return server_agrees.finding(message, step=step, expected=shown, actual="", grade="calls")


def _is_copied(subject: Subject, name: str) -> bool:
    """Whether the parser took an id from the output; else each side made up its own."""
    channel = subject.channels.get(name)
    return channel is not None and channel.place(0).kind == "copied"


def _finish(subject: Subject) -> Iterator[Finding]:
    """The finish reasons. One that was never sent says only that the recording ends early."""
    reasons = [(number, c.finish_reason) for number, c in enumerate(subject.server or (), start=1) if c.finish_reason]
    ours = subject.trace.finish_reason
    last = subject.trace.steps[-1].index if subject.trace.steps else None
    if not reasons:
        message = f"The server's stream ends without a finish reason; the replay's is `{ours}`."
        yield server_agrees.finding(message, severity="info", step=last, expected=ours)
    elif reasons[-1][1] != ours:
        number, theirs = reasons[-1]
        message = f"The finish reason of the server's chunk {number} is `{theirs}`, that of the replay `{ours}`."
        yield server_agrees.finding(message, step=last, expected=ours, actual=theirs)


def _timing(subject: Subject) -> Iterator[Finding]:
    """The first chunk after which the server has sent more or less than the replay has of the same text."""
    ends = subject.server_ends or ()
    theirs = list(accumulate((_sizes(chunk.delta) for chunk in subject.server or ()), _plus, initial=(0, 0, 0)))
    ours = list(accumulate((_sizes(delta) for delta in subject.trace.deltas), _plus, initial=(0, 0, 0)))
    fed = [step.span.end for step in subject.trace.steps]
    for number, end in enumerate(ends, start=1):
        step = bisect_right(fed, end)
        if end == len(subject.trace.text):
            return  # what either side still holds comes later
        if not step or fed[step - 1] != end or theirs[number] == ours[step]:
            continue
        part = next(at for at in range(len(KINDS)) if theirs[number][at] != ours[step][at])
        sent, replayed = counted(theirs[number][part], "character"), ours[step][part]
        message = (
            f"Chunk {number} is the first to be early or late: by then the server has sent {sent} of {KINDS[part]}"
        )
        message += f", the replay {replayed} by step {step}."
        yield server_agrees.finding(message, severity="info", step=step)
        return


def _sizes(delta: MessageDelta | None) -> Sizes:
    if delta is None:
        return 0, 0, 0
    arguments = sum([len(part.arguments or "") for part in delta.tool_calls])
    return len(delta.reasoning or ""), len(delta.content or ""), arguments


def _plus(one: Sizes, other: Sizes) -> Sizes:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


@check(
    "chunk_shape",
    "K3",
    "Every chunk of a server has the shape that clients read.",
    needs=("server_chunks",),
)
def chunk_shape(subject: Subject) -> list[Finding]:
    """One finding for each kind of oddity, at its first chunk."""
    seen: dict[str, list[tuple[int, str, Severity]]] = {}
    for step in subject.trace.steps:
        for told in step.diagnostics:
            seen.setdefault(told.code, []).append((step.index, told.message, told.severity))
    findings = []
    for places in seen.values():
        number, words, severity = places[0]
        more = f" ({counted(len(places), 'time')} in all)" if len(places) > 1 else ""
        message = f"Chunk {number}: {words.rstrip('.')}{more}."
        findings.append(chunk_shape.finding(message, severity=severity, step=number))
    return findings
