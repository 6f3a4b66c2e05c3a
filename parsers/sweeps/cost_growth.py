"""How the cost of outputs grows with their length: the power of it, by which what is quadratic is named."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from parsers.sweeps.shard import TOKEN, Cost

FASTER = 1.5  # from this power on it grows faster than the length
_FEWEST = 3  # outputs of a length, and lengths
SHORTEST = 32  # tokens: below, what is done once for each output is most of it


def growth(costs: Mapping[int, Cost]) -> float | None:
    """The power of the length that the mean cost of outputs comes nearest to: 1 for what is linear, 2 for what is
    quadratic; None where there are too few lengths to say."""
    places = [
        (log2(cost.characters / cost.outputs), log2(cost.seconds / cost.outputs))
        for cost in costs.values()
        if cost.outputs >= _FEWEST and cost.seconds > 0 and cost.characters >= SHORTEST * TOKEN * cost.outputs
    ]
    if len(places) < _FEWEST:
        return None
    across, up = [sum(values) / len(places) for values in zip(*places, strict=True)]
    wide = sum([(x - across) ** 2 for x, _ in places])
    power: float = sum([(x - across) * (y - up) for x, y in places]) / wide
    return round(power, 3)
