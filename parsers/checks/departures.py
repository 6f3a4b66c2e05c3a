"""Checks of a foreign parser beside the built-in one of its format: what it sends otherwise, the same under every cut.

The raw output and its grammar are known, so the built-in reading says where each text belongs, which white space stands
in it, and how a call is called. Texts are compared without white space first: so every difference has one name. White
space at the edges of a text, next to a marker, is what contracts are about: where they say nothing of it, a difference
is a note. Inside a text no contract lets it change; how much that weighs, the contract says. What another chunking
reads rightly, `chunking` tells of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from parsers.checks.check import Need, check
from parsers.checks.spaces import Spaced, differing_gaps, joined_words, squeezed
from parsers.checks.subject import Subject
from parsers.compare.divergence import shared_prefix
from parsers.formats.contracts import Contract
from parsers.vocabulary.channels import CONTENT, REASONING, Channel, call_words, message_texts
from parsers.vocabulary.events import (
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningText,
    Severity,
)
from parsers.vocabulary.trace import Finding, Topic, Trace
from parsers.vocabulary.types import Message, Span
from parsers.vocabulary.words import quoted

_TEXT_KEYS = (
    "content_before_calls", "content_between_calls", "content_after_calls", "content_start", "reasoning_start",
    "reasoning_tail",
)  # fmt: skip


# Which channel a text belongs to.


class _Move(NamedTuple):
    """A text that is sent in another channel than it belongs to: where it stands in the output, and how many characters
    were sent in the wrong channel before it, white space aside."""

    text: str
    raw: int
    channel: Channel
    before: int


@check(
    "R4",
    "Reasoning and content are told apart as the markers of the output tell them.",
    needs=(Need.FINISHED, Need.RAW, Need.REFERENCE),
)
def _channels_kept(subject: Subject) -> Iterator[Finding]:
    """One finding, with the first text that is sent in the wrong channel."""
    moves = moved(subject)
    if not moves:
        return
    first, policy = moves[0], _channel_policy(subject, moves)
    others = f" ({len(moves)} places in all)" if len(moves) > 1 else ""
    right = REASONING if first.channel == CONTENT else CONTENT
    words = f"{quoted(first.text.strip())} is sent as {first.channel}; in the output it is {right}{others}."
    topic, severity, about = Topic.CHANNEL, _channels_kept.severity, _channels_kept.about
    if _is_of_start(subject):
        topic, severity, about = Topic.START, "info" if _orphan(subject) else "warning", "request"
        opened = "opened reasoning" if first.channel == REASONING else "did not open reasoning"
        words = f"{quoted(first.text.strip())} is sent as {first.channel}, which is right only if the prompt {opened};"
        words += " nobody says so: give reasoning_open or prompt_tail."
    sent = subject.streamed[first.channel]
    yield _channels_kept.finding(
        words,
        topic=topic,
        severity=severity,
        about=about,
        step=sent.place(_offset(sent.text, first.before)).step,
        span=Span(first.raw, first.raw + len(first.text)),
        actual=first.text,
        policy=policy,
    )


def moved(subject: Subject) -> Sequence[_Move]:
    """The texts that a black box sends in another channel than the built-in parser; none where it sends other texts."""
    reference, message = subject.builtin.trace, subject.trace.message
    if reference is None or subject.server.plays:
        return ()
    texts = {REASONING: squeezed(message.reasoning), CONTENT: squeezed(message.content)}
    at, moves = {REASONING: 0, CONTENT: 0}, list[_Move]()
    for part in _parts(reference):
        own, text = part.channel, squeezed(part.text)
        other = CONTENT if own == REASONING else REASONING
        if texts[own].startswith(text, at[own]):
            at[own] += len(text)
            continue
        span = _span(text, (texts[own], at[own]), (texts[other], at[other]))
        if span is None:
            return ()
        start, end = (_offset(part.text, count) for count in span)
        moves.append(_Move(part.text[start:end], part.raw + start, other, at[other]))
        at[own] += len(text) - (span[1] - span[0])
        at[other] += span[1] - span[0]
    return moves if all(at[channel] == len(text) for channel, text in texts.items()) else ()


_Sent = tuple[str, int]  # what is sent to a channel, and how far it is known where it belongs


def _span(text: str, own: _Sent, other: _Sent) -> tuple[int, int] | None:
    """The part of a text that the other channel has, its end or its beginning; None where the channels have not all."""
    kept, moved_first = (shared_prefix(sent[at : at + len(text)], text) for sent, at in (own, other))
    if other[0].startswith(text[kept:], other[1]):
        return kept, len(text)
    return (0, moved_first) if own[0].startswith(text[moved_first:], own[1]) else None


def _offset(text: str, count: int) -> int:
    """Where so many characters of a text have come, white space aside: at the next one of them."""
    seen = 0
    for offset, char in enumerate(text):
        if not char.isspace():
            if seen == count:
                return offset
            seen += 1
    return len(text)


def _channel_policy(subject: Subject, moves: Sequence[_Move]) -> str | None:
    """The keys of the contract that allow the moves."""
    stray = subject.promised.values("stray_reasoning_end")
    if "reasoning" in stray and _orphan(subject) and all(move.channel == REASONING for move in moves):
        return f"stray_reasoning_end={'|'.join(stray)}"
    return subject.allowed


def _is_of_start(subject: Subject) -> bool:
    """Return whether nobody knows how the prompt ends, and by the other end the texts are where they belong."""
    return subject.builtin.otherwise is not None and _split(subject.builtin.otherwise) == _split(subject.trace.message)


def _split(message: Message) -> tuple[str, str]:
    return squeezed(message.reasoning), squeezed(message.content)


def _orphan(subject: Subject) -> bool:
    """Return whether the output ends reasoning that never began."""
    reference = subject.builtin.trace
    notes = () if reference is None else (event for _, event in reference.events() if isinstance(event, Diagnostic))
    return any(note.code == "orphan_reasoning_end" for note in notes)


# White space.


@dataclass(slots=True)
class _Part:
    """A text of the built-in reading between two markers: where it begins in the output, and what stands beside it."""

    channel: Channel
    raw: int
    texts: list[str] = field(default_factory=list)
    calls: int = 0
    """How many calls came before it."""
    after: set[type[Event]] = field(default_factory=set)
    """What stands between it and the next text."""

    @property
    def text(self) -> str:
        return "".join(self.texts)


def _parts(reference: Trace) -> list[_Part]:
    """The texts of content and reasoning in the order of the output."""
    parts, calls = list[_Part](), 0
    between = set[type[Event]]()
    for _, event in reference.events():
        if isinstance(event, ContentText | ReasoningText):
            channel = CONTENT if isinstance(event, ContentText) else REASONING
            if not parts or between or parts[-1].channel != channel:
                parts.append(_Part(channel, event.start, calls=calls))
                between = parts[-1].after
            parts[-1].texts.append(event.text)
        elif isinstance(event, CallStart | Marker | Dropped):
            calls += isinstance(event, CallStart)
            between.add(type(event))
    return parts


def _edges(parts: Sequence[_Part], calls: int) -> Mapping[Channel, Mapping[int, tuple[str, ...]]]:
    """The gaps of each text that stand next to a marker, with the keys of contracts that are about them."""
    edges: dict[Channel, dict[int, tuple[str, ...]]] = {CONTENT: {}, REASONING: {}}
    at = {CONTENT: 0, REASONING: 0}
    before: set[type[Event]] = set()
    for number, part in enumerate(parts):
        gaps, last = edges[part.channel], number + 1 == len(parts)
        first, at[part.channel] = at[part.channel], at[part.channel] + len(squeezed(part.text))
        gaps[first] = gaps.get(first, ()) + _start_keys(part, before, calls)
        if not last or part.after or part.channel == REASONING:
            end = at[part.channel]
            gaps[end] = gaps.get(end, ()) + _end_keys(part, calls, last=last)
        before = part.after
    if calls and not at[CONTENT]:  # all white space that may come is an edge: of the calls
        edges[CONTENT] = {0: ("content_between_calls" if calls > 1 else "content_after_calls",)}
    return edges


def _start_keys(part: _Part, before: set[type[Event]], calls: int) -> tuple[str, ...]:
    if part.channel == REASONING:
        return ("reasoning_start",)
    if CallStart in before:
        return ("content_between_calls" if part.calls < calls else "content_after_calls",)
    return ("content_start",)


def _end_keys(part: _Part, calls: int, *, last: bool) -> tuple[str, ...]:
    if part.channel == REASONING:
        return ("reasoning_tail",)
    if CallStart in part.after:
        return ("content_between_calls" if part.calls else "content_before_calls",)
    return ("content_after_calls",) if last and calls else ()


@check(
    "A6",
    "Text keeps its white space, but for the edges that a contract is about.",
    severity="warning",
    needs=(Need.FINISHED, Need.RAW, Need.REFERENCE),
)
def _spaces_kept(subject: Subject) -> Iterator[Finding]:
    """At most two findings for a channel: white space that must stay, and edges of which the contract says nothing."""
    reference = subject.builtin.trace
    assert reference is not None  # it is needed
    edges = _edges(_parts(reference), len(reference.message.tool_calls))
    for channel in (REASONING, CONTENT):
        right, mine = (message_texts(one)[channel] for one in (reference.message, subject.trace.message))
        if squeezed(right) != squeezed(mine):
            continue
        told: dict[_Stand, list[int]] = {}
        for gap in differing_gaps(Spaced(right), _alike(subject, channel, mine)):
            stand = _stand(subject.promised, edges[channel].get(gap))
            if stand is not None:
                told.setdefault(stand, []).append(gap)
        for stand, gaps in told.items():
            yield _space_finding(subject, channel, Spaced(right), Spaced(mine), gaps, stand)


def _alike(subject: Subject, channel: Channel, mine: str) -> list[Spaced]:
    """What is sent to a channel, here and in the replays that send the same but for white space."""
    others = {message_texts(trace.message)[channel] for _, trace in subject.others if not trace.failure}
    return [Spaced(text) for text in (mine, *others) if squeezed(text) == squeezed(mine)]


class _Stand(Enum):
    """What a contract says of white space at a place, as the end of a sentence."""

    INSIDE = ""  # no contract lets it change
    KEPT = ", which the contract {} keeps"
    OPEN = ", of which the contract does not speak"


def _stand(contract: Contract, keys: tuple[str, ...] | None) -> _Stand | None:
    """What the contract says of a gap, at an edge by the keys that are about it; None where these allow a change."""
    if keys is None:
        return _Stand.INSIDE
    named = [values for key in keys if (values := contract.values(key))]
    if any(len(values) > 1 for values in named):
        return None
    return _Stand.KEPT if named else _Stand.OPEN


def _weight(contract: Contract, stand: _Stand) -> Severity:
    """How much a change weighs: an error where the contract promises white space as it came."""
    promised = any(len(contract.values(key)) == 1 for key in _TEXT_KEYS)
    return "info" if stand is _Stand.OPEN else "error" if promised else "warning"


def _space_finding(
    subject: Subject, channel: Channel, right: Spaced, wrong: Spaced, gaps: Sequence[int], stand: _Stand
) -> Finding:
    reference, gap = subject.builtin.trace, gaps[0]
    assert reference is not None  # it is needed
    before, after = right.change(wrong, gap)
    verb = "is added to" if gap not in right.runs else "is changed in" if gap in wrong.runs else "is lost from"
    more = f" ({len(gaps)} places in all)" if len(gaps) > 1 else ""
    said = stand.value.format(quoted(subject.promised.name))
    joins = stand is _Stand.INSIDE and any(joined_words(right, wrong, gaps))
    place = reference.channels[channel].place(right.place(gap))
    return _spaces_kept.finding(
        f"White space {verb} {channel.words([])}: {quoted(before)} becomes {quoted(after)}{more}{said}.",
        severity="error" if joins else _weight(subject.promised, stand),
        step=None if place.raw is None else subject.trace.step_at(place.raw),
        span=place.span(max(1, len(right.runs.get(gap, "")))),
        expected=before,
        actual=after,
    )


# Calls.


@check("N7", "A call is called as the output calls it.", needs=(Need.FINISHED, Need.RAW, Need.REFERENCE))
def _names_kept(subject: Subject) -> Iterator[Finding]:
    reference, values = subject.builtin.trace, subject.promised.values("wrapper_names")
    assert reference is not None  # it is needed
    for number, right in subject.renamed.items():
        name, sent = Channel(number, "name"), subject.calls[number].name
        wrapped = right.rpartition(".")[2] == sent.rpartition(".")[2]
        place = reference.channels[name].place(0)
        yield _names_kept.finding(
            f"The output names {call_words(number, '')} {quoted(right)}; the parser sends {quoted(sent)}.",
            severity="info" if wrapped and not values else None,
            step=subject.streamed[name].place(0).step,
            span=place.span(len(right)),
            expected=right,
            actual=sent,
            policy=f"wrapper_names={'|'.join(values)}" if wrapped and len(values) > 1 else None,
        )


# What a contract may do with a call that is none by one of its keys, where it still sends it as a call.
_KEEPING: Mapping[str, frozenset[str]] = {
    "truncated_call": frozenset(("as_streamed", "close")),
    "unknown_tool": frozenset(("keep",)),
    "invalid_call": frozenset(("lenient",)),
    "missing_arguments": frozenset(("empty",)),
    "malformed_call": frozenset(("read",)),
}


@check("N8", "What is no call by the contract is sent as none.", needs=(Need.FINISHED, Need.RAW, Need.REFERENCE))
def _calls_as_promised(subject: Subject) -> Iterator[Finding]:
    """Calls that the built-in parser gives back by the contract, and that a black box sends."""
    reference, contract = subject.builtin.trace, subject.promised
    assert reference is not None  # it is needed
    left = Counter([call.name for call in subject.calls])
    left.subtract([call.name for call in reference.message.tool_calls])
    for rejected in reference.rejected_calls:
        key, name = rejected.reason.policy or "", rejected.name or ""
        values = contract.values(key) if key in _KEEPING else ()
        if not values or not _KEEPING[key].isdisjoint(values) or left[name] <= 0:
            continue
        left[name] -= 1
        number = max(index for index, call in enumerate(subject.calls) if call.name == name)
        words = f"C{call_words(number, name)[1:]} is sent, which is none by the contract {quoted(contract.name)}"
        yield _calls_as_promised.finding(
            f"{words} ({key}={'|'.join(values)}): {rejected.reason.words}.",
            topic=Topic.PROMISE,
            step=subject.streamed[Channel(number, "name")].place(0).step,
            span=Span(rejected.start, rejected.end),
            actual=subject.calls[number].arguments,
        )
