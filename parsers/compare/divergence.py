"""Where two replays of the same output part.

`Rules` say what counts as a difference at all; they are part of a case and named in the findings they change.

Strategy: a message is a set of channels (content, reasoning, and per call its name, id and arguments). Each channel
is rebuilt from the text events of the trace as a list of stretches, so that an offset in a channel leads to a step
and, where the parser says so, to an offset in the output text. Two channels are compared by halving their common
prefix. Of all channels that differ, the one that parts earliest in the output text is reported.

Invariants: O(n) in the length of the output; None and "" are the same text; a parser that gives no segments still
gets steps (from its deltas), never invented offsets.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from parsers.vocabulary.events import CallArguments, CallId, CallName, Segment, SegmentKind, TextEvent
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message, MessageDelta, ToolCall

EXCERPT = 200
_LEAD = 60

Grade = Literal["calls", "text", "whitespace"]
Key = tuple[str, str, tuple[tuple[tuple[str, str, bool, str], ...], tuple[int, ...]]]


@dataclass(slots=True, frozen=True)
class Rules:
    """What counts as a difference between two messages.

    `arguments`: as text, or as JSON values where both are JSON. `whitespace`: exact, or soft (any run of it is one
    blank, and none counts at the ends) in content and reasoning. `ids`: whether the calls' ids count. `calls`: by their
    index alone, or also in the order in which they began.
    """

    arguments: Literal["text", "json"] = "text"
    whitespace: Literal["exact", "soft"] = "exact"
    ids: bool = True
    calls: Literal["order", "index"] = "order"

    def words(self) -> str:
        """What these rules let pass, for a sentence; "" for the exact ones."""
        loose = ["arguments compared as JSON values"] if self.arguments == "json" else []
        loose += ["whitespace compared softly"] if self.whitespace == "soft" else []
        return ", ".join([*loose, "calls compared by index"] if self.calls == "index" else loose)


EXACT = Rules()
ANY_ID = Rules(ids=False)


@dataclass(slots=True)
class Place:
    """Where a character of a channel comes from: offset in the output text, step, and how it was made."""

    raw: int | None
    step: int | None
    kind: SegmentKind | None = None


@dataclass(slots=True)
class Stretch:
    """Part of a channel that one step wrote. `start` and `end` are None where the parser did not say."""

    at: int
    text: str
    step: int
    start: int | None = None
    end: int | None = None
    kind: SegmentKind | None = None


@dataclass(slots=True)
class Channel:
    """The text of one channel and the stretches it was written in, in order and without gap."""

    text: str
    stretches: list[Stretch] = field(default_factory=list)

    def place(self, offset: int) -> Place:
        """Where the character at `offset` comes from; at or beyond the end, where the channel ended."""
        index = bisect_right(self.stretches, offset, key=lambda stretch: stretch.at) - 1
        if index < 0:
            return Place(None, None)
        stretch = self.stretches[index]
        inside = offset - stretch.at
        if inside >= len(stretch.text):
            return Place(stretch.end, stretch.step, stretch.kind)
        if stretch.kind == "copied" and stretch.start is not None:
            return Place(stretch.start + inside, stretch.step, stretch.kind)
        return Place(stretch.start, stretch.step, stretch.kind)

    def _append(self, stretch: Stretch) -> None:
        if stretch.text:
            self.stretches.append(stretch)


@dataclass(slots=True)
class Divergence:
    """The first place where two messages part.

    `channel`: content, reasoning, tool_calls[i].name / .id / .arguments / .complete, calls (their number differs)
    or finish_reason. `offset` counts in that channel, `raw` in the output text (None where nobody knows);
    `expected` and `actual` are the texts around it in the first and the second trace.
    """

    channel: str
    offset: int
    raw: int | None
    step_a: int | None
    step_b: int | None
    expected: str
    actual: str


def same_message(a: Message, b: Message, rules: Rules = EXACT) -> bool:
    """Whether two messages say the same: content, reasoning and calls."""
    return message_key(a, rules) == message_key(b, rules)


def message_key(message: Message, rules: Rules = EXACT) -> Key:
    """A hashable value that is equal for messages that say the same."""
    ids, as_json = rules.ids, rules.arguments == "json"
    calls = [
        (c.name, _as_json(c.arguments) if as_json else c.arguments, c.complete, (c.id or "") if ids else "")
        for c in message.tool_calls
    ]
    content, reasoning = message.content or "", message.reasoning or ""
    if rules.whitespace == "soft":
        content, reasoning = " ".join(content.split()), " ".join(reasoning.split())
    return content, reasoning, (tuple(calls), message.order if rules.calls == "order" else ())


def _as_json(text: str) -> str:
    """One spelling for all spellings of a JSON value; text that is not JSON as it is."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def grade(a: Message, b: Message, rules: Rules = EXACT) -> Grade | None:
    """How badly two messages differ: in their calls, in their text, or only in whitespace of the text."""
    one, other = message_key(a, rules), message_key(b, rules)
    if one == other:
        return None
    if one[2] != other[2]:
        return "calls"
    pairs = ((a.content, b.content), (a.reasoning, b.reasoning))
    return "whitespace" if all(_squeezed(x) == _squeezed(y) for x, y in pairs) else "text"


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def excerpt(text: str, offset: int = 0) -> str:
    """At most EXCERPT characters of `text` around `offset`, with an ellipsis where it was cut."""
    start = max(0, min(offset - _LEAD, len(text) - EXCERPT + 1)) if len(text) > EXCERPT else 0
    head = "…" if start else ""
    room = EXCERPT - len(head)
    rest = text[start:]
    return head + (rest if len(rest) <= room else rest[: room - 1] + "…")


def shared_prefix(a: str, b: str) -> int:
    """Length of the longest common prefix, by halving: every round compares half of what the last one did."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def channel_texts(message: Message) -> dict[str, str]:
    """The text of every channel of a message, in reporting order."""
    texts = {"reasoning": message.reasoning or "", "content": message.content or ""}
    for index, call in enumerate(message.tool_calls):
        texts[f"tool_calls[{index}].name"] = call.name
        texts[f"tool_calls[{index}].id"] = call.id or ""
        texts[f"tool_calls[{index}].arguments"] = call.arguments
    return texts


def channels(trace: Trace) -> dict[str, Channel]:
    """Every channel of the trace's message with the stretches it was written in.

    The stretches come from the events; where these do not spell the message's text, from the deltas.
    """
    from_events = _collect(_event_stretches(trace))
    from_deltas: dict[str, Channel] | None = None
    found = {}
    for name, text in channel_texts(trace.message).items():
        channel = from_events.get(name, Channel(""))
        if channel.text != text:
            from_deltas = delta_channels(trace) if from_deltas is None else from_deltas
            channel = Channel(text, from_deltas.get(name, Channel("")).stretches)
        found[name] = channel
    return found


def delta_channels(trace: Trace) -> dict[str, Channel]:
    """Every channel as a client would put it together from the deltas, call by call index."""
    return sent_channels((step.index, step.delta) for step in trace.steps)


def sent_channels(numbered: Iterable[tuple[int, MessageDelta | None]]) -> dict[str, Channel]:
    """Every channel of deltas, each with the number of the step or chunk that sent it."""
    return _collect(_delta_stretches(numbered))


def divergence(a: Trace, b: Trace, rules: Rules = EXACT) -> Divergence | None:
    """The first place where the messages (then the finish reasons) of two traces part, or None. O(n)."""
    if not same_message(a.message, b.message, rules):
        partings = _partings(a, b, rules)
        return min(partings, key=lambda parting: len(a.text) + 1 if parting.raw is None else parting.raw)
    if a.finish_reason == b.finish_reason:
        return None
    last_a, last_b = (trace.steps[-1].index if trace.steps else None for trace in (a, b))
    return Divergence("finish_reason", 0, None, last_a, last_b, a.finish_reason, b.finish_reason)


def step_at(trace: Trace, raw: int) -> int | None:
    """Index of the step that was fed the character at `raw` of the output text; the last step beyond the end."""
    if not trace.steps:
        return None
    position = bisect_right(trace.steps, raw, key=lambda step: step.span.end)
    return trace.steps[min(position, len(trace.steps) - 1)].index


def _collect(stretches: Iterator[tuple[str, Stretch]]) -> dict[str, Channel]:
    texts: dict[str, list[str]] = {}
    lengths: dict[str, int] = {}
    found: dict[str, Channel] = {}
    for name, stretch in stretches:
        stretch.at = lengths.get(name, 0)
        lengths[name] = stretch.at + len(stretch.text)
        texts.setdefault(name, []).append(stretch.text)
        found.setdefault(name, Channel(""))._append(stretch)
    for name, channel in found.items():
        channel.text = "".join(texts[name])
    return found


def _event_stretches(trace: Trace) -> Iterator[tuple[str, Stretch]]:
    for step, event in trace.events():
        if isinstance(event, TextEvent):
            name, parts = channel_of(event), known_parts(event)
            for part in parts:
                yield name, Stretch(0, part.text, step.index, part.start, part.end, part.kind)
            if not parts:
                yield name, Stretch(0, event.text, step.index)


def known_parts(event: TextEvent) -> tuple[Segment, ...]:
    """The segments of an event where they spell its text; () where the parser does not say where it came from."""
    parts = event.parts()
    if event.segments is None and len(event.text) != event.end - event.start:
        return ()
    return parts if sum([len(part.text) for part in parts]) == len(event.text) else ()


def channel_of(event: TextEvent) -> str:
    """The channel a text event writes to."""
    if isinstance(event, (CallName, CallId, CallArguments)):
        return f"tool_calls[{event.call}].{event.owner}"
    return str(event.owner)


def _delta_stretches(numbered: Iterable[tuple[int, MessageDelta | None]]) -> Iterator[tuple[str, Stretch]]:
    for number, delta in numbered:
        if delta is not None:
            for name, text in _delta_texts(delta):
                yield name, Stretch(0, text, number)


def _delta_texts(delta: MessageDelta) -> Iterator[tuple[str, str]]:
    yield from (
        (name, text) for name, text in (("reasoning", delta.reasoning), ("content", delta.content)) if text is not None
    )
    for call in delta.tool_calls:
        parts = (("name", call.name), ("id", call.id), ("arguments", call.arguments))
        yield from ((f"tool_calls[{call.index}].{part}", text) for part, text in parts if text is not None)


def _partings(a: Trace, b: Trace, rules: Rules) -> list[Divergence]:
    left, right = channels(a), channels(b)
    partings = [
        _parting(a, b, name, left[name], right[name])
        for name in left
        if name in right and _counts(name, left[name].text, right[name].text, rules)
    ]
    calls = list(zip(a.message.tool_calls, b.message.tool_calls, strict=False))
    for index, (x, y) in enumerate(calls):
        if x.complete != y.complete:
            partings.append(_ending(a, b, index, left, right))
    if len(a.message.tool_calls) != len(b.message.tool_calls):
        partings.append(_number(a, b, len(calls), left, right))
    return partings or [_order(a, b, left, right)]


def _order(a: Trace, b: Trace, left: dict[str, Channel], right: dict[str, Channel]) -> Divergence:
    """The same calls, begun in another order: the place is where the first of them begins that is not due."""
    orders = [t.message.order or tuple(range(len(t.message.tool_calls))) for t in (a, b)]
    at = next(i for i, (x, y) in enumerate(zip(*orders, strict=True)) if x != y)
    here, there = (side[f"tool_calls[{o[at]}].name"].place(0) for side, o in zip((left, right), orders, strict=True))
    texts = [_list_calls([t.message.tool_calls[i] for i in o]) for t, o in zip((a, b), orders, strict=True)]
    raw = min([place.raw for place in (here, there) if place.raw is not None], default=None)
    return Divergence("calls", at, raw, here.step, there.step, texts[0], texts[1])


def _counts(name: str, a: str, b: str, rules: Rules) -> bool:
    """Whether these texts of a channel differ under the rules."""
    if a == b or (name.endswith(".id") and not rules.ids):
        return False
    if name.endswith(".arguments") and rules.arguments == "json":
        return _as_json(a) != _as_json(b)
    return rules.whitespace == "exact" or name not in ("content", "reasoning") or a.split() != b.split()


def _parting(a: Trace, b: Trace, name: str, left: Channel, right: Channel) -> Divergence:
    offset = shared_prefix(left.text, right.text)
    here, there = left.place(offset), right.place(offset)
    ends = (offset == len(left.text), offset == len(right.text))
    written = [place.raw for place, ended in zip((here, there), ends, strict=True) if not ended]
    raw = min([value for value in written if value is not None], default=None)
    if raw is not None:
        here.step = step_at(a, raw) if ends[0] else here.step
        there.step = step_at(b, raw) if ends[1] else there.step
    return Divergence(name, offset, raw, here.step, there.step, excerpt(left.text, offset), excerpt(right.text, offset))


def _ending(a: Trace, b: Trace, index: int, left: dict[str, Channel], right: dict[str, Channel]) -> Divergence:
    """Two calls of which one is complete and the other is not."""
    name = f"tool_calls[{index}].arguments"
    places = [side[name].place(len(side[name].text)) for side in (left, right)]
    words = ["complete" if t.message.tool_calls[index].complete else "not complete" for t in (a, b)]
    raw = min([place.raw for place in places if place.raw is not None], default=None)
    offset = len(left[name].text)
    return Divergence(f"tool_calls[{index}].complete", offset, raw, places[0].step, places[1].step, words[0], words[1])


def _number(a: Trace, b: Trace, common: int, left: dict[str, Channel], right: dict[str, Channel]) -> Divergence:
    """One trace has more calls: the place is where the first surplus call has its name."""
    name = f"tool_calls[{common}].name"
    place = (left.get(name) or right[name]).place(0)
    step_a, step_b = place.step, place.step
    if place.raw is not None:
        step_a, step_b = (place.step if name in s else step_at(t, place.raw) for s, t in ((left, a), (right, b)))
    elif name in left:
        step_b = None
    else:
        step_a = None
    texts = [_list_calls(trace.message.tool_calls) for trace in (a, b)]
    return Divergence("calls", common, place.raw, step_a, step_b, texts[0], texts[1])


def _list_calls(calls: list[ToolCall]) -> str:
    if not calls:
        return "no call"
    return excerpt(f"{len(calls)} call{'s' if len(calls) > 1 else ''}: " + ", ".join([call.name for call in calls]))
