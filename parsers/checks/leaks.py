"""Checks that no marker of the format reaches the client as text, and that reasoning and answer stay apart.

Only literals that cannot be ordinary prose count as markers. One that stays as text under every chunking is the model's
doing (a warning); one that another chunking, or the built-in parser that finds the same calls, reads as a marker is the
parser's (an error). Markers inside an argument string, of a rejected call that was kept on purpose, or only spoken of
in reasoning, are notes. A leak at the edge of a delta is looked for delta by delta: the message need not show it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

from parsers.checks.check import Check, Need, any_of, check
from parsers.checks.json_text import JsonPrefix, is_whole_object
from parsers.checks.known import Fact
from parsers.checks.mentions import is_shown, is_spoken_of
from parsers.checks.origins import align
from parsers.checks.subject import Subject
from parsers.compare.divergence import ANY_ID, same_message
from parsers.formats.model import builtin_formats
from parsers.machine.reasoning import reasoning_markers
from parsers.selection.claims import GLUED, first_meant
from parsers.vocabulary.channels import CONTENT, REASONING, Channel, call_words, message_texts
from parsers.vocabulary.events import Marker, ReasoningEnd, ReasoningText, Severity
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import About, Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Message, Span

# Tokens that end a turn, begin a text or fill it up in the families whose formats are built in.
CONTROL = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "</s>",
    "<s>",
    "<eos>",
    "<bos>",
    "<pad>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<｜begin▁of▁sentence｜>",
)

# What a marker in a text says that nobody else reads as one: whose it is, the raw output shows, or nobody knows.
_STANDS: Mapping[bool, tuple[str, About]] = {
    True: ("stands in {}, written as text", "output"),
    False: ("is left in {}", "parser"),
}
_ENCLOSED = ("<>", "[]")  # what a marker begins and ends with, whatever stands between
_LEAST = 3  # characters: fewer of a marker may be anything
SHOWN = 20  # so many places of a marker are looked at one by one
_FENCE = re.compile(r"^```(\w*)", re.MULTILINE)
_PLAIN_TAG = re.compile(r"</?[a-z]+>")
_STRUCK = re.compile(r"</?s>")
_GIVEN_BACK = frozenset(("rejected_call", "rejected_block", "fallback_released"))  # they tell of text again
_BRACKETS = frozenset("<>[]|｜")
_BODY = re.compile(r"""\s*(?:[{\["'(<]|[\w.:-]+(?:[({\[<"'=]|\s*\n))""")  # the beginning of a call behind its marker


def is_marker(literal: str) -> bool:
    """Return whether a terminal's literal is unmistakable: it has a letter and a bracket or bar, or is what is left of
    such ones."""
    return literal in GLUED or (not _BRACKETS.isdisjoint(literal) and any(char.isalpha() for char in literal))


@cache
def unmistakable_markers() -> tuple[str, ...]:
    """The markers of all built-in formats that a text in no known format may be searched for: no tag of one plain word,
    which may be anybody's XML, unless it is one of reasoning."""
    texts = [text.strip() for fmt in builtin_formats().values() for text in fmt.terminals.values()]
    known = [text for text in texts if text in _around_reasoning() or not _PLAIN_TAG.fullmatch(text)]
    return tuple(dict.fromkeys(filter(is_marker, known)))


@cache
def call_markers() -> re.Pattern[str]:
    """A pattern for those of them that stand around calls."""
    return any_of([text for text in unmistakable_markers() if text not in _around_reasoning()])


def begins_call(text: str, at: int) -> bool:
    """Return whether what stands behind a marker looks like the beginning of a call, not like prose."""
    return _BODY.match(text, at) is not None


def is_of_program(text: str, at: int) -> bool:
    """Return whether a place is in a block of code in a language that is no notation for calls."""
    fences = list(_FENCE.finditer(text, 0, at))
    return len(fences) % 2 == 1 and fences[-1].group(1).lower() not in ("", "json", "xml", "tool_call", "tool_code")


@cache
def _around_reasoning() -> frozenset[str]:
    """The markers of all built-in formats that tell reasoning from the answer, whether or not there are calls."""
    named = [pair for fmt in builtin_formats().values() for pair in fmt.terminals.items()]
    return GLUED | {text.strip() for name, text in named if name.startswith(("THINK", "CHANNEL"))}


def _markers_of(subject: Subject) -> list[str]:
    """The markers that may leak: none of calls where the request says that none is to be read."""
    known = [literal for literal in subject.grammar.terminals.values() if is_marker(literal)]
    return [one for one in known if one in _around_reasoning()] if subject.request.tool_choice == "none" else known


@check("L1", "No marker of the format is left in the content.", word="tool_markup_in_content")
def _no_terminal_leak(subject: Subject) -> Iterator[Finding]:
    rejected: dict[int, RejectedCall] = {}
    yield from _markers_in(_no_terminal_leak, subject, [CONTENT], rejected)
    for call in rejected.values():
        where = f"characters {call.start} to {call.end} of the output"
        within = subject.trace, call.start, call.end
        message = f"The call at {where} could not be read and stays in the text: {call.reason.words}."
        yield _no_terminal_leak.finding(message, severity="info", about="output", within=within)
    yield from _half_marker(subject)


def _half_marker(subject: Subject) -> Iterator[Finding]:
    """The output breaks off inside a marker, of which the better half is the end of the content."""
    content = subject.trace.channels[CONTENT]
    for marker in _markers_of(subject):
        sizes = range(len(marker) - 1, max(len(marker) // 2, _LEAST), -1)
        size = next((one for one in sizes if content.text.endswith(marker[:one])), 0)
        place = content.place(len(content.text) - size)
        if size and place.raw is not None and place.raw + size == len(subject.trace.text):
            half = marker[:size]
            message = f"The output ends inside `{marker}`, and `{half}` is sent in the content."
            found = _no_terminal_leak.finding(
                message, severity="warning", about="output", at=place, length=size, actual=half, topic=Topic.HALF_MARKER
            )
            yield replace(found, severity="info") if subject.request.finish_reason == "length" else found
            return


@check("L2", "No marker of the format, and so no call, is left in the reasoning.", word="tool_markup_in_reasoning")
def _no_reasoning_leak(subject: Subject) -> Iterator[Finding]:
    return _markers_in(_no_reasoning_leak, subject, [REASONING], {})


@check("L3", "No marker of the format stands in a name, or in arguments outside their strings.")
def _no_argument_leak(subject: Subject) -> Iterator[Finding]:
    yield from _markers_in(
        _no_argument_leak, subject, [one for one in subject.trace.channels if one.part == "name"], {}
    )
    yield from _quoted_markers(subject)
    markers = _markers_of(subject)
    pattern = any_of([*markers, *[json.dumps(marker, ensure_ascii=False)[1:-1] for marker in markers]])
    for index, call in enumerate(subject.calls):
        seen, reader, read = set[str](), JsonPrefix(), 0
        for match in pattern.finditer(call.arguments):
            if reader.feed(call.arguments[read : match.start()]) is not None:
                break  # no JSON even before the marker: arguments_json tells of it
            read, literal = match.start(), match.group()
            if literal not in seen:
                seen.add(literal)
                # A marker may itself begin with the quote that opens the string.
                yield _marker_in_argument(subject, index, literal, read, reader.in_string or literal.startswith('"'))


def _quoted_markers(subject: Subject) -> Iterator[Finding]:
    """Markers in strings of arguments that the built-in parser reads as markers, the first of each call."""
    reference = subject.builtin.trace
    if reference is None or _whole_calls(reference.message) != _whole_calls(subject.trace.message):
        return
    spelled = {json.dumps(one, ensure_ascii=False)[1:-1]: one for one in subject.grammar.terminals.values()}
    literals = [text for text, one in spelled.items() if len(one) > 1 and one[0] + one[-1] in _ENCLOSED]
    for index, (call, own) in enumerate(zip(subject.calls, reference.message.tool_calls, strict=False)):
        pairs = (one for one in literals if call.arguments.count(one) > own.arguments.count(one))
        literal = next(pairs, None) if is_whole_object(call.arguments) and own.complete else None
        if literal is not None:
            place = subject.arguments(index).place(call.arguments.index(literal))
            words = f"`{spelled[literal]}` stands in a string of {call_words(index, call.name)}"
            message = f"{words}; the built-in parser `{reference.parser}` reads it as a marker."
            yield _no_argument_leak.finding(message, severity="warning", at=place, length=len(literal), actual=literal)


def _marker_in_argument(subject: Subject, index: int, literal: str, offset: int, quoted: bool) -> Finding:
    words = call_words(index, subject.calls[index].name)
    place, size = subject.arguments(index).place(offset), len(literal)
    if quoted:
        message = f"`{literal}` is quoted inside {words} and is kept as text there."
        return _no_argument_leak.finding(message, severity="info", about="output", at=place, length=size)
    message = f"`{literal}` stands among the arguments of {words}, outside any string."
    return _no_argument_leak.finding(message, at=place, length=size, actual=literal)


def _markers_in(
    of: Check, subject: Subject, channels: Iterable[Channel], rejected: dict[int, RejectedCall]
) -> Iterator[Finding]:
    """One finding per marker and channel; the calls that gave a marker back are added to `rejected` instead."""
    pattern, others = any_of(_markers_of(subject)), _other_texts(subject)
    for channel in channels:
        text = subject.trace.channels[channel]
        places: dict[str, list[Place]] = {}
        for match in pattern.finditer(text.text):
            place = text.place(match.start())
            call = subject.rejected_at(place.raw)
            if call is None:
                places.setdefault(match.group(), []).append(place)
            else:
                rejected[call.start] = call
        for literal, found in places.items():
            count, where = text.text.count(literal), channel.words(subject.calls)
            readers = [who for who, texts in others if texts.get(channel, literal * count).count(literal) < count]
            own = next((place for place in found if _was_read(subject, place, literal)), None)
            first, span = own or found[0], (own or found[0]).span(len(literal))
            where += f" {len(found)} times" if len(found) > 1 else ""
            if readers or own is not None:
                reader = readers[0] if readers else "the parser itself"
                message = f"`{literal}` leaks into {where}, while {reader} reads it as a marker."
                severity = _weight_of_leak(subject, literal)
                yield of.finding(message, severity=severity, step=first.step, span=span, actual=literal)
            elif _is_mentioned(subject, channel, literal) or _is_shown_in(subject, text.text, literal):
                message = f"`{literal}` is mentioned in {where}."
                yield of.finding(message, severity="info", about="output", step=first.step, span=span)
            else:
                yield _stands(of, subject, channel, literal, where, step=first.step, span=span)


def _weight_of_leak(subject: Subject, literal: str) -> Severity:
    """How much a marker weighs that others read: less where it is one of reasoning, and a parser of others never gives
    any. That is a parser of reasoning's to read, and none is at work."""
    replays = [subject.trace, *[other for _, other in subject.others]]
    silent = subject.black_box and not any(one.message.reasoning for one in replays)
    return "warning" if silent and literal in _around_reasoning() else "error"


def _stands(of: Check, subject: Subject, channel: Channel, literal: str, where: str, **place: Any) -> Finding:
    """A marker that stands in a text: written there by the model, or left there by a parser that reads no reasoning, or
    not the calls that the built-in one reads."""
    reference = subject.builtin.trace
    reads = reference is not None and (reference.message.reasoning or _whole_calls(reference.message))
    own = message_texts(reference.message) if reference is not None and reads else None
    if own is not None and own.get(channel, "").count(literal) < subject.trace.channels[channel].text.count(literal):
        assert reference is not None
        message = f"`{literal}` stays in {where}; the built-in parser `{reference.parser}` reads it as a marker."
        return of.finding(message, severity="warning", actual=literal, **place)
    words, about = _STANDS[subject.known.raw]
    return of.finding(f"`{literal}` {words.format(where)}.", severity="warning", about=about, **place)


def is_all_shown(text: str, literal: str) -> bool:
    """Return whether a marker is code, quoted or a word of a sentence wherever it stands; one that stands in very many
    places is not, and in the middle of a sentence a marker of reasoning may be meant."""
    places = [match.span() for match in islice(re.finditer(re.escape(literal), text), SHOWN + 1)]
    spoken = literal not in _around_reasoning()
    return len(places) <= SHOWN and all(
        is_shown(text, at) or (spoken and is_spoken_of(text, at, end)) for at, end in places
    )


def _is_shown_in(subject: Subject, text: str, literal: str) -> bool:
    """Return whether a marker is shown wherever it stands. In what a server sent, one that opens reasoning is but a
    word in the middle of a sentence where nothing closes it."""
    if is_all_shown(text, literal):
        return True
    openers, closers = _reasoning_markers()
    if subject.known.raw or literal not in openers or any(one in text for one in closers):
        return False
    places = [match.span() for match in islice(re.finditer(re.escape(literal), text), SHOWN + 1)]
    return len(places) <= SHOWN and all(is_spoken_of(text, at, end) for at, end in places)


@cache
def _reasoning_markers() -> tuple[frozenset[str], frozenset[str]]:
    """What opens reasoning in any built-in format, and what closes it."""
    pairs = [reasoning_markers(fmt) for fmt in builtin_formats().values()]
    closers = frozenset(text.strip() for pair in pairs for text in pair.closers)
    return frozenset(text.strip() for pair in pairs for text in pair.openers) - closers, closers


def _is_mentioned(subject: Subject, channel: Channel, literal: str) -> bool:
    """Return whether a marker in reasoning is but spoken of, or drafts a call, as far as anybody can say.

    One of reasoning that a server left there is not, nor one that all of it begins with. What looks like a call is,
    where an answer follows and the parser is no foreign one, which may have lost it: the server sent a call, or the
    machine gave this one back.
    """
    raw, message = subject.known.raw, subject.trace.message
    reasoning = subject.trace.channels[channel].text
    if channel != REASONING:
        return False
    if not raw and (literal in _around_reasoning() or reasoning.lstrip().startswith(literal)):
        return False
    answered = bool(subject.calls) or (raw and bool((message.content or "").strip()))
    return (answered and not (raw and subject.black_box)) or not _is_of_call(reasoning, literal)


def _is_of_call(text: str, literal: str) -> bool:
    """Return whether what stands beside a marker anywhere looks like the body of a call; else it is but spoken of."""
    places = [match.span() for match in re.finditer(re.escape(literal), text)]
    begins = not literal.startswith("</") and any(begins_call(text, end) for _, end in places)
    return begins or any(text[:start].rstrip().endswith(("}", "]", ")")) for start, _ in places)


def _was_read(subject: Subject, place: Place, literal: str) -> bool:
    """Return whether the parser moved on by this very marker, which it nevertheless sent."""
    if place.raw is None or place.step is None or place.kind != "copied":
        return False
    step, terminals = subject.trace.steps[place.step - 1], subject.grammar.terminals
    if any(event.code in _GIVEN_BACK for event in step.diagnostics):
        return False
    return any(terminals.get(move.trigger) == literal for move in step.transitions if move.start == place.raw)


def _other_texts(subject: Subject) -> list[tuple[str, dict[Channel, str]]]:
    """The texts of other replays with another message, and of the built-in parser if it finds the same calls. One that
    failed proves nothing about what it did not reach."""
    message = subject.trace.message
    whole = [(label, other.message) for label, other in subject.others if not other.failure]
    differing = [(label, other) for label, other in whole if not same_message(message, other, ANY_ID)]
    texts = [(f'the chunking "{label}"', message_texts(other)) for label, other in differing]
    reference = subject.builtin.trace
    if reference is not None and _whole_calls(reference.message) == _whole_calls(message) != []:
        texts.append((f"the built-in parser `{reference.parser}`", message_texts(reference.message)))
    return texts


def _whole_calls(message: Message) -> list[str]:
    return [call.name for call in message.tool_calls if call.complete]


@check("L4", "No delta ends with the beginning of a marker that the next text completes.", needs=(Need.RAW,))
def _no_early_leak(subject: Subject) -> Iterator[Finding]:
    markers = [literal for literal in _markers_of(subject) if len(literal) > 1]
    for channel in (REASONING, CONTENT):
        yield from islice(_early_leaks(subject, channel, markers), 1)


def _early_leaks(subject: Subject, channel: Channel, markers: list[str]) -> Iterator[Finding]:
    trace, sent = subject.trace, subject.streamed[channel]
    longest, inside = max(map(len, markers), default=0), _steps_to_inside(trace, markers)
    for stretch, place in zip(sent.stretches, align(trace, sent).ends, strict=False) if inside else ():
        arrived, after = trace.ends[stretch.step - 1], stretch.at + len(stretch.text)
        if stretch.step not in inside or place != arrived:
            continue
        follows = sent.text[after : after + longest]
        for literal in markers:
            size = _sent_of(literal, stretch.text, trace.text, arrived)
            if size and not follows.startswith(literal[size:]):
                yield _no_early_leak.finding(
                    f"`{literal[:size]}` is sent in {channel.words([])}, then `{literal}` is read as a marker.",
                    step=stretch.step,
                    span=Span(arrived - size, arrived),
                    expected=stretch.text[:-size],
                    actual=stretch.text,
                )


def _steps_to_inside(trace: Trace, markers: list[str]) -> set[int]:
    """The numbers of the steps after which what was fed ends inside a marker."""
    found, ends = set[int](), trace.ends
    for literal in markers:
        start = trace.text.find(literal)
        while start >= 0:
            found.update(range(bisect_right(ends, start) + 1, bisect_left(ends, start + len(literal)) + 1))
            start = trace.text.find(literal, start + 1)
    return found


def _sent_of(literal: str, sent: str, text: str, at: int) -> int:
    """Return how many characters of a marker that stands across `at` in the output have been sent; 0 where none
    does."""
    for size in range(min(len(literal) - 1, len(sent)), 0, -1):
        if sent.endswith(literal[:size]) and text.startswith(literal, at - size):
            return size
    return 0


def _stops_before_parser(subject: Subject, literal: str) -> bool:
    """Return whether the output ends with a token that a server may never show its parser: one of another model than
    the format's, or any where the parser is a foreign one; not where the server is known to have sent it."""
    foreign = subject.black_box or literal not in subject.grammar.end_tokens
    unsent = not (subject.server.plays or _was_sent(subject, literal))
    text = subject.trace.text
    return (
        foreign and unsent and text.rstrip().endswith(literal) and _first_unshown(text, literal) == text.rfind(literal)
    )


def _was_sent(subject: Subject, literal: str) -> bool:
    """Return whether the server's own stream of the output has a text in its content."""
    deltas = [chunk.delta for chunk in subject.server.chunks or () if chunk.delta is not None]
    return literal in "".join([delta.content or "" for delta in deltas])


def _first_unshown(text: str, literal: str) -> int:
    """The first place of a token's text that is not in code which ends behind it; -1 where there is none."""
    at = first_meant(text, literal)
    return at if at >= 0 else text.find(literal, text.rfind("`") + 1)


def _strikes_out(text: str, literal: str) -> bool:
    """Return whether `<s>` and `</s>` stand in a text in pairs, as HTML strikes words out. Around all of it they are
    tokens."""
    inner, pairs = text.strip(), _STRUCK.findall(text)
    whole = inner.startswith("<s>") or inner.endswith("</s>")
    return literal in ("<s>", "</s>") and not whole and pairs == ["<s>", "</s>"] * (len(pairs) // 2)


@check("L5", "No token that ends a turn, or begins or fills up a text, is sent as text.")
def _no_control_tokens(subject: Subject) -> Iterator[Finding]:
    """One finding per token and channel: an error where it is a token by its id, else the model may have written it.

    So it did inside a string of arguments that goes on: servers differ on whether such a token's text is kept.
    """
    pieces = subject.tokens.pieces if subject.known.has(Fact.IDS) else ()
    recorded = {piece.text for piece in pieces if piece.recorded and piece.kind == "special"}
    ends = subject.grammar.end_tokens
    literals = [text for text in dict.fromkeys([*ends, *CONTROL]) if not subject.raw or text in subject.trace.text]
    for channel, text in subject.trace.channels.items():
        for literal in literals:
            offset = -1 if channel.part == "id" else text.text.find(literal)
            if offset >= 0 and literal not in recorded and channel.part in ("content", "reasoning"):
                offset = _first_unshown(text.text, literal)
            if offset >= 0:
                goes_on = channel.part == "arguments" and bool(text.text[offset + len(literal) :].strip())
                token = literal in recorded and literal in ends and not goes_on
                stops = _stops_before_parser(subject, literal)
                before = (
                    " At the end of an output a server may leave it out before its parser is asked." if stops else ""
                )
                told = channel.part in ("content", "reasoning") and literal not in recorded
                mentioned = told and (is_all_shown(text.text, literal) or _strikes_out(text.text, literal))
                mild = stops or mentioned or (channel.part == "arguments" and not token)
                yield _no_control_tokens.finding(
                    f"`{literal}` is sent in {channel.words(subject.calls)}.{before}",
                    severity="info" if mild else "error" if token else "warning",
                    about="parser" if token or not subject.known.raw or _was_sent(subject, literal) else "output",
                    at=text.place(offset),
                    length=len(literal),
                    actual=literal,
                )


@check(
    "R2",
    "An output that ends by itself has an answer outside its reasoning.",
    severity="warning",
    about="output",
    needs=(Need.FINISHED,),
)
def _answer_only_in_reasoning(subject: Subject) -> Iterator[Finding]:
    trace, message = subject.trace, subject.trace.message
    reason = trace.finish_reason or None if subject.server.plays else subject.request.finish_reason
    answered = _is_answered(message) or (
        subject.builtin.trace is not None and _is_answered(subject.builtin.trace.message)  # a parser lost the answer
    )
    if not answered and (message.reasoning or "").strip() and reason in (None, "stop", "length"):
        opened, closed = _is_opened(subject), _is_closed(subject)
        why = "it is closed, and nothing follows" if closed else "it is never closed"
        why = why if subject.raw else "whether it was closed is not known"
        why = "its length limit cut it off" if reason == "length" else why
        yield _answer_only_in_reasoning.finding(
            f"All of the output is reasoning, without an answer: {why}.",
            severity="warning" if reason == "stop" else "info",
            about="output" if subject.raw and (closed or opened or subject.known.start) else "request",
            at=trace.channels[REASONING].place(0),
            actual=message.reasoning,
        )


def _is_answered(message: Message) -> bool:
    return bool((message.content or "").strip() or message.tool_calls)


def _is_opened(subject: Subject) -> bool:
    """Return whether a marker opens the reasoning: one that can be nothing else, or one that comes before all of it."""
    text = subject.trace.text
    if any_of(subject.grammar.openers).search(text) is not None:
        return True
    first = (event.start for _, event in subject.trace.events() if isinstance(event, ReasoningText))
    return not subject.black_box and bool(text[: next(first, 0)].strip())


def _is_closed(subject: Subject) -> bool:
    """Return whether a marker ends the reasoning: one that can be nothing else, or one that comes behind all of it."""
    text = subject.trace.text
    if any_of(subject.grammar.closers).search(text) is not None:
        return True
    end = max([event.end for _, event in subject.trace.events() if isinstance(event, ReasoningText)], default=0)
    return not subject.black_box and bool(any_of(subject.grammar.end_tokens).sub("", text[end:]).strip())


@check(
    "R3",
    "After the marker that ends reasoning nothing is reasoning, until a marker opens it again.",
    needs=(Need.REASONING_MARKERS, Need.RAW),
)
def _reasoning_boundary(subject: Subject) -> Iterator[Finding]:
    """At most one finding: the first reasoning after the end marker, or the first that goes on after a call."""
    beyond = _sent_after_closer(subject) if subject.black_box else _placed_after_closer(subject)
    for closer, step, span, text in islice(beyond, 1):
        yield _reasoning_boundary.finding(
            f"Text after `{closer}` is sent as reasoning.", step=step, span=span, actual=text
        )


_Beyond = Iterator[tuple[str, int, Span, str]]  # the closing marker, and step, place and text of the reasoning after it


def _placed_after_closer(subject: Subject) -> _Beyond:
    """Reasoning by its places: where it stands after a closing marker, with no opening one between."""
    trace, closed = subject.trace, None
    openers, marker = frozenset(subject.grammar.openers), ""
    for step, event in trace.events():
        raw = trace.text[event.start : event.end]
        if isinstance(event, Marker):
            marker, closed = raw, None if raw in openers else closed
        elif isinstance(event, ReasoningEnd):
            closed = marker
        elif isinstance(event, ReasoningText) and closed is not None and raw.strip():
            yield closed, step, Span(event.start, event.end), event.text


def _sent_after_closer(subject: Subject) -> _Beyond:
    """The reasoning of a black box, laid over the output up to its first closing marker, if no other opens again."""
    trace, sent, reference = subject.trace, subject.streamed[REASONING], subject.builtin.trace
    closer = any_of(subject.grammar.closers).search(trace.text)
    agreed = reference is not None and reference.message.reasoning == trace.message.reasoning
    if closer is None or not sent.text or agreed or trace.mode == "ids":
        return
    if any_of(subject.grammar.openers).search(trace.text, closer.end()):
        return
    marker, span = closer.group(), Span(closer.start(), closer.end())
    yield from (
        (marker, stretch.step, span, stretch.text)
        for stretch, end in zip(sent.stretches, align(trace, sent).ends, strict=False)
        if end > closer.end() and stretch.text.strip()
    )
