"""Checks that no marker of the format reaches the client as text.

Only literals that cannot be ordinary prose count as markers: a letter and a bracket or bar. A marker that stays as
text under every chunking is the model's doing (a warning); one that another chunking of the same output recognises
is the parser's (an error), and so is one that the built-in parser reads while it finds the same calls. Markers inside
an argument string, and those of a call that could not be read and was kept on purpose, are notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from parsers.checks.check import Check, Subject, any_of, call_words, channel_words, check, span_of
from parsers.checks.json_prefix import JsonPrefix
from parsers.checks.source import align
from parsers.compare.divergence import ANY_ID, Channel, Place, channel_texts, same_message, step_at
from parsers.vocabulary.events import Marker, ReasoningEnd, ReasoningText, TextEvent
from parsers.vocabulary.trace import Finding, RejectedCall
from parsers.vocabulary.types import Message, Span

_Texts = list[tuple[str, dict[str, str]]]
_GIVEN_BACK = frozenset(("rejected_call", "fallback_released"))  # what these tell of became text again
_BRACKETS = frozenset("<>[]|｜")


def is_marker(literal: str) -> bool:
    """Whether a terminal's literal is unmistakable: it has a letter and a bracket or bar."""
    return not _BRACKETS.isdisjoint(literal) and any(char.isalpha() for char in literal)


@check(
    "no_terminal_leak",
    "L1",
    "No marker of the format is left in the content.",
    word="tool_markup_in_content",
)
def no_terminal_leak(subject: Subject) -> list[Finding]:
    """One finding per marker, and one note per rejected call."""
    rejected: dict[int, RejectedCall] = {}
    found = list(_in_text(no_terminal_leak, subject, ("content",), rejected))
    return found + [_kept(subject, call) for call in rejected.values()]


@check(
    "no_reasoning_leak",
    "L2",
    "No marker of the format, and so no call, is left in the reasoning.",
    word="tool_markup_in_reasoning",
)
def no_reasoning_leak(subject: Subject) -> list[Finding]:
    """One finding per marker."""
    return list(_in_text(no_reasoning_leak, subject, ("reasoning",), {}))


@check("no_argument_leak", "L3", "No marker of the format stands in a name, or in arguments outside their strings.")
def no_argument_leak(subject: Subject) -> list[Finding]:
    """One finding per marker and call; one that is quoted in a string is a note."""
    names = [name for name in subject.channels if name.endswith(".name")]
    return [*_in_text(no_argument_leak, subject, names, {}), *_in_arguments(subject)]


def markers_of(subject: Subject) -> list[str]:
    """The markers that may leak: none where the request says that no call is to be read."""
    return [] if subject.context.tool_choice == "none" else [m for m in subject.terminals.values() if is_marker(m)]


def _in_text(of: Check, subject: Subject, names: Iterable[str], rejected: dict[int, RejectedCall]) -> Iterator[Finding]:
    pattern, others = any_of(markers_of(subject)), _other_texts(subject)
    for name in names:
        channel = subject.channels[name]
        places: dict[str, list[Place]] = {}
        for match in pattern.finditer(channel.text):
            place = channel.place(match.start())
            call = subject.rejected_at(place.raw)
            if call is None:
                places.setdefault(match.group(), []).append(place)
            else:
                rejected[call.start] = call
        yield from (_leak(of, subject, others, name, literal, found) for literal, found in places.items())


def _leak(of: Check, subject: Subject, others: _Texts, name: str, literal: str, places: list[Place]) -> Finding:
    where = channel_words(name, subject.trace.message.tool_calls)
    times = f" {len(places)} times" if len(places) > 1 else ""
    count = subject.channels[name].text.count(literal)
    reader = next((who for who, texts in others if texts.get(name, literal * count).count(literal) < count), None)
    place = next((place for place in places if _was_read(subject, place, literal)), None)
    span = span_of(place or places[0], len(literal))
    if reader is None and place is None:
        message = f"`{literal}` stands in {where}{times}, written as text."
        return of.finding(message, severity="warning", about="output", step=places[0].step, span=span)
    message = f"`{literal}` leaks into {where}{times}, while {reader or 'the parser itself'} reads it as a marker."
    return of.finding(message, step=(place or places[0]).step, span=span, actual=literal)


def _was_read(subject: Subject, place: Place, literal: str) -> bool:
    """Whether the parser moved on by this very marker, which it nevertheless sent."""
    if place.raw is None or place.step is None or place.kind != "copied":
        return False
    step = subject.trace.steps[place.step - 1]
    if any(event.code in _GIVEN_BACK for event in step.diagnostics):
        return False
    return any(subject.terminals.get(m.trigger) == literal for m in step.transitions if m.start == place.raw)


def _other_texts(subject: Subject) -> _Texts:
    """The channels of other replays with another message, and of the built-in parser if it finds the same calls."""
    message = subject.trace.message
    differing = [(label, t.message) for label, t in subject.others if not same_message(message, t.message, ANY_ID)]
    texts = [(f'the chunking "{label}"', channel_texts(other)) for label, other in differing]
    reference = subject.reference
    if reference is not None and _calls(reference.message) == _calls(message) != []:
        texts.append((f"the built-in parser `{reference.parser}`", channel_texts(reference.message)))
    return texts


def _calls(message: Message) -> list[str]:
    return [call.name for call in message.tool_calls if call.complete]


def _kept(subject: Subject, call: RejectedCall) -> Finding:
    return no_terminal_leak.finding(
        f"The call at {call.start} to {call.end} could not be read and stays in the text: {call.reason.words}.",
        severity="info",
        about="output",
        step=step_at(subject.trace, call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
    )


def _in_arguments(subject: Subject) -> Iterator[Finding]:
    markers = markers_of(subject)
    pattern = any_of([*markers, *_escaped(markers)])
    for index, call in enumerate(subject.trace.message.tool_calls):
        seen: set[str] = set()
        reader, read = JsonPrefix(), 0
        for match in pattern.finditer(call.arguments):
            if reader.feed(call.arguments[read : match.start()]) is not None:
                break  # no JSON even before the marker: arguments_json tells of it
            read = match.start()
            if match.group() not in seen:
                seen.add(match.group())
                # A marker may itself begin with the quote that opens the string.
                quoted = reader.in_string or match.group().startswith('"')
                yield _in_argument(subject, index, match.group(), read, quoted=quoted)


def _in_argument(subject: Subject, index: int, literal: str, offset: int, *, quoted: bool) -> Finding:
    words = call_words(index, subject.trace.message.tool_calls[index].name)
    place = subject.arguments(index).place(offset)
    span = span_of(place, len(literal))
    if quoted:
        message = f"`{literal}` is quoted inside {words} and is kept as text there."
        return no_argument_leak.finding(message, severity="info", about="output", step=place.step, span=span)
    message = f"`{literal}` stands among the arguments of {words}, outside any string."
    return no_argument_leak.finding(message, step=place.step, span=span, actual=literal)


def _escaped(markers: Iterable[str]) -> list[str]:
    """The markers as they read inside a JSON string."""
    return [json.dumps(marker, ensure_ascii=False)[1:-1] for marker in markers]


# Checks on what stands at the edge of a delta, and on the tokens that end a turn.
#
# A leak at the edge is looked for delta by delta, not in the message: a parser that sends the beginning of a marker and
# then reads the rest of it as one leaves a message in which no marker stands.

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


@check(
    "no_early_leak",
    "L4",
    "No delta ends with the beginning of a marker that the next text completes.",
    needs=("raw",),
)
def no_early_leak(subject: Subject) -> list[Finding]:
    """The first such delta of content and of reasoning."""
    markers = [literal for literal in markers_of(subject) if len(literal) > 1]
    found = [next(_early(subject, name, markers), None) for name in ("reasoning", "content")]
    return [finding for finding in found if finding is not None]


def _early(subject: Subject, name: str, markers: list[str]) -> Iterator[Finding]:
    trace, sent = subject.trace, subject.streamed.get(name, Channel(""))
    longest = max(map(len, markers), default=0)
    for stretch, place in zip(sent.stretches, align(trace, sent).ends, strict=False):
        arrived = trace.steps[stretch.step - 1].span.end
        if place != arrived or arrived == len(trace.text):
            continue
        after = stretch.at + len(stretch.text)
        follows = sent.text[after : after + longest]
        for literal in markers:
            size = _begun(literal, stretch.text, trace.text, arrived)
            if size and not follows.startswith(literal[size:]):
                yield no_early_leak.finding(
                    f"`{literal[:size]}` is sent in {channel_words(name, [])}, then `{literal}` is read as a marker.",
                    step=stretch.step,
                    span=Span(arrived - size, arrived),
                    expected=stretch.text[:-size],
                    actual=stretch.text,
                )


def _begun(literal: str, sent: str, text: str, at: int) -> int:
    """How much of a marker that stands across `at` in the output has been sent; 0 where none does."""
    for size in range(min(len(literal) - 1, len(sent)), 0, -1):
        if sent.endswith(literal[:size]) and text.startswith(literal, at - size):
            return size
    return 0


@check("no_control_tokens", "L5", "No token that ends a turn, or begins or fills up a text, is sent as text.")
def no_control_tokens(subject: Subject) -> list[Finding]:
    """One finding per token and channel: an error where it is a token by its id, else the model may have written it."""
    recorded = {piece.text for piece in subject.pieces if piece.recorded and piece.kind == "special"}
    known = dict.fromkeys([*subject.end_tokens, *CONTROL])
    literals = [text for text in known if not subject.raw or text in subject.trace.text]
    findings = []
    for name, channel in subject.channels.items():
        for literal in literals:
            offset = -1 if name.endswith(".id") else channel.text.find(literal)
            if offset >= 0:
                place, where = channel.place(offset), channel_words(name, subject.trace.message.tool_calls)
                token = literal in recorded and literal in subject.end_tokens
                findings.append(
                    no_control_tokens.finding(
                        f"`{literal}` is sent in {where}.",
                        severity="error" if token else "info" if name.endswith(".arguments") else "warning",
                        about="parser" if token else "output",
                        step=place.step,
                        span=span_of(place, len(literal)),
                        actual=literal,
                    )
                )
    return findings


# Checks on the boundary between reasoning and answer.


@check(
    "answer_only_in_reasoning",
    "R2",
    "An output that ends by itself has an answer outside its reasoning.",
    severity="warning",
    about="output",
    needs=("finished",),
)
def answer_only_in_reasoning(subject: Subject) -> list[Finding]:
    """At most one finding: a warning where the model is known to have stopped, else a note."""
    message, said = subject.trace.message, subject.context.finish_reason
    answered = (message.content or "").strip() or message.tool_calls
    if answered or not (message.reasoning or "").strip() or said not in (None, "stop"):
        return []
    closed = any_of(subject.closers).search(subject.trace.text) if subject.closers else None
    why = "it is closed, and nothing follows" if closed else "it is never closed"
    why = why if subject.raw else "whether it was closed is not known"
    place = subject.channels["reasoning"].place(0)
    return [
        answer_only_in_reasoning.finding(
            f"All of the output is reasoning: {why}.",
            severity="warning" if said == "stop" else "info",
            about="output" if closed else "request",
            step=place.step,
            span=span_of(place),
            actual=message.reasoning,
        )
    ]


@check(
    "reasoning_boundary",
    "R3",
    "After the marker that ends reasoning nothing is reasoning, until a marker opens it again.",
    needs=("reasoning_markers", "raw"),
)
def reasoning_boundary(subject: Subject) -> list[Finding]:
    """At most one finding: the first reasoning after the end marker, or the first that goes on after a call."""
    return list(_unclosed(subject) if subject.black_box else _beyond(subject))[:1]


def _beyond(subject: Subject) -> Iterator[Finding]:
    """Reasoning by its places: where it stands after a closing marker, with no opening one between."""
    trace, closed = subject.trace, None
    openers, marker = frozenset(subject.openers), ""
    for step, event in trace.events():
        raw = trace.text[event.start : event.end]
        if isinstance(event, Marker):
            marker, closed = raw, None if raw in openers else closed
        elif isinstance(event, ReasoningEnd):
            closed = marker
        elif isinstance(event, ReasoningText) and closed is not None and raw.strip():
            yield _after(event, step.index, closed)


def _after(event: TextEvent, step: int, closer: str) -> Finding:
    span = Span(event.start, event.end)
    message = f"Text after `{closer}` is sent as reasoning."
    return reasoning_boundary.finding(message, step=step, span=span, actual=event.text)


def _unclosed(subject: Subject) -> Iterator[Finding]:
    """The reasoning of a black box, laid over the output up to its first closing marker, if no other opens again."""
    trace, sent = subject.trace, subject.streamed.get("reasoning", Channel(""))
    closer = any_of(subject.closers).search(trace.text)
    agreed = subject.reference is not None and subject.reference.message.reasoning == trace.message.reasoning
    if closer is None or not sent.text or agreed or _opens(subject, closer) or trace.mode == "ids":
        return
    found = align(trace, sent)
    for stretch, end in zip(sent.stretches, found.ends, strict=False):
        if end > closer.end() and stretch.text.strip():
            span = Span(closer.start(), closer.end())
            message = f"Text after `{closer.group()}` is sent as reasoning."
            yield reasoning_boundary.finding(message, step=stretch.step, span=span, actual=stretch.text)


def _opens(subject: Subject, closer: re.Match[str]) -> bool:
    """Whether reasoning may be opened behind the first closing marker, or another format's markers decide."""
    return any_of(subject.openers).search(subject.trace.text, closer.end()) is not None
