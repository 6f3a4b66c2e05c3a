"""Checks on what a server sent: beside the replay of the same output, chunk by chunk, and in its own books.

Calls of the two sides belong together by their index. Ids that a side makes up do not count; those that the parser
copied from the output do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from parsers.checks.check import Need, any_of, check
from parsers.checks.subject import Subject
from parsers.compare.divergence import Grade, excerpt, shared_prefix
from parsers.vocabulary.channels import (
    CONTENT,
    TEXT_PARTS,
    Channel,
    Channels,
    Part,
    call_words,
    delta_channels,
)
from parsers.vocabulary.events import CallStart, Diagnostic
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import MessageDelta
from parsers.vocabulary.words import counted

_PARTS: tuple[Part, ...] = ("name", "id", "arguments")
_KINDS = ("reasoning", "content", "arguments")
_Sizes = tuple[int, int, int]


@check(
    "K2",
    "The deltas that the server sent are those of the replay, and so is the finish reason.",
    severity="warning",
    needs=(Need.SERVER_DELTAS,),
)
def _server_agrees(subject: Subject) -> list[Finding]:
    """One finding per channel and call in which the server's deltas and the replay's depart, one for the finish reason;
    where all is the same, a note on the first chunk that sends it at another time. Where the server sent what it should
    have read, that is the one finding."""
    theirs = delta_channels((number, chunk.delta) for number, chunk in enumerate(subject.server.chunks or (), start=1))
    unparsed = list(_unparsed(subject, theirs))
    if unparsed:
        return unparsed
    texts = [Channel(None, part) for part in TEXT_PARTS]
    findings = [
        _departure(subject, channel, theirs)
        for channel in texts
        if theirs[channel].text != subject.streamed[channel].text
    ]
    findings += _calls_apart(subject, theirs)
    findings += _finish_apart(subject)
    return findings or list(_timing(subject))


def _unparsed(subject: Subject, theirs: Channels) -> Iterator[Finding]:
    """The server sent no call and its content holds their markup: there was no parser for it, or it was not asked."""
    trace, message = subject.trace, subject.trace.message
    content = _bare(subject, theirs[CONTENT].text)
    if not content or theirs.calls:
        return
    start = next((event.start for _, event in trace.events() if isinstance(event, CallStart)), None)
    if (start is not None or message.reasoning) and content == _bare(subject, trace.text):
        topic, what = Topic.OUTPUT_UNPARSED, "the whole output"
    elif start is not None and content.endswith(_bare(subject, trace.text[start:])):
        topic, what = Topic.CALLS_UNPARSED, "the calls"
    else:
        return
    yield _server_agrees.finding(
        f"The server sent {what} as content, markup and all: no parser that reads it was at work there.",
        topic=topic,
        about="request",
        expected="; ".join([f"{call.name}({call.arguments})" for call in subject.calls]) or message.reasoning,
        actual=excerpt(theirs[CONTENT].text, 0),
        grade="calls" if subject.calls else "text",
    )


def _bare(subject: Subject, text: str) -> str:
    """A text without white space, and without tokens that servers leave out of what they send."""
    return "".join(any_of([*subject.tokens.special, *subject.grammar.end_tokens]).sub("", text).split())


def _departure(subject: Subject, channel: Channel, theirs: Channels) -> Finding:
    """Where the two sides depart in a channel that both may have."""
    sent, replayed = theirs[channel].text, subject.streamed[channel].text
    offset = shared_prefix(sent, replayed)
    place = f"at character {offset} of {channel.words(subject.calls)}"
    chunk, step = theirs[channel].place(offset).step, subject.streamed[channel].place(offset).step
    here = "the replay" if step is None else f"the replay (step {step})"
    if offset == len(sent):
        last = "" if chunk is None else f", with chunk {chunk}"
        message = f"The server's deltas end {place}{last}; {here} goes on."
    elif offset == len(replayed):
        message = f"The server's chunk {chunk} goes on {place}, where {here} ends."
    else:
        message = f"The server's chunk {chunk} departs from {here} {place}."
    same_words = "".join(sent.split()) == "".join(replayed.split())
    grade: Grade = "calls" if channel.call is not None else "whitespace" if same_words else "text"
    return _server_agrees.finding(
        message,
        severity="info" if grade == "whitespace" else None,
        step=step,
        expected=excerpt(replayed, offset),
        actual=excerpt(sent, offset),
        grade=grade,
    )


def _calls_apart(subject: Subject, theirs: Channels) -> Iterator[Finding]:
    """Every call that only one side has, and every part of one in which the sides depart."""
    ours = subject.streamed
    sent = _begun(chunk.delta for chunk in subject.server.chunks or ())
    replayed = _begun(subject.trace.deltas)
    for index in sorted(sent.keys() | replayed.keys()):
        if index not in replayed or index not in sent:
            yield _call_alone(index, sent.get(index), replayed.get(index), ours if index in replayed else theirs)
            continue
        for part in _PARTS:
            channel = Channel(index, part)
            both = theirs[channel].text and ours[channel].text
            made_up = part == "id" and subject.trace.channels[channel].place(0).kind != "copied"
            if theirs[channel].text != ours[channel].text and not (both and made_up):
                yield _departure(subject, channel, theirs)


def _begun(deltas: Iterable[MessageDelta | None]) -> dict[int, int]:
    """By index of a call, the number of the delta that began it."""
    begun: dict[int, int] = {}
    for number, delta in enumerate(deltas, start=1):
        for part in () if delta is None else delta.tool_calls:
            begun.setdefault(part.index, number)
    return begun


def _call_alone(index: int, chunk: int | None, step: int | None, side: Channels) -> Finding:
    """A call that one side does not have."""
    name, arguments = side[Channel(index, "name")].text, side[Channel(index, "arguments")].text
    words, shown = call_words(index, name), f"{name}({arguments})"
    if step is None:
        message = f"The server's chunk {chunk} begins {words}, which the replay does not have."
        return _server_agrees.finding(message, expected="", actual=shown, grade="calls")
    message = f"The replay begins {words} at step {step}; the server sent no such call."
    return _server_agrees.finding(message, step=step, expected=shown, actual="", grade="calls")


def _finish_apart(subject: Subject) -> Iterator[Finding]:
    """The finish reasons. One that was never sent says only that the recording ends early."""
    chunks, ours = subject.server.chunks or (), subject.trace.finish_reason
    reasons = [(number, chunk.finish_reason) for number, chunk in enumerate(chunks, start=1) if chunk.finish_reason]
    last = subject.trace.steps[-1].index if subject.trace.steps else None
    if not reasons:
        message = f"The server's stream ends without a finish reason; the replay's is `{ours}`."
        yield _server_agrees.finding(message, severity="info", step=last, expected=ours)
    elif reasons[-1][1] != ours:
        number, theirs = reasons[-1]
        message = f"The finish reason of the server's chunk {number} is `{theirs}`, that of the replay `{ours}`."
        yield _server_agrees.finding(message, step=last, expected=ours, actual=theirs)


def _timing(subject: Subject) -> Iterator[Finding]:
    """The first chunk after which the server has sent more or less than the replay has of the same text."""
    chunks = subject.server.chunks or ()
    theirs = list(accumulate((_sizes(chunk.delta) for chunk in chunks), _plus, initial=(0, 0, 0)))
    ours = list(accumulate((_sizes(delta) for delta in subject.trace.deltas), _plus, initial=(0, 0, 0)))
    fed = [step.span.end for step in subject.trace.steps]
    for number, end in enumerate(subject.server.ends or (), start=1):
        step = bisect_right(fed, end)
        if end == len(subject.trace.text):
            return  # what either side still holds comes later
        if not step or fed[step - 1] != end or theirs[number] == ours[step]:
            continue
        part = next(at for at in range(len(_KINDS)) if theirs[number][at] != ours[step][at])
        sent, replayed = counted(theirs[number][part], "character"), ours[step][part]
        late = f"by then the server has sent {sent} of {_KINDS[part]}, the replay {replayed} by step {step}"
        message = f"Chunk {number} is the first to be early or late: {late}."
        yield _server_agrees.finding(message, severity="info", step=step)
        return


def _sizes(delta: MessageDelta | None) -> _Sizes:
    if delta is None:
        return 0, 0, 0
    arguments = sum([len(part.arguments or "") for part in delta.tool_calls])
    return len(delta.reasoning or ""), len(delta.content or ""), arguments


def _plus(one: _Sizes, other: _Sizes) -> _Sizes:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


@check("K3", "Every chunk of a server has the shape that clients read.", needs=(Need.SERVER_CHUNKS,))
def _chunk_shape(subject: Subject) -> list[Finding]:
    """One finding for each kind of oddity, at its first chunk."""
    seen: dict[str, list[tuple[int, Diagnostic]]] = {}
    for step in subject.trace.steps:
        for note in step.diagnostics:
            seen.setdefault(note.code, []).append((step.index, note))
    findings = []
    for places in seen.values():
        number, first = places[0]
        more = f" ({counted(len(places), 'time')} in all)" if len(places) > 1 else ""
        message = f"Chunk {number}: {first.message.rstrip('.')}{more}."
        findings.append(_chunk_shape.finding(message, severity=first.severity, step=number))
    return findings


@check(
    "B1",
    "What the serving layer keeps for each call beside the parser is what was sent.",
    needs=(Need.BOOKKEEPING,),
)
def _bookkeeping(subject: Subject) -> list[Finding]:
    """Errors for lists of different length, and for entries that are not the arguments sent."""
    told, sent, calls = subject.server.told or (), subject.server.sent, subject.calls
    if len({len(told), len(sent), len(calls)}) > 1:
        lists = f"told of {counted(len(told), 'call')}, has {counted(len(sent), 'call')} as sent"
        return [_bookkeeping.finding(f"The serving layer was {lists}, and the message has {len(calls)}.")]
    findings = []
    for index, call in enumerate(calls):
        if sent[index] != call.arguments:
            message = f"The serving layer has other arguments as sent for {call_words(index, call.name)}."
            findings.append(_bookkeeping.finding(message, expected=call.arguments, actual=sent[index]))
    return findings
