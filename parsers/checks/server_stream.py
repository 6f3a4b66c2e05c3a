"""Checks on what a server sent: beside the replay of the same output, chunk by chunk, and in its own books.

Calls of the two sides belong together by their index. Ids that a side makes up do not count; those that the parser
copied from the output do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from parsers.checks.check import Check, Need, any_of, check
from parsers.checks.known import Finish
from parsers.checks.leaks import is_all_shown, is_marker
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
from parsers.vocabulary.trace import About, Finding, Topic
from parsers.vocabulary.types import MessageDelta
from parsers.vocabulary.words import counted, quoted
from parsers.wire.read import CLOSED_OTHERWISE, CLOSED_SHORT, DELTAS_SHORT, EVENTS_MISSING, SERVER_ERROR

_PARTS: tuple[Part, ...] = ("name", "id", "arguments")
_KINDS = ("reasoning", "content", "arguments")
_Sizes = tuple[int, int, int]
_NOTHING: _Sizes = (0, 0, 0)


@check(
    "K2",
    "The deltas that the server sent are those of the replay, and so is the finish reason.",
    severity="warning",
    needs=(Need.SERVER_DELTAS,),
)
def _server_agrees(subject: Subject) -> Iterator[Finding]:
    """One finding per channel and call in which the server's deltas and the replay's depart, one for the finish reason;
    where all is the same, a note on the first chunk that sends it at another time. Where the server sent what it should
    have read, that is the one finding."""
    theirs = delta_channels((number, chunk.delta) for number, chunk in enumerate(subject.server.chunks or (), start=1))
    apart = [
        _departure(subject, channel, theirs)
        for channel in [Channel(None, part) for part in TEXT_PARTS]
        if theirs[channel].text != subject.streamed[channel].text
    ]
    apart += [*_calls_apart(subject, theirs), *_finish_apart(subject)]
    if subject.server.error is not None:
        yield _ended_with_error(_server_agrees, subject)
    told = [*_unparsed(subject, theirs)] or [*_left(subject, theirs)] or apart or [*_timing(subject)]
    yield from (*_early_end(subject), *told)


def _ended_with_error(of: Check, subject: Subject) -> Finding:
    """The server sent an error, and nothing after it."""
    words = f"The server ended with an error: {(subject.server.error or '').rstrip('.')}."
    last = subject.trace.steps[-1].index if subject.trace.steps else None
    return of.finding(words, topic=Topic.SERVER_ERROR, severity="error", about="parser", step=last)


def _unparsed(subject: Subject, theirs: Channels) -> Iterator[Finding]:
    """The server sent no call and its content holds their markup: there was no parser for it, or it was not asked."""
    trace, message = subject.trace, subject.trace.message
    content, raw = _bare(subject, theirs[CONTENT].text), _bare(subject, trace.text)
    start = next((event.start for _, event in trace.events() if isinstance(event, CallStart)), None)
    whole = (start is not None or message.reasoning) and content == raw
    calls = start is not None and content.endswith(_bare(subject, trace.text[start:]))
    if content and not theirs.calls and (whole or calls):
        yield _server_agrees.finding(
            f"The server sent {'the whole output' if whole else 'the calls'} as content, markup and all: "
            "no parser that reads it was at work there.",
            topic=Topic.OUTPUT_UNPARSED if whole else Topic.CALLS_UNPARSED,
            about="request",
            expected="; ".join([f"{call.name}({call.arguments})" for call in subject.calls]) or message.reasoning,
            actual=theirs[CONTENT].text,
            grade="calls" if subject.calls else "text",
        )


def _left(subject: Subject, theirs: Channels) -> Iterator[Finding]:
    """The first marker that the server left in a text, where the replay has fewer of them in the same text."""
    pattern, reader = any_of(filter(is_marker, subject.grammar.terminals.values())), subject.trace.parser
    for channel in [Channel(None, part) for part in TEXT_PARTS]:
        sent, replayed = theirs[channel].text, subject.streamed[channel].text
        for literal in dict.fromkeys(pattern.findall(sent)):
            if replayed.count(literal) < sent.count(literal) and not is_all_shown(sent, literal):
                yield _server_agrees.finding(
                    f"The server left {quoted(literal)} in {channel.words([])}; {quoted(reader)} reads it as a marker.",
                    topic=Topic.LEFT,
                    step=subject.streamed[channel].place(0).step,
                    expected=replayed,
                    actual=sent,
                    grade="text",
                )
                return


def _bare(subject: Subject, text: str) -> str:
    """A text without white space, and without tokens that servers leave out of what they send."""
    return "".join(any_of([*subject.tokens.special, *subject.grammar.end_tokens]).sub("", text).split())


def _departure(subject: Subject, channel: Channel, theirs: Channels) -> Finding:
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
    ours = subject.streamed
    sent = _begun((number, chunk.delta) for number, chunk in enumerate(subject.server.chunks or (), start=1))
    replayed = _begun(subject.trace.columns.sent())
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


def _begun(deltas: Iterable[tuple[int, MessageDelta | None]]) -> dict[int, int]:
    begun: dict[int, int] = {}
    for number, delta in deltas:
        for part in () if delta is None else delta.tool_calls:
            begun.setdefault(part.index, number)
    return begun


def _call_alone(index: int, chunk: int | None, step: int | None, side: Channels) -> Finding:
    name, arguments = side[Channel(index, "name")].text, side[Channel(index, "arguments")].text
    words, shown = call_words(index, name), f"{name}({arguments})"
    if step is None:
        message = f"The server's chunk {chunk} begins {words}, which the replay does not have."
        return _server_agrees.finding(message, expected="", actual=shown, grade="calls")
    message = f"The replay begins {words} at step {step}; the server sent no such call."
    return _server_agrees.finding(message, step=step, expected=shown, actual="", grade="calls")


def _finish_apart(subject: Subject) -> Iterator[Finding]:
    """The finish reasons. Where none was sent, what was recorded may end before the output did."""
    chunks, ours = subject.server.chunks or (), subject.trace.finish_reason
    reasons = [(number, chunk.finish_reason) for number, chunk in enumerate(chunks, start=1) if chunk.finish_reason]
    last = subject.trace.steps[-1].index if subject.trace.steps else None
    if not reasons and subject.known.finish is not Finish.CUT:
        message = f"The server's stream ends without a finish reason; the replay's is `{ours}`."
        promised = subject.known.finish in (Finish.LEFT_OUT, Finish.UNSAID)
        yield _server_agrees.finding(message, severity="warning" if promised else "info", step=last, expected=ours)
    elif reasons and reasons[-1][1] != ours:
        number, theirs = reasons[-1]
        message = f"The finish reason of the server's chunk {number} is `{theirs}`, that of the replay `{ours}`."
        if (end := subject.server.end) is not None:
            message = (
                f"The server's chunk {number} ends with `{end.word}`; the finish reason of the replay is `{ours}`."
            )
        yield _server_agrees.finding(message, step=last, expected=ours, actual=theirs)


def _early_end(subject: Subject) -> Iterator[Finding]:
    """No finish reason came, and nothing tells that the stream was over: what was recorded may not be all of it."""
    if subject.known.finish is not Finish.CUT:
        return
    calls, rejected, size = subject.calls, subject.trace.rejected_calls, len(subject.trace.text)
    is_open = any(not call.complete for call in calls[-1:]) or any(call.end == size for call in rejected[-1:])
    where, topic = ("inside a call, before", Topic.CUT) if is_open else ("before", Topic.UNENDED)
    message = f"What was recorded ends {where} a finish reason: what came after it is not known."
    last = subject.trace.steps[-1].index if subject.trace.steps else None
    yield _server_agrees.finding(message, topic=topic, about="request", step=last)


def _timing(subject: Subject) -> Iterator[Finding]:
    """The first chunk after which the server has sent more or less than the replay has of the same text."""
    theirs = list(accumulate((_sizes(chunk.delta) for chunk in subject.server.chunks or ()), _plus, initial=_NOTHING))
    ours = list(accumulate(map(_sizes, subject.trace.deltas), _plus, initial=_NOTHING))
    fed = subject.trace.ends
    for number, end in enumerate(subject.server.ends or (), start=1):
        step = bisect_right(fed, end)
        if end == len(subject.trace.text):
            return  # what either side still holds comes later
        if step and fed[step - 1] == end and theirs[number] != ours[step]:
            sides = zip(_KINDS, theirs[number], ours[step], strict=True)
            kind, sent, replayed = next(side for side in sides if side[1] != side[2])
            late = f"the server has sent {counted(sent, 'character')} of {kind}, the replay {replayed} by step {step}"
            message = f"Chunk {number} is the first to be early or late: by then {late}."
            yield _server_agrees.finding(message, severity="info", step=step)
            return


def _sizes(delta: MessageDelta | None) -> _Sizes:
    if delta is None:
        return _NOTHING
    arguments = sum([len(part.arguments or "") for part in delta.tool_calls])
    return len(delta.reasoning or ""), len(delta.content or ""), arguments


def _plus(one: _Sizes, other: _Sizes) -> _Sizes:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


@check("K3", "Every chunk of a server has the shape that clients read.", needs=(Need.SERVER_CHUNKS,))
def _chunk_shape(subject: Subject) -> Iterator[Finding]:
    seen: dict[str, list[tuple[int, Diagnostic]]] = {}
    for step, note in subject.trace.events():
        if isinstance(note, Diagnostic):
            seen.setdefault(note.code, []).append((step, note))
    ended = subject.server.error
    for code, [(number, first), *others] in seen.items():
        if code == SERVER_ERROR and ended is not None:
            yield _ended_with_error(_chunk_shape, subject)
            continue
        if code in _OF_LOG:
            topic, about = _OF_LOG[code]
            yield _chunk_shape.finding(first.message, topic=topic, severity=first.severity, about=about, step=number)
            continue
        more = f" ({counted(1 + len(others), 'time')} in all)" if others else ""
        message = f"Chunk {number}: {first.message.rstrip('.')}{more}."
        yield _chunk_shape.finding(message, severity=first.severity, step=number)
    yield from _swallowed(subject)


_OF_MARKERS = 8  # tokens: so many may be those around an answer that is empty


def _swallowed(subject: Subject) -> Iterator[Finding]:
    """The server counts tokens that it generated, and what it sent, all of which is there, holds nothing of them."""
    server, message = subject.server, subject.trace.message
    said = "".join([message.reasoning or "", message.content or ""]).strip()
    ended = subject.trace.finish_reason and subject.known.whole and server.error is None
    if ended and not (said or message.tool_calls) and (server.tokens or 0) > _OF_MARKERS:
        words = f"The server sent nothing of {counted(server.tokens or 0, 'generated token')}."
        yield _chunk_shape.finding(words, topic=Topic.LOSS, severity="warning")


# What is about all of a log, though one chunk notes it.
_OF_LOG: Mapping[str, tuple[Topic | None, About]] = {
    CLOSED_OTHERWISE: (None, "parser"),
    CLOSED_SHORT: (Topic.LOSS, "parser"),
    DELTAS_SHORT: (Topic.LOSS, "parser"),
    EVENTS_MISSING: (Topic.CUT, "request"),
}


@check(
    "B1", "What the serving layer keeps for each call beside the parser is what was sent.", needs=(Need.BOOKKEEPING,)
)
def _bookkeeping(subject: Subject) -> Iterator[Finding]:
    told, sent, calls = subject.server.told or (), subject.server.sent, subject.calls
    if len({len(told), len(sent), len(calls)}) > 1:
        lists = f"told of {counted(len(told), 'call')}, has {counted(len(sent), 'call')} as sent"
        yield _bookkeeping.finding(f"The serving layer was {lists}, and the message has {len(calls)}.")
        return
    for index, call in enumerate(calls):
        if sent[index] != call.arguments:
            message = f"The serving layer has other arguments as sent for {call_words(index, call.name)}."
            yield _bookkeeping.finding(message, expected=call.arguments, actual=sent[index])
