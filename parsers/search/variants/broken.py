"""Variants that damage the output: cut off at every character, one marker deleted or doubled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.checks.check import Variant
from parsers.replays.replay import finish_reason
from parsers.replays.replayer import Edit
from parsers.search.variants.ground import Ground
from parsers.vocabulary.types import Message

LENGTH = {"finish_reason": "length"}


def cut_offsets(ground: Ground, budget: int) -> list[int]:
    """Where the output is cut: everywhere if the characters allow, else beside markers and evenly between."""
    size = len(ground.text)
    spans = _token_spans(ground)
    most = max(8, budget * 2 // max(size, 1))
    if size <= most:
        chosen = set(range(1, size))
    else:
        chosen = set(_near_markers(ground)[: most // 2])
        chosen |= {size * part // (most // 2 + 1) for part in range(1, most // 2 + 1)}
    return sorted([cut for cut in chosen if 0 < cut < size and not any(a < cut < b for a, b in spans)])


def _near_markers(ground: Ground) -> list[int]:
    """Cuts around each marker, the nearest ones first."""
    ends = [found.end() for found in _occurrences(ground)] + [found.start() for found in _occurrences(ground)]
    return [end + away for away in (0, 1, -1, 2, -2, 3, -3) for end in ends]


def _token_spans(ground: Ground) -> list[tuple[int, int]]:
    """Where recorded markers stand that are never cut."""
    spans, at = [], 0
    for piece in ground.pieces:
        if piece.recorded and piece.kind in ("special", "added") and len(piece.text) > 1:
            spans.append((at, at + len(piece.text)))
        at += len(piece.text)
    return spans


def truncated(ground: Ground) -> Iterator[Variant]:
    """The output cut off after each character, read whole; near markers streamed as well."""
    whole, streamed = ground.chunkings
    size = len(ground.text)
    few = set(cut_offsets(ground, ground.bounds.streamed))
    for cut in cut_offsets(ground, ground.bounds.cut):
        ways = (whole, streamed) if cut in few else (whole,)
        label = f"cut off after character {cut}"
        for one in ground.run("truncated", label, edits=((cut, size, ""),), context=LENGTH, chunkings=ways):
            one.facts = {**one.facts, "cut": cut, **_record(one.message)}
            yield one


def _record(message: Message) -> dict[str, object]:
    """What is left of a cut output, in numbers."""
    return {
        "calls": len(message.tool_calls),
        "complete": sum([call.complete for call in message.tool_calls]),
        "finish": finish_reason(message, "length"),
        "content": len(message.content or ""),
        "reasoning": len(message.reasoning or ""),
    }


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
    """Every marker in the output, the longest where several begin."""
    texts = sorted(ground.markers, key=len, reverse=True)
    return list(re.finditer("|".join([re.escape(text) for text in texts]), ground.text)) if texts else []


def mutated(ground: Ground) -> Iterator[Variant]:
    """The output with one marker deleted or doubled."""
    for label, edit in mutations(ground):
        yield from ground.run("mutated", label, edits=(edit,))
