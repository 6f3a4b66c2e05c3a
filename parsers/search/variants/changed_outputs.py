"""Variants of the whole output: cut off at every character, one marker deleted or doubled, prose or a call beside it.

Where something beside the output must change nothing is decided by the format's own reading: prose comes before only
where the format is still at its beginning after it (before guided JSON never), and something follows only where it is
at rest outside any value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.checks.check import any_of
from parsers.checks.subject import Variant
from parsers.replays.chunking import Chunking
from parsers.replays.edits import Edit, edited
from parsers.replays.replayer import Outcome
from parsers.replays.resumed import Resumed
from parsers.search.found import Sample
from parsers.search.sweep import marker_spans
from parsers.search.variants.ground import Ground, before_end, stands_open
from parsers.vocabulary.events import CallEnd, CallName, Marker
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message, Piece, ToolCall
from parsers.vocabulary.words import listed

LENGTH = {"finish_reason": "length"}
BEFORE = "Let me look.\n\n"
AFTER = "\n\nThat is all."
GAP = "\n"
STOPPED = {"finish_reason": "stop"}
CANDIDATES = 12
AT_ONCE = 64  # cuts that are looked at before the budget is


def cut_offsets(ground: Ground, budget: int) -> list[int]:
    """Return where the output is cut: everywhere if the characters allow, else beside markers and evenly between."""
    size = len(ground.text)
    most = max(8, budget * 2 // max(size, 1))
    if size <= most:
        chosen = set(range(1, size))
    else:
        ends = [found.end() for found in _occurrences(ground)] + [found.start() for found in _occurrences(ground)]
        near = [end + away for away in (0, 1, -1, 2, -2, 3, -3) for end in ends]
        chosen = set(near[: most // 2])
        chosen |= {size * part // (most // 2 + 1) for part in range(1, most // 2 + 1)}
    return sorted(chosen.intersection(_places(ground)))


def _places(ground: Ground) -> list[int]:
    """Where the output can be cut off: not inside a recorded marker."""
    solid = {cut for start, end in marker_spans(ground.pieces) for cut in range(start + 1, end)}
    return [cut for cut in range(1, len(ground.text)) if cut not in solid]


def truncated(ground: Ground) -> Iterator[Variant]:
    """The output cut off after each character, read whole; near markers streamed as well."""
    few, sample = set(cut_offsets(ground, ground.bounds.streamed)), cut_offsets(ground, ground.bounds.cut)
    resumed = Resumed(ground.unchanged.changed(context=LENGTH)) if ground.bounds.every else None
    for cut in sample:
        known = None if resumed is None else resumed.cut_off(cut)
        yield from _cut_off(ground, cut, ground.chunkings if cut in few else ground.chunkings[:1], known)
    rest = sorted({*_places(ground)}.difference(sample))
    if rest and resumed is not None:
        yield from _telling(ground, resumed, rest, len(sample))


def _cut_off(ground: Ground, cut: int, ways: Sequence[Chunking], known: Outcome | None = None) -> Iterator[Variant]:
    label, edits = f"cut off after character {cut}", ((cut, len(ground.text), ""),)
    yield from ground.run("truncated", label, edits=edits, context=LENGTH, chunkings=ways, known=known)


def _telling(ground: Ground, resumed: Resumed, cuts: Sequence[int], known: int) -> Iterator[Variant]:
    """Of the cuts that are not in the sample, of which `known` are there, those that say something, while the budget
    lasts."""
    left, tried, calls = ground.bounds.cut, 0, ground.base(ground.chunkings[0]).tool_calls
    while resumed.able and tried < len(cuts) and resumed.characters < left:
        for cut in resumed.telling(cuts[tried : tried + AT_ONCE], calls):
            left -= cut
            yield from _cut_off(ground, cut, ground.chunkings[:1])
        tried = min(tried + AT_ONCE, len(cuts))
    if tried < len(cuts):
        ground.samples.append(Sample("truncated", "cut off after a character", known + tried, known + len(cuts)))


def mutations(ground: Ground) -> list[tuple[str, Edit]]:
    """One marker deleted or doubled: the first and the last occurrence of each kind."""
    by_text: dict[str, list[re.Match[str]]] = {}
    for found in _occurrences(ground):
        by_text.setdefault(found.group(), []).append(found)
    out: list[tuple[str, Edit]] = []
    for marker, places in by_text.items():
        for found in {place.start(): place for place in (places[-1], places[0])}.values():
            at, end = found.span()
            out.append((f"without the `{marker}` at character {at}", (at, end, "")))
            out.append((f"with the `{marker}` at character {at} twice", (end, end, marker)))
    return out[: ground.bounds.mutants]


def _occurrences(ground: Ground) -> list[re.Match[str]]:
    return list(any_of(ground.markers).finditer(ground.text))


def mutated(ground: Ground) -> Iterator[Variant]:
    """The output with one marker deleted or doubled."""
    for label, edit in mutations(ground):
        yield from ground.run("mutated", label, edits=(edit,))


# Prose, or a whole call, beside the output.


@dataclass(slots=True)
class _Block:
    """Text that is one or more whole calls, and the calls that the parser reads in it when it stands alone."""

    text: str
    calls: list[ToolCall]


def _blocks(ground: Ground) -> list[_Block]:
    """Calls that could be appended: of the output itself, then of the format's example. Each is read alone first."""
    if "blocks" not in ground.memo:
        fmt, own = ground.replayer.format, ground.own
        example = None if fmt is None else ground.reference((Piece(fmt.example),), tools=())
        traces = [] if own is None or not ground.can_call else [example] if ground.guided else [own, example]
        texts = [text for trace in traces if trace is not None for text in _candidates(trace)]
        found = [_Block(text, _alone(ground, text, ground.chunkings[0])) for text in dict.fromkeys(texts)]
        ground.memo["blocks"] = [block for block in found if block.calls]
    known: list[_Block] = ground.memo["blocks"]
    return known


def _candidates(trace: Trace) -> Iterator[str]:
    """Runs of the output around whole calls without content or reasoning, from each marker they could begin with."""
    ends = {event.call for _, event in trace.events() if isinstance(event, CallEnd) and event.complete}
    names = [e.start for _, e in trace.events() if isinstance(e, CallName) and e.call in ends]
    starts = [event.start for _, event in trace.events() if isinstance(event, Marker)]
    seen: set[int] = set()
    for begin, end in _structure(trace):
        inside = [name for name in names if begin <= name < end]
        if inside and len(seen) < CANDIDATES:
            seen |= {start for start in starts if begin <= start <= inside[0]}
            yield from [trace.text[start:end].rstrip() for start in sorted(seen) if begin <= start <= inside[0]]


def _structure(trace: Trace) -> Iterator[tuple[int, int]]:
    begin = None
    for run in trace.partition:
        if run.owner in ("content", "reasoning"):
            if begin is not None:
                yield begin, run.start
            begin = None
        elif begin is None:
            begin = run.start
    if begin is not None:
        yield begin, len(trace.text)


def _alone(ground: Ground, text: str, chunking: Chunking) -> list[ToolCall]:
    """The calls in a block, if the parser and the format read it as nothing but so many whole calls. What has a marker
    in its name is no call that anybody could ask for again."""
    alone = {**STOPPED, "reasoning_open": False}
    size = len(ground.text)
    changed = ground.unchanged.changed(((0, size, text),), alone)
    trace = ground.reference(changed.pieces, **alone)
    message = changed.outcome(chunking).message
    if trace is None or not (_only_calls(trace.message) and _only_calls(message)):
        return []
    calls, marker = message.tool_calls, any_of(ground.markers)
    named = len(calls) == len(trace.message.tool_calls) and not any(marker.search(call.name) for call in calls)
    return calls if named else []


def _only_calls(message: Message) -> bool:
    blank = not (message.content or "").strip() and not message.reasoning
    return blank and bool(message.tool_calls) and all(call.complete for call in message.tool_calls)


def followed(ground: Ground) -> Iterator[Variant]:
    """A valid call appended to the output, and to the output with one marker deleted or doubled."""
    options = _blocks(ground)
    changes: list[tuple[str, tuple[Edit, ...]]] = [("", ())]
    if options:
        changes += [(f", {label}", (edit,)) for label, edit in mutations(ground)]
    for label, edits in changes:
        block = _fitting(ground, edits, options)
        if block is not None:
            yield from _followed(ground, label, edits, block)


def _followed(ground: Ground, label: str, edits: tuple[Edit, ...], block: _Block) -> Iterator[Variant]:
    """The calls of the block are compared with those that the same chunking gives of it alone."""
    before = ground.unchanged.changed(edits, STOPPED)
    for chunking in ground.chunkings:
        calls = [(call.name, call.arguments) for call in _alone(ground, block.text, chunking)]
        if calls:
            given = [(call.name, call.arguments) for call in before.outcome(chunking).message.tool_calls]
            facts = {"expected": calls, "given": given, "changed": bool(edits), "bare": ground.bare}
            names = listed([f"a call to {name}" for name, _ in calls])
            words = f"with {names} appended{label}"
            whole = _appended(edits, len(ground.text), GAP + block.text)
            yield from ground.run("followed", words, edits=whole, context=STOPPED, facts=facts, chunkings=(chunking,))


def _appended(edits: tuple[Edit, ...], size: int, text: str) -> tuple[Edit, ...]:
    if edits and edits[-1][1] == size:
        start, end, before = edits[-1]
        return (*edits[:-1], (start, end, before + text))
    return (*edits, (size, size, text))


def _fitting(ground: Ground, edits: tuple[Edit, ...], options: list[_Block]) -> _Block | None:
    """The first block that the format is ready for after a changed output."""
    if not options:
        return None
    changed = edited(ground.pieces, edits, ground.replayer.markers)
    trace = ground.reference((*changed, Piece(GAP)))
    if trace is None or not _at_rest(ground, trace):
        return None
    terminals = {} if ground.replayer.format is None else ground.replayer.format.terminals
    openers = tuple([terminals[name] for name in before_end(trace).accepts if name in terminals])
    return next((block for block in options if block.text.startswith(openers)), None)


def _at_rest(ground: Ground, trace: Trace) -> bool:
    fmt = ground.replayer.format
    state = fmt.states.get(before_end(trace).state) if fmt is not None else None
    return state is not None and state.text not in ("reasoning", "marker") and not stands_open(trace)


def neighbour(ground: Ground) -> Iterator[Variant]:
    """Prose before the output, prose after it, and another call after it."""
    if not any(call.complete for call in ground.base(ground.chunkings[0]).tool_calls):
        return
    size = len(ground.text)
    if not ground.guided and _begins_anew(ground):
        yield from _beside(ground, "with prose before the output", (0, 0, BEFORE), {})
    if ground.own is not None and _at_rest(ground, ground.own):
        yield from _beside(ground, "with prose after the output", (size, size, AFTER), STOPPED)
    block = _fitting(ground, (), _blocks(ground))
    if block is not None:
        words = f"with a call to {block.calls[-1].name} after the output"
        yield from _beside(ground, words, (size, size, GAP + block.text), STOPPED)


def _beside(ground: Ground, label: str, edit: Edit, context: dict[str, Any]) -> Iterator[Variant]:
    facts: dict[str, Any] = {"bare": ground.bare}
    if edit[2] in (BEFORE, AFTER):
        facts |= {"prose": edit[2].strip(), "kept": _is_kept(ground, edit, context)}
    yield from ground.run("neighbour", label, edits=(edit,), context=context, facts=facts)


def _is_kept(ground: Ground, edit: Edit, context: dict[str, Any]) -> bool:
    """Return whether the format makes content of the prose, where the parser shows its deltas only; else nobody
    asks."""
    if not ground.replayer.black_box:
        return False
    trace = ground.reference(edited(ground.pieces, (edit,), ground.replayer.markers), **context)
    return trace is not None and edit[2].strip() in (trace.message.content or "")


def _begins_anew(ground: Ground) -> bool:
    start = ground.reference(())
    after = ground.reference((Piece(BEFORE),))
    if start is None or after is None or stands_open(after):
        return False
    first, then = before_end(start), before_end(after)
    return first.state == then.state and set(first.accepts) == set(then.accepts)
