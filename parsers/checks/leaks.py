"""Checks that no marker of the format reaches the client as text, and that reasoning and answer stay apart.

Only literals that cannot be ordinary prose count as markers. One that stays as text under every chunking is the model's
doing (a warning); one that another chunking, or the built-in parser that finds the same calls, reads as a marker is the
parser's (an error). Markers inside an argument string, or of a rejected call that was kept on purpose, are notes. A
leak at the edge of a delta is looked for delta by delta: the message need not show it.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice

from parsers.checks.check import Check, Need, any_of, check
from parsers.checks.json_text import JsonPrefix
from parsers.checks.origins import align
from parsers.checks.subject import Subject
from parsers.compare.divergence import ANY_ID, same_message
from parsers.vocabulary.channels import CONTENT, REASONING, Channel, call_words, message_texts
from parsers.vocabulary.events import Marker, ReasoningEnd, ReasoningText
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import Finding, RejectedCall, Trace
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

_GIVEN_BACK = frozenset(("rejected_call", "fallback_released"))  # what these tell of became text again
_BRACKETS = frozenset("<>[]|｜")


def is_marker(literal: str) -> bool:
    """Return whether a terminal's literal is unmistakable: it has a letter and a bracket or bar."""
    return not _BRACKETS.isdisjoint(literal) and any(char.isalpha() for char in literal)


def _markers_of(subject: Subject) -> list[str]:
    """The markers that may leak: none where the request says that no call is to be read."""
    if subject.request.tool_choice == "none":
        return []
    return [literal for literal in subject.grammar.terminals.values() if is_marker(literal)]


@check("L1", "No marker of the format is left in the content.", word="tool_markup_in_content")
def _no_terminal_leak(subject: Subject) -> Iterator[Finding]:
    rejected: dict[int, RejectedCall] = {}
    yield from _markers_in(_no_terminal_leak, subject, [CONTENT], rejected)
    for call in rejected.values():
        where = f"The call at {call.start} to {call.end} could not be read and stays in the text"
        within = subject.trace, call.start, call.end
        message = f"{where}: {call.reason.words}."
        yield _no_terminal_leak.finding(message, severity="info", about="output", within=within)


@check("L2", "No marker of the format, and so no call, is left in the reasoning.", word="tool_markup_in_reasoning")
def _no_reasoning_leak(subject: Subject) -> Iterator[Finding]:
    return _markers_in(_no_reasoning_leak, subject, [REASONING], {})


@check("L3", "No marker of the format stands in a name, or in arguments outside their strings.")
def _no_argument_leak(subject: Subject) -> Iterator[Finding]:
    yield from _markers_in(
        _no_argument_leak, subject, [one for one in subject.trace.channels if one.part == "name"], {}
    )
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
                yield of.finding(message, step=first.step, span=span, actual=literal)
            else:
                message = f"`{literal}` stands in {where}, written as text."
                yield of.finding(message, severity="warning", about="output", step=first.step, span=span)


def _was_read(subject: Subject, place: Place, literal: str) -> bool:
    """Return whether the parser moved on by this very marker, which it nevertheless sent."""
    if place.raw is None or place.step is None or place.kind != "copied":
        return False
    step, terminals = subject.trace.steps[place.step - 1], subject.grammar.terminals
    if any(event.code in _GIVEN_BACK for event in step.diagnostics):
        return False
    return any(terminals.get(move.trigger) == literal for move in step.transitions if move.start == place.raw)


def _other_texts(subject: Subject) -> list[tuple[str, dict[Channel, str]]]:
    """The texts of other replays with another message, and of the built-in parser if it finds the same calls."""
    message = subject.trace.message
    differing = [(label, t.message) for label, t in subject.others if not same_message(message, t.message, ANY_ID)]
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


@check("L5", "No token that ends a turn, or begins or fills up a text, is sent as text.")
def _no_control_tokens(subject: Subject) -> Iterator[Finding]:
    """One finding per token and channel: an error where it is a token by its id, else the model may have written it."""
    recorded = {piece.text for piece in subject.tokens.pieces if piece.recorded and piece.kind == "special"}
    ends = subject.grammar.end_tokens
    literals = [text for text in dict.fromkeys([*ends, *CONTROL]) if not subject.raw or text in subject.trace.text]
    for channel, text in subject.trace.channels.items():
        for literal in literals:
            offset = -1 if channel.part == "id" else text.text.find(literal)
            if offset >= 0:
                token = literal in recorded and literal in ends
                yield _no_control_tokens.finding(
                    f"`{literal}` is sent in {channel.words(subject.calls)}.",
                    severity="error" if token else "info" if channel.part == "arguments" else "warning",
                    about="parser" if token else "output",
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
    message, reason = subject.trace.message, subject.request.finish_reason
    answered = (message.content or "").strip() or message.tool_calls
    if not answered and (message.reasoning or "").strip() and reason in (None, "stop"):
        closed = any_of(subject.grammar.closers).search(subject.trace.text)
        why = "it is closed, and nothing follows" if closed else "it is never closed"
        why = why if subject.raw else "whether it was closed is not known"
        yield _answer_only_in_reasoning.finding(
            f"All of the output is reasoning: {why}.",
            severity="warning" if reason == "stop" else "info",
            about="output" if closed else "request",
            at=subject.trace.channels[REASONING].place(0),
            actual=message.reasoning,
        )


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
