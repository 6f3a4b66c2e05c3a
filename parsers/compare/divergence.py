"""Where two replays of the same output part.

The channels of two messages are compared one by one, by halving their common prefix; of all that differ, the one that
parts earliest in the output text is reported. O(n). None and "" are the same text; a parser that gives no segments
still gets steps (from its deltas), never invented offsets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from parsers.compare.argument_spelling import spelling_of
from parsers.vocabulary.channels import TEXT_PARTS, Channel
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message, ToolCall
from parsers.vocabulary.words import counted

EXCERPT = 200
_LEAD = 60

Grade = Literal["calls", "text", "key_order", "whitespace", "spelling"]
GRADES: tuple[Grade | None, ...] = ("calls", "text", "key_order", "whitespace", "spelling", None)  # the worst first
HARMFUL: tuple[Grade, ...] = ("calls", "text")  # by more than how the same is written
Key = tuple[str, str, tuple[tuple[tuple[str, str, bool, str], ...], tuple[int, ...]]]


@dataclass(slots=True, frozen=True)
class Rules:
    """Holds what counts as a difference between two messages.

    `arguments`: as text, or as JSON values where both are JSON. `whitespace`: exact, or soft (any run of it is one
    blank, and none counts at the ends) in content and reasoning. `ids`: whether the calls' ids count. `calls`: by their
    index alone, or also in the order in which they began.
    """

    arguments: Literal["text", "json"] = "text"
    whitespace: Literal["exact", "soft"] = "exact"
    ids: bool = True
    calls: Literal["order", "index"] = "order"

    def words(self) -> str:
        """Return what these rules let pass, for a sentence; "" for the exact ones."""
        loose = ["arguments compared as JSON values"] if self.arguments == "json" else []
        loose += ["whitespace compared softly"] if self.whitespace == "soft" else []
        return ", ".join([*loose, "calls compared by index"] if self.calls == "index" else loose)


EXACT = Rules()
ANY_ID = Rules(ids=False)


@dataclass(slots=True)
class Divergence:
    """The first place where two messages part.

    `offset` counts in that channel, `raw` in the output text (None where nobody knows); `expected` and `actual` are the
    texts around it in the first and the second trace.
    """

    channel: Channel
    offset: int
    raw: int | None
    step_a: int | None
    step_b: int | None
    expected: str
    actual: str


def same_message(a: Message, b: Message, rules: Rules = EXACT) -> bool:
    """Return whether two messages say the same: content, reasoning and calls."""
    return message_key(a, rules) == message_key(b, rules)


def message_key(message: Message, rules: Rules = EXACT) -> Key:
    """A hashable value that is equal for messages that say the same."""
    ids, as_json = rules.ids, rules.arguments == "json"
    calls = [
        (c.name, as_json_value(c.arguments) if as_json else c.arguments, c.complete, (c.id or "") if ids else "")
        for c in message.tool_calls
    ]
    content, reasoning = message.content or "", message.reasoning or ""
    if rules.whitespace == "soft":
        content, reasoning = " ".join(content.split()), " ".join(reasoning.split())
    return content, reasoning, (tuple(calls), message.order if rules.calls == "order" else ())


def as_json_value(text: str) -> str:
    """A text in the one spelling that its JSON value has; itself where it is no JSON."""
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def grade(a: Message, b: Message, rules: Rules = EXACT) -> Grade | None:
    """Return how badly two messages differ: in their calls, in their text, in the order of keys in arguments, or only
    in whitespace of the text, or in how the same arguments are written."""
    one, other = message_key(a, rules), message_key(b, rules)
    if one == other:
        return None
    spelled = None if one[2] == other[2] else _spelled(a, b, rules)
    if spelled == "calls":
        return spelled
    pairs = ((a.content, b.content), (a.reasoning, b.reasoning))
    if any(_squeezed(x) != _squeezed(y) for x, y in pairs):
        return "text"
    return "whitespace" if spelled != "key_order" and one[:2] != other[:2] else spelled


def _spelled(a: Message, b: Message, rules: Rules) -> Grade:
    """How badly calls differ that do: not in their values, maybe."""
    loose = by_value(rules)
    if message_key(a, loose)[2] != message_key(b, loose)[2]:
        return "calls"
    pairs = [(x.arguments, y.arguments) for x, y in zip(a.tool_calls, b.tool_calls, strict=True)]
    reordered = any(x != y and spelling_of(x, y) == "key_order" for x, y in pairs)
    return "key_order" if reordered else "spelling"


def by_value(rules: Rules) -> Rules:
    """The same rules, where it does not count how the same arguments are written."""
    return replace(rules, arguments="json")


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


def text_parting(a: str, b: str) -> tuple[int, str, str]:
    """Where two texts part, and what each has between what both begin and end with."""
    at = shared_prefix(a, b)
    back = shared_prefix(a[at:][::-1], b[at:][::-1])
    return at, a[at : len(a) - back], b[at : len(b) - back]


def divergence(a: Trace, b: Trace, rules: Rules = EXACT) -> Divergence | None:
    """The first place where the messages (then the finish reasons) of two traces part, or None. O(n)."""
    if not same_message(a.message, b.message, rules):
        return min(partings(a, b, rules), key=lambda parting: len(a.text) + 1 if parting.raw is None else parting.raw)
    if a.finish_reason == b.finish_reason:
        return None
    last_a, last_b = (trace.steps[-1].index if trace.steps else None for trace in (a, b))
    return Divergence(Channel(None, "finish_reason"), 0, None, last_a, last_b, a.finish_reason, b.finish_reason)


def partings(a: Trace, b: Trace, rules: Rules = EXACT) -> list[Divergence]:
    """Return where two messages that are not the same part: the first place of each channel. O(n)."""
    left, right = a.channels, b.channels
    found = [
        _parting(a, b, channel)
        for channel in left
        if channel in right and _counts(channel, left[channel].text, right[channel].text, rules)
    ]
    pairs = list(zip(a.message.tool_calls, b.message.tool_calls, strict=False))
    found += [_ending(a, b, index) for index, (x, y) in enumerate(pairs) if x.complete != y.complete]
    if len(a.message.tool_calls) != len(b.message.tool_calls):
        found.append(_number(a, b, len(pairs)))
    return found or [_order(a, b)]


def _counts(channel: Channel, a: str, b: str, rules: Rules) -> bool:
    if a == b or (channel.part == "id" and not rules.ids):
        return False
    if channel.part == "arguments" and rules.arguments == "json":
        return as_json_value(a) != as_json_value(b)
    return rules.whitespace == "exact" or channel.part not in TEXT_PARTS or a.split() != b.split()


def _parting(a: Trace, b: Trace, channel: Channel) -> Divergence:
    left, right = a.channels[channel], b.channels[channel]
    offset = shared_prefix(left.text, right.text)
    here, there = left.place(offset), right.place(offset)
    ends = (offset == len(left.text), offset == len(right.text))
    raw = _first([place.raw for place, ended in zip((here, there), ends, strict=True) if not ended])
    if raw is not None:
        here.step = a.step_at(raw) if ends[0] else here.step
        there.step = b.step_at(raw) if ends[1] else there.step
    texts = excerpt(left.text, offset), excerpt(right.text, offset)
    return Divergence(channel, offset, raw, here.step, there.step, *texts)


def _ending(a: Trace, b: Trace, index: int) -> Divergence:
    texts = [trace.channels[Channel(index, "arguments")] for trace in (a, b)]
    words = ["complete" if trace.message.tool_calls[index].complete else "not complete" for trace in (a, b)]
    places = [text.place(len(text.text)) for text in texts]
    return _meeting(Channel(index, "complete"), len(texts[0].text), places, words)


def _number(a: Trace, b: Trace, common: int) -> Divergence:
    """One trace has more calls: the place is where the first surplus call has its name."""
    name = Channel(common, "name")
    place = (a if name in a.channels else b).channels[name].place(0)
    steps = [place.step, place.step]
    for side, trace in enumerate((a, b)):
        if name not in trace.channels:
            steps[side] = None if place.raw is None else trace.step_at(place.raw)
    texts = [_names(trace.message.tool_calls) for trace in (a, b)]
    return Divergence(Channel(None, "calls"), common, place.raw, steps[0], steps[1], *texts)


def _order(a: Trace, b: Trace) -> Divergence:
    """The same calls, begun in another order: the place is where the first of them begins that is not due."""
    orders = [t.message.order or tuple(range(len(t.message.tool_calls))) for t in (a, b)]
    at = next(i for i, (x, y) in enumerate(zip(*orders, strict=True)) if x != y)
    places = [t.channels[Channel(o[at], "name")].place(0) for t, o in zip((a, b), orders, strict=True)]
    texts = [_names([t.message.tool_calls[i] for i in o]) for t, o in zip((a, b), orders, strict=True)]
    return _meeting(Channel(None, "calls"), at, places, texts)


def _meeting(channel: Channel, offset: int, places: list[Place], texts: list[str]) -> Divergence:
    here, there = places
    return Divergence(channel, offset, _first([here.raw, there.raw]), here.step, there.step, *texts)


def _first(offsets: list[int | None]) -> int | None:
    return min([offset for offset in offsets if offset is not None], default=None)


def _names(calls: list[ToolCall]) -> str:
    if not calls:
        return "no call"
    return excerpt(f"{counted(len(calls), 'call')}: " + ", ".join([call.name for call in calls]))
