"""How a test of vLLM's suite feeds its samples: the chunkings that it names, and those of its harness and server.

`chunk_size`, `holdback` and `text_delay` are parameters of tests/parser/engine/test_replay.py (0.33.0), whose harness
holds back whole tokens with their ids, so that this is a matter of cuts. A test that was exported for a chunking which
the harness has not feeds `DELTAS`, and one of tool parsers the tokens in a `GROUPING`. The suite feeds every sample
with text later than its ids, too: that is tried though no test of a file names it. Text that breaks off inside a
marker, as a server sends it that waits for stop strings, is no part of the suite: `--holdback` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from parsers.intake.evidence import Payload
from parsers.intake.python_literals import Literals
from parsers.replays.chunking import DEFAULT_COMPARED, TRACED, WHOLE, Chunking
from parsers.search.sweep import LATE, cut_at, json_of

_LATER = [one for one in LATE if not one.holdback_chars]
_USUAL = (*DEFAULT_COMPARED, *[Chunking(by="token", size=size) for size in (11, 23)], *_LATER)
_HOLDBACKS = ("holdback", "holdback_chars")
_DELAYS = ("text_delay", "delay")
_RECORDED = {"by": "recorded"}
_WHOLE = {"parse_non_streaming", "extract_tool_calls"}  # what a test of an output that does not stream calls

Token = tuple[int, str]


class Feeding:
    """How the tests of a file feed their samples. What the file says of it is the same for all of them, and is looked
    at once."""

    def __init__(self, literals: Literals) -> None:
        known, marks = literals.constants, literals.parametrized
        self._deltas, self._grouping = _deltas(known.get("DELTAS")), _grouping(known.get("GROUPING"))
        self._sizes = [size for size in marks.get("chunk_size", ()) if size is None or _is_count(size)]
        self._delays = [one for name in _DELAYS for one in marks.get(name, ()) if _is_count(one)]
        self._held = [one for name in _HOLDBACKS for one in marks.get(name, ()) if _is_count(one)]
        steps = any(name.startswith(("replay_", "run_")) for name in literals.called)
        self._whole = bool(literals.called & _WHOLE) and not steps

    def of(self, tokens: Sequence[Token]) -> Payload:
        """The keys of a case that say how its tokens are fed: `deltas` of its input, where those of the test are none
        that a chunking makes, and `replay`."""
        deltas = self._deltas_of(tokens)
        named = self._named(tokens)
        if deltas is None and not named:
            return {"replay": [json_of(one) for one in dict.fromkeys((TRACED, *_USUAL))]}
        first = [_RECORDED] if deltas is not None else [json_of(one) for one in named]
        others = [json_of(one) for one in dict.fromkeys(_USUAL) if one not in named]
        return {"replay": [*first, *others], **({} if deltas is None else {"deltas": deltas})}

    def _named(self, tokens: Sequence[Token]) -> list[Chunking]:
        """The chunkings that the tests are run with."""
        found = [_by_tokens(size, tokens) for size in self._sizes]
        found += [Chunking(by="token", text_delay=one) for one in self._delays]
        for held in self._held:
            found += [cut_at(tuple(_held_back(tokens, size or len(tokens), held))) for size in self._sizes or [1]]
        if not found and self._whole:
            found.append(WHOLE)
        return list(dict.fromkeys(found))

    def _deltas_of(self, tokens: Sequence[Token]) -> list[Payload] | None:
        """The deltas that the file has, where they are those of an output."""
        whole, deltas = self._deltas
        if deltas and whole == "".join([text for _, text in tokens]):
            return [{"text": text, "ids": list(ids)} for text, ids in deltas]
        count, grouping = self._grouping
        return _grouped(grouping, tokens) if grouping is not None and count == len(tokens) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _by_tokens(size: int | None, tokens: Sequence[Token]) -> Chunking:
    return cut_at(()) if size is None or size >= len(tokens) else Chunking(by="token", size=size)


def _held_back(tokens: Sequence[Token], size: int, held: int) -> Iterator[int]:
    """Where deltas meet of which each lacks its last tokens, as many as have so many characters."""
    ends, sent = [0, *accumulate([len(text) for _, text in tokens])], 0
    for batch in range(size, len(tokens), size):
        end = batch
        while end > sent and ends[batch] - ends[end] < held:
            end -= 1
        if end > sent:
            yield ends[end]
            sent = end


def _deltas(given: Any) -> tuple[str, list[tuple[str, list[int]]]]:
    """Deltas of pairs of a text and ids, and their text; none where they are something else."""
    if not isinstance(given, list) or not all(map(_is_delta, given)):
        return "", []
    return "".join([text for text, _ in given]), given


def _is_delta(one: Any) -> bool:
    return isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], list)


def _grouping(given: Any) -> tuple[int, list[int] | None]:
    """How many tokens each delta has, and all of them; None where that is something else."""
    if not isinstance(given, list) or not all(isinstance(size, int) for size in given):
        return 0, None
    return sum(given), given


def _grouped(given: Sequence[int], tokens: Sequence[Token]) -> list[Payload]:
    """Deltas of so many tokens each."""
    ends = [*accumulate(given)]
    rows = [tokens[end - size : end] for end, size in zip(ends, given, strict=True)]
    return [{"text": "".join([text for _, text in row]), "ids": [number for number, _ in row]} for row in rows]
