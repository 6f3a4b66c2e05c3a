"""What the checks look at, from a replayer and its replays."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.checks import Subject
from parsers.checks.check import Variant
from parsers.checks.running import GROWTH
from parsers.compare.divergence import EXACT, Rules, same_message
from parsers.machine.reasoning import ReasoningMarkers, reasoning_markers
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.outcomes import Compared
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message

COUNTED_CHARACTERS = 20_000  # beyond this the linear_time check would cost two more replays of a long output


def subject_of(
    replayer: Replayer,
    trace: Trace,
    whole: Trace,
    others: Sequence[Compared],
    *,
    rules: Rules = EXACT,
    variants: Sequence[Variant] = (),
    timings: tuple[float, float] | None = None,
) -> Subject:
    """What the checks look at. The labels of `others` are all different.

    `timings`: seconds for the output and for twice the output, where the caller has a clock.
    """
    fmt = replayer.format
    differ = not all(other.same for other in others) or not same_message(trace.message, whole.message, rules)
    server = None if replayer.plays else replayer.server
    markers = ReasoningMarkers((), ()) if fmt is None else reasoning_markers(fmt)
    return Subject(
        trace,
        replayer.context,
        None if replayer.plays else whole,
        [(other.label, other.trace) for other in others],
        replayer.terminals,
        replayer.longest_terminal,
        frozenset(piece.text for piece in replayer.pieces if piece.kind == "special"),
        replayer.black_box,
        _counters(replayer),
        rules=rules,
        variants=variants,
        shares={other.label: other.chunkings for other in others},
        policy=replayer.policy,
        timings=timings,
        pieces=replayer.pieces,
        end_tokens=() if fmt is None else fmt.end_tokens,
        openers=markers.openers,
        closers=markers.closers,
        reference=_reference(replayer),
        reading=_reading(replayer) if differ else None,
        one_shot=replayer.one_shot is not None,
        behind=replayer.behind,
        spelled=replayer.spelled,
        server=None if server is None else server.chunks,
        server_ends=None if server is None else server.ends,
        served=replayer.plays,
        raw=replayer.has_raw,
    )


def _reference(replayer: Replayer) -> Trace | None:
    """For a black box: what the built-in parser of the same format makes of the output."""
    grammar = _grammar(replayer) if replayer.black_box else None
    return None if grammar is None else grammar.trace(TRACED)


def _reading(replayer: Replayer) -> Message | None:
    """What the built-in parser of the same format gives."""
    grammar = _grammar(replayer)
    return None if grammar is None else grammar.outcome(WHOLE).message


def _grammar(replayer: Replayer) -> Replayer | None:
    """The built-in parser of the format, where the format knows any marker."""
    return replayer.by_format() if replayer.format is not None and replayer.format.terminals else None


def _counters(replayer: Replayer) -> tuple[int, int] | None:
    """Characters examined for the output, and for the output twice over. Not counted for long outputs, and by nobody
    for a black box."""
    if replayer.black_box or sum(len(piece.text) for piece in replayer.pieces) > COUNTED_CHARACTERS:
        return None
    known = replayer.outcome(TRACED)
    once, twice = 0 if known.raised else known.examined, _examined(replayer, 2)
    if twice <= GROWTH * once:
        return once, twice
    return twice, _examined(replayer, 4)  # an output that ends in the middle is another one when it is doubled


def _examined(replayer: Replayer, times: int) -> int:
    """Characters examined for the output, that many times over. 0 where the parser fails: parser_raised tells of it."""

    def outcome() -> Outcome:
        return replayer.with_pieces(replayer.pieces * times).outcome(TRACED)

    found = outcome() if replayer.known is None else replayer.known.outcome(times, outcome)
    return 0 if found.raised else found.examined
