"""What the checks look at, from a replayer and its replays."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.checks import Subject
from parsers.chunking import TRACED, apply
from parsers.replay import parse
from parsers.replayer import Replayer
from parsers.search.compared import Compared
from parsers.trace import Trace

COUNTED_CHARACTERS = 20_000  # beyond this the linear_time check would cost two more replays of a long output


def subject_of(replayer: Replayer, trace: Trace, whole: Trace, others: Sequence[Compared]) -> Subject:
    """What the checks look at."""
    return Subject(
        trace,
        replayer.context,
        whole,
        [(other.label, other.trace) for other in others],
        replayer.terminals,
        replayer.longest_terminal,
        frozenset(piece.text for piece in replayer.pieces if piece.kind == "special"),
        replayer.black_box,
        _counters(replayer),
    )


def _counters(replayer: Replayer) -> tuple[int, int] | None:
    """Characters examined for the output, and for the output twice over. Not counted for long outputs."""
    if sum(len(piece.text) for piece in replayer.pieces) > COUNTED_CHARACTERS:
        return None
    return _examined(replayer, 1), _examined(replayer, 2)


def _examined(replayer: Replayer, times: int) -> int:
    parser = replayer.make()
    deltas = apply(TRACED, replayer.pieces * times, replayer.mode)
    try:
        parse(parser, deltas, replayer.context, mode=replayer.mode, markers=replayer.markers)
    except Exception:  # parser_raised tells of it; nothing can be said of its costs
        return 0
    return parser.examined
