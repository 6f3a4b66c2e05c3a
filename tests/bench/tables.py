"""Figures as the cells of tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isnan
from statistics import median
from typing import TypeVar

from tests.bench.document import NOTHING
from tests.bench.engine import Figures
from tests.bench.load import Health, Throughput
from tests.bench.outputs import MIDDLE, SMALL, Kind
from tests.bench.page import Page
from tests.bench.peer_worker import HANGS
from tests.bench.peers import Beside, Peer
from tests.bench.people import CORES, EVERY, PEOPLE, Visits
from tests.bench.searching import Seconds

MODES = ("text", "ids")
Rows = list[list[str]]
Key = TypeVar("Key", str, tuple[str, str], tuple[int, int, int], tuple[str, int, int])
One = TypeVar("One")


def peers(found: Sequence[Peer]) -> str:
    """The peers of a run and their versions."""
    return ", ".join([f"{peer.engine.title} {peer.version}" for peer in found])


def engine(found: Iterable[Figures]) -> Rows:
    """Our figures by kind, size and mode, over all grammars."""
    by_kind = _grouped([((*_place(one.output.kind, one.output.tokens), MODES.index(one.mode)), one) for one in found])
    return [
        [
            *(list(Kind)[kind], f"{tokens:,}", MODES[mode]),
            _spread([one.fed for one in some]),
            _spread([one.replayed for one in some]),
            _spread([one.traced for one in some]),
            _spread([one.traced / one.replayed for one in some], 1),
            _spread([one.whole for one in some]),
            _spread([one.bytes_a_step for one in some], 0),
        ]
        for (kind, tokens, mode), some in by_kind
    ]


def grammars(found: Iterable[Figures]) -> Rows:
    """What a token of a small output costs in every grammar, by kind."""
    small = [one for one in found if (one.output.tokens, one.mode) == (SMALL, "text")]
    return [
        [f"`{grammar}`", *_by_kind({one.output.kind: f"{one.fed:.2f}" for one in some})]
        for grammar, some in _grouped([(one.output.grammar, one) for one in small], ordered=False)
    ]


def peer_medians(found: Iterable[Beside]) -> Rows:
    """Each peer by kind and size, over all grammars."""
    known = [one for one in found if not one.error]
    groups = _grouped([((_parser(one), *_place(one.output.kind, one.output.tokens)), one) for one in known])
    return [
        [
            *(parser, list(Kind)[kind], f"{tokens:,}"),
            f"{median([one.theirs for one in some]):.2f}",
            f"{median([one.fed for one in some]):.2f}",
            f"{median([one.theirs / one.fed for one in some]):.1f}",
            f"{median([one.replayed for one in some]):.2f}",
            f"{median([one.theirs / one.replayed for one in some]):.1f}",
            f"{min([one.theirs / one.fed for one in some]):.1f}",
            f"{max([one.theirs / one.fed for one in some]):.1f}",
        ]
        for (parser, kind, tokens), some in groups
    ]


def peer_grammars(found: Sequence[Beside]) -> Rows:
    """Each peer by grammar, at one size: how many times as long a token takes, by kind."""
    size = max([one.output.tokens for one in found if one.output.tokens <= MIDDLE], default=SMALL)
    named = [((_parser(one), one.output.grammar), one) for one in found if one.output.tokens == size]
    return [
        [parser, f"`{grammar}`", *_by_kind({one.output.kind: _times(one) for one in some})]
        for (parser, grammar), some in _grouped(named)
    ]


def searches(found: Iterable[Seconds]) -> Rows:
    """Searches by grammar."""
    return [
        [
            *(f"`{one.grammar}`", f"{one.characters:,}", f"{one.halves:.2f}", f"{one.sweep:.2f}"),
            *([NOTHING] * 2 if one.only_sweep else [f"{one.changed:.2f}", f"{one.all:.2f}"]),
        ]
        for one in found
    ]


def costs(page: Page) -> Rows:
    """What answers about a long output cost."""
    return [[one.what, f"{one.seconds:.3f}", f"{one.sent / 1000:.0f}"] for one in page.costs]


def memory(page: Page) -> Rows:
    """What long outputs take."""
    return [[str(one.runs), f"{one.counted / 1e6:.0f}", f"{one.grown / 1e6:.0f}"] for one in page.memory]


def throughput(found: Sequence[Throughput]) -> Rows:
    """Replays a second, and how many times those of the first row."""
    return [[str(one.processes), f"{one.replays:.1f}", f"{one.replays / found[0].replays:.2f}"] for one in found]


def health(found: Iterable[Health]) -> Rows:
    """How long /healthz took."""
    return [
        [
            one.beside,
            *[f"{1000 * seconds:.1f}" for seconds in (one.p50, one.p95, one.worst)],
            ", ".join([f"{count} × {said}" for said, count in one.statuses.items()]) or NOTHING,
        ]
        for one in found
    ]


def people(one: Visits) -> Rows:
    """What a visit costs, and how many cores are at work with many visitors."""
    often = PEOPLE / EVERY
    return [
        ["all processes", f"{one.everywhere:.3f}", f"{often * one.everywhere:.2f}", str(CORES)],
        ["the one that forwards", f"{one.forwarding:.4f}", f"{often * one.forwarding:.2f}", "1"],
    ]


def _place(kind: Kind, tokens: int) -> tuple[int, int]:
    """What outputs are sorted by."""
    return list(Kind).index(kind), tokens


def _grouped(named: Iterable[tuple[Key, One]], *, ordered: bool = True) -> list[tuple[Key, list[One]]]:
    """What has the same key, by key."""
    groups: defaultdict[Key, list[One]] = defaultdict(list)
    for key, one in named:
        groups[key].append(one)
    return [(key, groups[key]) for key in (sorted(groups) if ordered else groups)]


def _spread(values: Iterable[float], digits: int = 2) -> str:
    """The median of what is known, and the most."""
    known = [value for value in values if not isnan(value)]
    if not known:
        return NOTHING
    return f"{median(known):.{digits}f}" + f" / {max(known):.{digits}f}" * (len(known) > 1)


def _by_kind(cells: dict[Kind, str]) -> list[str]:
    return [cells.get(kind, NOTHING) for kind in Kind]


def _parser(one: Beside) -> str:
    return f"{one.engine.title}, {one.design}" if one.design else one.engine.title


def _times(one: Beside) -> str:
    if one.error:
        return HANGS if one.error == HANGS else "raises"
    return f"{'> ' * one.cut}{one.theirs / one.fed:.1f}{' !' * one.wrong}"
