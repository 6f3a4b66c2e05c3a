"""Checks on what a server sent: beside the replay of the same output, and for itself, chunk by chunk.

Calls of the two sides belong together by their index. Ids that a side makes up do not count; those that the parser
copied from the output do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from parsers.checks.check import Books, Subject, Variant, any_of, call_words, channel_words, check, counted
from parsers.compare.divergence import (
    Channel,
    Grade,
    Rules,
    excerpt,
    same_message,
    sent_channels,
    shared_prefix,
    step_at,
)
from parsers.vocabulary.events import CallStart, Severity
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Message, MessageDelta, Piece, Span

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


# Checks on the tokens of an output: do they decode to its text, and do ids and text arrive together?


@check(
    "decodes_alike",
    "C5",
    "Decoded token by token, the output reads as when it is decoded at once.",
    about="output",
    needs=("bytes",),
)
def decodes_alike(subject: Subject) -> list[Finding]:
    """At most one finding: the first character that differs."""
    pieces = [piece for piece in subject.pieces if piece.raw is not None]
    once = b"".join([piece.raw or b"" for piece in pieces]).decode("utf-8", "replace")
    text = subject.trace.text
    if once == text:
        return []
    at = shared_prefix(once, text)
    return [
        decodes_alike.finding(
            f"From character {at} on, the text is not what its tokens decode to.",
            step=step_at(subject.trace, at),
            span=Span(at, at),
            expected=once[at:],
            actual=text[at:],
        )
    ]


@check(
    "ids_with_text",
    "A5",
    "Every token id arrives once and in order, with its text or so much earlier as the chunking says.",
    about="output",
    needs=("token_ids",),
)
def ids_with_text(subject: Subject) -> list[Finding]:
    """At most one finding: the first id that is not the next one, or the first text out of step with its ids."""
    trace, pieces = subject.trace, [piece for piece in subject.pieces if piece.token_id is not None]
    arrived = 0
    ends = [0, *accumulate(len(piece.text) for piece in pieces)]
    whole, allowed = len(pieces) == len(subject.pieces), _allowed(trace, pieces) + subject.behind
    for step in trace.steps:
        wanted = tuple([piece.token_id for piece in pieces[arrived : arrived + len(step.ids)]])
        if step.ids != wanted:
            return [_wrong_ids(step.index, wanted, step.ids)]
        arrived += len(step.ids)
        if whole and not step.end and (late := ends[max(arrived - 1, 0)] - step.span.end) > allowed:
            return [_late(step.index, f"{late} characters of text are missing for the ids that have arrived")]
        if whole and step.span.end > ends[arrived]:
            return [_late(step.index, f"{step.span.end - ends[arrived]} characters of text arrive before their ids")]
    return [_missing(len(pieces) - arrived)] if arrived < len(pieces) and trace.steps else []


def _allowed(trace: Trace, pieces: list[Piece]) -> int:
    """How many characters may come later than their ids."""
    delay = int(trace.chunking.get("text_delay", 0))
    longest = max([len(piece.text) for piece in pieces], default=0)
    return int(trace.chunking.get("holdback_chars", 0)) + (delay + 1) * longest


def _wrong_ids(step: int, wanted: tuple[int | None, ...], ids: tuple[int, ...]) -> Finding:
    message = "The ids of this delta are not the next ones of the output."
    return ids_with_text.finding(message, step=step, expected=str(list(wanted)), actual=str(list(ids)))


def _late(step: int, words: str) -> Finding:
    return ids_with_text.finding(f"Ids and text are out of step: {words}.", severity="warning", step=step)


def _missing(count: int) -> Finding:
    return ids_with_text.finding(f"{count} ids of the output never arrive in a delta.")


# Checks that need more than a replay: a serving layer's lists, a chat template.

SAME_CALLS = Rules(arguments="json", ids=False)


@check(
    "bookkeeping",
    "B1",
    "What the serving layer keeps for each call beside the parser is what was sent.",
    needs=("bookkeeping",),
)
def bookkeeping(subject: Subject) -> list[Finding]:
    """Errors for lists of different length, and for entries that are not the arguments sent."""
    books, calls = subject.books or Books((), ()), subject.trace.message.tool_calls
    lengths = {len(books.told), len(books.sent), len(calls)}
    if len(lengths) > 1:
        told, sent = counted(len(books.told), "call"), counted(len(books.sent), "call")
        message = f"The serving layer was told of {told}, has {sent} as sent, and the message has {len(calls)}."
        return [bookkeeping.finding(message)]
    findings = []
    for index, call in enumerate(calls):
        if books.sent[index] != call.arguments:
            message = f"The serving layer has other arguments as sent for {call_words(index, call.name)}."
            findings.append(bookkeeping.finding(message, expected=call.arguments, actual=books.sent[index]))
    return findings


@check(
    "rerenders",
    "M4",
    "The calls, written again by the chat template and parsed, are the same calls.",
    severity="warning",
    needs=("variants:rerendered",),
)
def rerenders(subject: Subject) -> list[Finding]:
    """What the template writes is compared by value; a note says where it cannot write the calls, or needs text."""
    variants, calls = subject.of_kind("rerendered"), Message(tool_calls=subject.trace.message.tool_calls)
    failed = [one for one in variants if "problem" in one.facts and one.facts["spelling"] == "object"]
    written = [one for one in variants if "problem" not in one.facts]
    other = [one for one in written if not same_message(calls, Message(tool_calls=one.message.tool_calls), SAME_CALLS)]
    wrong = {one.facts.get("spelling"): one for one in reversed(other)}
    right = {one.facts.get("spelling") for one in written} - wrong.keys()
    if "object" in right:
        return []  # servers give templates objects; what this one makes of text is nobody's concern
    notes = [
        rerenders.finding(f"{one.label}: {one.facts['problem']}", severity="info", about="request") for one in failed
    ]
    return notes + [_rewritten(calls, wrong[spelling], bool(right)) for spelling in sorted(wrong, key=str)[:1]]


def _rewritten(calls: Message, one: Variant, as_text: bool) -> Finding:
    """A rendering that gives other calls. Where arguments as text do, that is a contract of template and server."""
    hint = " As text they are the same: this template needs a server that gives it arguments as text." * as_text
    return rerenders.finding(
        f"{one.label}: the calls are not the same.{hint}",
        severity="info" if as_text else None,
        about="request" if as_text else None,
        expected=_said(calls),
        actual=_said(one.message),
        proof=one.proof,
    )


def _said(message: Message) -> str:
    """The calls as a person compares them: ids are made up by each side."""
    return "; ".join([f"{call.name} {call.arguments}" for call in message.tool_calls]) or "no call"
