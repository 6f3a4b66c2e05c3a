"""Questions about reasoning that a server asks of token ids: has it ended, which ids are content, how many it took.

A format's openers are the terminals that lead from ordinary text into reasoning, its closers those that end it. Ids
come from a vocabulary of markers. (The questions are those of vLLM 0.33's ParserEngine; the answers to the last one
differ where a prompt opened the reasoning, see `count_reasoning_tokens`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from parsers.formats.model import Format
from parsers.vocabulary.events import ReasoningText
from parsers.vocabulary.trace import Trace


@dataclass(frozen=True, slots=True)
class _ReasoningMarkers:
    """The texts that open and close reasoning in a format."""

    openers: tuple[str, ...]
    closers: tuple[str, ...]

    def ids(self, vocabulary: Mapping[str, int]) -> tuple[frozenset[int], frozenset[int]]:
        """The ids of openers and closers that are single tokens."""
        return (
            frozenset(vocabulary[text] for text in self.openers if text in vocabulary),
            frozenset(vocabulary[text] for text in self.closers if text in vocabulary),
        )


def reasoning_markers(fmt: Format) -> _ReasoningMarkers:
    """The reasoning markers of a format, in the order of its rows."""
    openers: dict[str, None] = {}
    closers: dict[str, None] = {}
    for state in fmt.states.values():
        for row in state.rows:
            target = fmt.states.get(row.to)
            if row.on not in fmt.terminals or target is None or "CallStart" in row.emit:
                continue
            if state.text == "content" and target.text == "reasoning":
                openers[fmt.terminals[row.on]] = None
            elif state.text == "reasoning" and "ReasoningEnd" in row.emit and target.text == "content":
                closers[fmt.terminals[row.on]] = None
    return _ReasoningMarkers(tuple(openers), tuple(closers))


def reasoning_headers(fmt: Format) -> tuple[str, ...]:
    """The literals that lead into reasoning wherever they stand outside of it, such as the header of a message."""
    leads: dict[str, set[bool]] = {}
    for state in fmt.states.values():
        for row in state.rows if state.text != "reasoning" else ():
            if row.on in fmt.terminals:
                leads.setdefault(row.on, set()).add((fmt.states.get(row.to) or state).text == "reasoning")
    return tuple([fmt.terminals[on] for on, found in leads.items() if found == {True}])


def prompt_opens(fmt: Format, tail: str | None) -> bool:
    """Return whether the end of a prompt leaves reasoning open: its last reasoning marker is an opener."""
    if not tail:
        return False
    markers = reasoning_markers(fmt)
    last = max([tail.rfind(text) for text in markers.openers], default=-1)
    return last > max([tail.rfind(text) for text in markers.closers], default=-1)


def is_reasoning_end(fmt: Format, ids: Sequence[int], vocabulary: Mapping[str, int], *, opened: bool = False) -> bool:
    """Return whether reasoning is over after these ids. `opened`: the prompt began it.

    The last reasoning marker among the ids decides. Without one, or where no closer is a token, it has ended only if
    it never began: nothing but `opened` can say that.
    """
    openers, closers = reasoning_markers(fmt).ids(vocabulary)
    for token_id in reversed(ids):
        if token_id in closers:
            return True
        if token_id in openers:
            return False
    return not opened and not ids


def content_ids(fmt: Format, ids: Sequence[int], vocabulary: Mapping[str, int]) -> list[int]:
    """The ids after the last closer; all of them where there is none."""
    _, closers = reasoning_markers(fmt).ids(vocabulary)
    ends = [place for place, token_id in enumerate(ids, 1) if token_id in closers]
    return list(ids[ends[-1] if ends else 0 :])


def marked_reasoning_tokens(fmt: Format, ids: Sequence[int], vocabulary: Mapping[str, int]) -> int:
    """Return how many ids stand between openers and closers, as a server counts that looks at ids alone.

    Openers nest and a closer too many is ignored. Reasoning that the prompt opened is not seen.
    """
    openers, closers = reasoning_markers(fmt).ids(vocabulary)
    depth = count = 0
    for token_id in ids:
        if token_id in openers:
            depth += 1
        elif token_id in closers:
            depth = max(0, depth - 1)
        elif depth:
            count += 1
    return count


def count_reasoning_tokens(trace: Trace) -> int:
    """Return how many deltas of a replay by token have a part in reasoning: right whoever opened it."""
    spans = [(event.start, event.end) for _, event in trace.events() if isinstance(event, ReasoningText)]
    count = place = 0
    for start, end in pairwise([0, *trace.ends]):
        while place < len(spans) and spans[place][1] <= start:
            place += 1
        overlaps = place < len(spans) and spans[place][0] < end
        count += overlaps and start < end
    return count
