"""How a test of vLLM's suite feeds its samples: the chunkings that it names, and those of its harness and server.

`chunk_size`, `holdback` and `text_delay` are parameters of tests/parser/engine/test_replay.py (0.33.0), whose harness
holds back whole tokens with their ids, so that this is a matter of cuts. A test that was exported for a chunking which
the harness has not feeds `DELTAS`, and one of tool parsers the tokens in a `GROUPING`. The suite feeds every sample
with text later than its ids, too: that is tried though no test of a file names it. Text that breaks off inside a
marker, as a server sends it that waits for stop strings, is no part of the suite: `--holdback` asks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from parsers.intake.evidence import Payload
from parsers.intake.python_literals import called, constants, parametrized
from parsers.replays.chunking import DEFAULT_COMPARED, TRACED, WHOLE, Chunking
from parsers.search.sweep import LATE, cut_at, json_of

_LATER = [one for one in LATE if not one.holdback_chars]
_USUAL = (*DEFAULT_COMPARED, *[Chunking(by="token", size=size) for size in (11, 23)], *_LATER)
_HOLDBACKS = ("holdback", "holdback_chars")
_DELAYS = ("text_delay", "delay")
_RECORDED = {"by": "recorded"}
_WHOLE = {"parse_non_streaming", "extract_tool_calls"}  # what a test of an output that does not stream calls

Token = tuple[int, str]


def fed(tree: ast.Module, tokens: Sequence[Token]) -> Payload:
    """The keys of a case that say how its tokens are fed: `deltas` of its input, where those of the test are none that
    a chunking makes, and `replay`."""
    known, whole = constants(tree), "".join([text for _, text in tokens])
    deltas = _deltas(known.get("DELTAS"), whole) or _grouped(known.get("GROUPING"), tokens)
    named = _named(tree, tokens)
    if deltas is None and not named:
        return {"replay": [json_of(one) for one in dict.fromkeys((TRACED, *_USUAL))]}
    first = [_RECORDED] if deltas is not None else [json_of(one) for one in named]
    others = [json_of(one) for one in dict.fromkeys(_USUAL) if one not in named]
    return {"replay": [*first, *others], **({} if deltas is None else {"deltas": deltas})}


def _named(tree: ast.Module, tokens: Sequence[Token]) -> list[Chunking]:
    """The chunkings that the tests of a file are run with."""
    marks, found = parametrized(tree), list[Chunking]()
    sizes = [size for size in marks.get("chunk_size", ()) if size is None or _is_count(size)]
    found += [_by_tokens(size, tokens) for size in sizes]
    found += [Chunking(by="token", text_delay=one) for name in _DELAYS for one in marks.get(name, ()) if _is_count(one)]
    for held in [one for name in _HOLDBACKS for one in marks.get(name, ()) if _is_count(one)]:
        found += [cut_at(tuple(_held_back(tokens, size or len(tokens), held))) for size in sizes or [1]]
    calls = called(tree)
    if not found and calls & _WHOLE and not any(name.startswith(("replay_", "run_")) for name in calls):
        found.append(WHOLE)
    return list(dict.fromkeys(found))


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


def _deltas(given: Any, whole: str) -> list[Payload] | None:
    """Deltas of pairs of a text and ids, where they are those of the output."""
    if not isinstance(given, list) or not all(map(_is_delta, given)) or "".join([text for text, _ in given]) != whole:
        return None
    return [{"text": text, "ids": list(ids)} for text, ids in given]


def _is_delta(one: Any) -> bool:
    return isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], list)


def _grouped(given: Any, tokens: Sequence[Token]) -> list[Payload] | None:
    """Deltas of so many tokens each."""
    if not isinstance(given, list) or not all(isinstance(size, int) for size in given) or sum(given) != len(tokens):
        return None
    ends = [*accumulate(given)]
    rows = [tokens[end - size : end] for end, size in zip(ends, given, strict=True)]
    return [{"text": "".join([text for _, text in row]), "ids": [number for number, _ in row]} for row in rows]
