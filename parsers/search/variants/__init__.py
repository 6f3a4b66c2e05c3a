"""Variants for metamorphic tests: replays of what an output, a request or a parser could just as well have been.

They are made lazily, kind by kind, the cheap ones first. Each carries its proof: the edits and the keys of the request
that make it, and the chunking. Nothing here says what is right; `parsers.checks` reads the variants and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from parsers.checks import Check
from parsers.checks.subject import Variant, VariantKind
from parsers.replays.replayer import Replayer
from parsers.search.found import Sample
from parsers.search.variants.changed_outputs import cut_offsets, followed, mutated, mutations, neighbour, truncated
from parsers.search.variants.changed_requests import no_calls, no_tools, rerendered, reused, start_state
from parsers.search.variants.ground import BOUNDS, UNCOUNTED, Bounds, CountLines, Ground, Meters
from parsers.search.variants.planted import SIZES, escaped, padded, plants
from parsers.vocabulary.trace import Trace

__all__ = ["BOUNDS", "KINDS", "Bounds", "CountLines", "Meters", "needed", "total", "variants"]

FEW = Bounds(cut=4_000, streamed=400, mutants=4, every=False)

KINDS: Mapping[VariantKind, Callable[[Ground], Iterator[Variant]]] = {
    "no_tools": no_tools,
    "no_calls": no_calls,
    "start_state": start_state,
    "reused": reused,
    "rerendered": rerendered,
    "neighbour": neighbour,
    "followed": followed,
    "mutated": mutated,
    "escaped": escaped,
    "truncated": truncated,
    "padded": padded,
}


def variants(
    replayer: Replayer,
    trace: Trace,
    *,
    seed: int = 0,
    meters: Meters = UNCOUNTED,
    bounds: Bounds = BOUNDS,
    kinds: Collection[str] | None = None,
    samples: list[Sample] | None = None,
) -> Iterator[Variant]:
    """Every variant of an output (those of `kinds`), of which `trace` is a replay; none where the parser fails on it.

    The same output has the same variants: `seed` is taken so that every part of a search has one. `meters` tell what
    they do beside what they count. To `samples` is added of which not all were tried.
    """
    ground = Ground(replayer, trace, meters, bounds, [] if samples is None else samples)
    if trace.failure is not None:
        return
    for kind, make in KINDS.items():
        if kinds is None or kind in kinds:
            yield from make(ground)


def total(replayer: Replayer, trace: Trace, bounds: Bounds = BOUNDS) -> int:
    """About how many replays `variants` makes."""
    ground = Ground(replayer, trace, bounds=bounds)
    cuts = len(cut_offsets(ground, bounds.cut)) + len(cut_offsets(ground, bounds.streamed))
    return cuts + 6 * len(mutations(ground)) + 2 * len(plants(ground)) + 2 * len(SIZES) + 20


def needed(check: Check, replayer: Replayer, trace: Trace) -> tuple[Variant, ...]:
    """A few variants of the kinds that a check asks for, to see whether a smaller output still shows a finding."""
    kinds = [need.kind for need in check.needs if need.kind is not None]
    return tuple(variants(replayer, trace, bounds=FEW, kinds=kinds)) if kinds else ()
