"""What single keys of a contract let a parser make of the text of an output: reasoning, content, and markup in them.

White space is only ever that which stands in the output: what the right reading leaves out may be shown, what it shows
may be stripped, and nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

from parsers.compare.call_rules import Pair, Readings
from parsers.compare.right_reading import Said, Stretch, groups

_ORPHAN = "orphan_reasoning_end"


def reasoning_calls(pair: Pair) -> Readings:
    """Calls from one on that began inside reasoning are part of that, up to the marker that ends it or to the end."""
    first = next((place.start for place, _ in pair.said.calls if place.in_reasoning), None)
    if first is None:
        return
    size = len(pair.text)
    ends = [(start, end) for code, start, end in pair.reading.said if code == _ORPHAN and start > first]
    stop, behind = ends[0] if ends else (size, size)
    calls = tuple([one for one in pair.said.calls if one[0].start < first or one[0].start >= behind])
    content = tuple([part for part in pair.said.content if part.start < first or part.start >= behind])
    yield Said(pair.said.reasoning + pair.text[pair.reading.reasoned : stop], content, calls)


def stray_reasoning_end(pair: Pair) -> Readings:
    """A closing marker of reasoning that is not open is content, or all content before it is reasoning."""
    said, ends = pair.said, [(start, end) for code, start, end in pair.reading.said if code == _ORPHAN]
    if "text" in pair.values and ends:
        yield replace(said, content=_with(said.content, [Stretch(pair.text[one:end], one, end) for one, end in ends]))
    start = ends[0][0] if ends else 0
    if "reasoning" in pair.values and ends and not said.reasoning and all(one.start > start for one, _ in said.calls):
        before = [part for part in said.content if part.start < start]
        behind = tuple([part for part in said.content if part.start >= start])
        yield Said("".join([part.text for part in before]), behind, said.calls)


def rejected_call(pair: Pair) -> Readings:
    """Markup that begins a call and is none is dropped, alone or with all up to the next marker; or it is content where
    the right reading drops it."""
    said, reading = pair.said, pair.reading
    spans = [(start, end) for code, start, end in reading.said if code == "rejected_call" and start < end]
    if spans:
        starts = [*[start for start, _ in reading.markers], len(pair.text)]
        rests = [(start, starts[bisect_left(starts, end)]) for start, end in spans]
        for cuts in (spans, rests):
            yield replace(said, content=tuple(_cut_out(said.content, cuts)))
    lost = [(start, end) for start, end, reason in reading.dropped if reason.policy == "rejected_call"]
    if lost:
        yield replace(said, content=_with(said.content, [Stretch(pair.text[one:end], one, end) for one, end in lost]))


def _with(content: Sequence[Stretch], texts: Sequence[Stretch]) -> tuple[Stretch, ...]:
    return tuple(sorted([*content, *texts], key=lambda part: part.start))


def _cut_out(content: Sequence[Stretch], cuts: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    """The content without what stands in some spans of the output, which are in order."""
    number = 0
    for part in content:
        at = part.start
        copied = part.end - part.start == len(part.text)
        while copied and number < len(cuts) and cuts[number][0] < part.end:
            start, end = cuts[number]
            if start > at:
                yield _piece(part, at, start)
            at = max(at, min(end, part.end))
            if end > part.end:
                break
            number += 1
        if at < part.end or not copied:
            yield _piece(part, at, part.end) if copied else part


def _piece(part: Stretch, start: int, end: int) -> Stretch:
    return replace(part, text=part.text[start - part.start : end - part.start], start=start, end=end)


def reasoning_start(pair: Pair) -> Readings:
    """White space at the start of reasoning: as it stands in the output, or stripped."""
    said, blanks = pair.said.reasoning, takewhile(_is_hidden, pair.reading.reasoning)
    for reasoning in (said.lstrip(), "".join([part.text for part in blanks]) + said):
        yield replace(pair.said, reasoning=reasoning)


def reasoning_tail(pair: Pair) -> Readings:
    """White space at the end of reasoning: as it stands in the output, or stripped."""
    said, blanks = pair.said.reasoning, takewhile(_is_hidden, reversed(pair.reading.reasoning))
    for reasoning in (said.rstrip(), said + "".join([part.text for part in blanks][::-1])):
        yield replace(pair.said, reasoning=reasoning)


def reasoning_alone(pair: Pair) -> Readings:
    """Reasoning of an output without anything else is the content."""
    said = pair.said
    if said.reasoning and not (said.calls or said.text):
        yield Said("", (Stretch(said.reasoning, 0, pair.reading.reasoned),), ())


def content_start(pair: Pair) -> Readings:
    """White space at the start of content: as it stands in the output, or stripped."""
    content = pair.said.content
    lead = len(list(takewhile(_is_hidden, content)))
    yield replace(pair.said, content=(*[replace(part, shown=True) for part in content[:lead]], *content[lead:]))
    yield replace(pair.said, content=(Stretch(pair.said.text.lstrip(), 0, len(pair.text)),))


def _is_hidden(part: Stretch) -> bool:
    return not part.shown


def around_calls(which: slice, sides: Sequence[Callable[[str], str]], pair: Pair) -> Readings:
    """The text at one place beside calls, in every gap there alike: kept with its white space, without it where that is
    all, stripped (`sides`: at the calls, or at both ends), or left out."""
    if not pair.said.calls:
        return
    parts = groups(pair.said)
    chosen = {id(group) for group in parts[which]}
    ways: dict[str, Sequence[Callable[[str], str]]] = {
        "keep": (str,),
        "drop_blank": (_not_blank,),
        "strip": (*sides, str.strip),
        "drop": (_nothing,),
    }
    for way in [way for value in pair.values for way in ways[value]]:
        made = [_rewritten(group, way) if id(group) in chosen else group for group in parts]
        yield replace(pair.said, content=tuple([part for group in made for part in group]))


def _rewritten(group: Sequence[Stretch], way: Callable[[str], str]) -> list[Stretch]:
    text = way("".join([part.text for part in group]))
    return [Stretch(text, group[0].start, group[-1].end)] if text else []


def _not_blank(text: str) -> str:
    return text if text.strip() else ""


def _nothing(_: str) -> str:
    return ""


content_before_calls = partial(around_calls, slice(0, 1), (str.rstrip,))
content_between_calls = partial(around_calls, slice(1, -1), ())
content_after_calls = partial(around_calls, slice(-1, None), (str.lstrip,))
