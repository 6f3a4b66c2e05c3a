"""Which format an output is in: all built-in formats read it, and are ranked by what they make of it.

Every format one of whose telling markers occurs, or whose calls need none, parses the whole text. Where none reads it
well, the markup is put right by the smallest change and read again: that is the nearest grammar, and the place of the
change is where the output leaves it. A reading whose calls all lie inside a call of another one is no reading.

Invariants: linear in the output, at most three parses for a format; pure; the order of equal guesses never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from parsers.compare.divergence import shared_prefix
from parsers.formats.model import Format, builtin_formats
from parsers.search.found import Guess, Leave
from parsers.search.markup import BODY, AlmostMarker, almost_markers
from parsers.search.reading import Reading, first_leave, read
from parsers.search.verdict_phrases import lowered
from parsers.selection.claims import SHORT, is_bare, telling_literals
from parsers.vocabulary.events import CallEnd, CallStart
from parsers.vocabulary.types import Context
from parsers.vocabulary.words import counted, listed, quoted

UNREAD = -10_000  # the score of a format that has nothing in the output to read
MENDED_COSTS = 500  # what a reading of a mended output loses: it stays above one without calls, below a plain one


def guesses(text: str, context: Context | None = None) -> list[Guess]:
    """Every built-in format with how well it fits, best first."""
    asked = context or Context()
    readings = {fmt.name: _best(fmt, text, asked) for fmt in _readable(text)}
    _discount_inner(list(readings.values()))
    clean = any(one.good and not one.left for one in readings.values())
    mended = {} if clean else dict(_mended(text, asked, readings))
    found = [_guess(fmt, readings.get(name), mended.get(name)) for name, fmt in builtin_formats().items()]
    found.sort(key=lambda guess: -guess.score)
    _tell_ties(found, readings)
    return found


def _readable(text: str) -> Iterator[Format]:
    """Formats of which a telling literal is in the text, or begun at its end, and those whose calls need none."""
    for fmt in builtin_formats().values():
        literals = telling_literals(fmt)
        begun = (text.endswith(literal[:size]) for literal in literals for size in range(SHORT - 1, len(literal)))
        if fmt.states and (is_bare(fmt) or any(literal in text for literal in literals) or any(begun)):
            yield fmt


def _best(fmt: Format, text: str, context: Context) -> Reading:
    """The format's reading as the request says it begins; where that is odd, as if it began the other way."""
    given = read(fmt, text, context)
    odd = any(note.code == "orphan_reasoning_end" for note in given.notes)
    silent = context.reasoning_open and not given.good
    if fmt.initial_when_reasoning_open is None or not (odd or silent):
        return given
    other = read(fmt, text, replace(context, reasoning_open=not context.reasoning_open, prompt_tail=None))
    return other if other.score > given.score else given


def _discount_inner(readings: Sequence[Reading]) -> None:
    """Calls that stand inside a call of another reading are that call's text: they count for nothing."""
    extents = {one.fmt.name: _extents(one) for one in readings if one.good}
    for one in readings:
        own = extents.get(one.fmt.name, [])
        outer = [others[0] for name, others in extents.items() if name != one.fmt.name]
        if own and any(all(start < begin and stop < end for begin, stop in own) for start, end in outer):
            one.score -= 1000 * one.good
            one.good = 0


def _extents(reading: Reading) -> list[tuple[int, int]]:
    starts = [event.start for event in reading.events if isinstance(event, CallStart)]
    ends = [event.end for event in reading.events if isinstance(event, CallEnd)]
    return list(zip(starts, ends, strict=False))


def _mended(text: str, context: Context, readings: dict[str, Reading]) -> Iterator[tuple[str, tuple[Reading, Leave]]]:
    near = almost_markers(text)
    for name, fmt in builtin_formats().items():
        best = readings.get(name)
        for changed, place in _changes(fmt, text, near):
            reading = read(fmt, changed, context)
            if reading.good > (best.good if best else 0):
                yield name, (reading, place)
                break


def spelled_rightly(fmt: Format, text: str, context: Context) -> tuple[Reading, Leave] | None:
    """What a format reads where the markers that are almost its own are put right, and the first of these places; None
    where there are none."""
    found = (change for change in _changes(fmt, text, almost_markers(text)) if change[1].misspelled)
    changed, leave = next(found, ("", None))
    return None if leave is None else (read(fmt, changed, context), leave)


def _changes(fmt: Format, text: str, near: Sequence[AlmostMarker]) -> Iterator[tuple[str, Leave]]:
    own = set(fmt.terminals.values())
    ours = {one.start: one for one in reversed(near) if one.literal in own}
    if ours:
        first = ours[min(ours)]
        wrong = text[first.start : first.end]
        at = first.start + shared_prefix(wrong, first.literal)
        spelled = f"{quoted(first.literal)} is spelled {quoted(wrong)}"
        yield _corrected(text, list(ours.values())), Leave(at, spelled, misspelled=True)
    for opener, closer in _pairs(fmt):
        body = _unopened(text, opener, closer)
        if body is not None:
            yield text[:body] + opener + text[body:], Leave(body, f"the opening {quoted(opener)}")


def _corrected(text: str, near: Sequence[AlmostMarker]) -> str:
    parts: list[str] = []
    at = 0
    for one in sorted(near, key=lambda one: one.start):
        parts += [text[at : one.start], one.literal]
        at = one.end
    return "".join([*parts, text[at:]])


def _pairs(fmt: Format) -> tuple[tuple[str, str], ...]:
    terminals = fmt.terminals
    ends = [key for key in terminals if key.endswith("_END") and not key.startswith("THINK")]
    starts = [(key.removesuffix("_END") + "_START", key) for key in ends]
    return tuple((terminals[start], terminals[end]) for start, end in starts if start in terminals)


def _unopened(text: str, opener: str, closer: str) -> int | None:
    """Return where an opener is missing before the first closer: at the body of the call that it closes."""
    end = text.find(closer)
    if end < 0 or text.rfind(opener, 0, end) >= 0:
        return None
    body = BODY.search(text, 0, end)
    return None if body is None else body.start()


def _guess(fmt: Format, reading: Reading | None, mended: tuple[Reading, Leave] | None) -> Guess:
    if mended is not None:
        fixed, leave = mended
        calls = fixed.message.tool_calls
        words = f"would read {listed([quoted(call.name) for call in calls])}, but {leave.clause}"
        return Guess(fmt.name, fmt.title, fixed.score - MENDED_COSTS, len(calls), 0, (words,), leave)
    if reading is None:
        return Guess(fmt.name, fmt.title, UNREAD, 0, 0, ("none of its markers is in the output",))
    return guess_of(reading)


def guess_of(reading: Reading) -> Guess:
    """How well the format of a reading fits."""
    return Guess(
        reading.fmt.name,
        reading.fmt.title,
        reading.score,
        len(reading.message.tool_calls),
        reading.complete,
        _evidence(reading),
        first_leave(reading),
        reading.good,
    )


def _evidence(reading: Reading) -> tuple[str, ...]:
    said = [_calls(reading)]
    if reading.markers:
        verb = "are its markers" if len(reading.markers) > 1 else "is its marker"
        said.append(f"{listed([quoted(text) for text in reading.markers])} {verb}")
    if reading.left:
        at = reading.left[0]
        verb = "stays" if len(reading.left) == 1 else "stay"
        said.append(f"{counted(len(reading.left), 'piece')} of markup {verb} in the content, first at character {at}")
    if reading.dropped:
        said.append(f"{counted(reading.dropped, 'letter')} dropped")
    elif reading.message.tool_calls:
        said.append("nothing dropped")
    said += list(dict.fromkeys([lowered(event.message.rstrip(".")) for event in reading.warnings]))[:2]
    return tuple(said)


def _calls(reading: Reading) -> str:
    calls = reading.message.tool_calls
    if not calls:
        return "reads no call"
    names = listed([quoted(call.name) for call in calls])
    cut = len(calls) - reading.complete
    odd = reading.complete - reading.good
    parts = [f"reads {counted(reading.complete, 'complete call')}"] if reading.complete else []
    if cut and not reading.complete:
        parts.append(f"reads {counted(cut, 'call that is', 'calls that are')} not whole")
    elif cut:
        parts.append(f"{counted(cut, 'call')} cut off")
    if odd > 0:
        parts.append(f"{odd} with a name or arguments that do not fit")
    return f"{', '.join(parts)}: {names}"


def _tell_ties(found: Sequence[Guess], readings: dict[str, Reading]) -> None:
    """Formats that give the same calls as a better one and leave as much over: both say so."""
    first: dict[object, Guess] = {}
    for guess in found:
        reading = readings.get(guess.name)
        if reading is None or not reading.good:
            continue
        calls = tuple((call.name, call.arguments) for call in reading.message.tool_calls)
        best = first.setdefault((calls, len(reading.left), reading.dropped > 0), guess)
        if best is not guess:
            best.same = (*best.same, guess.name)
            guess.same = (best.name,)
    for guess in first.values():
        if guess.same:
            verb = "reads" if len(guess.same) == 1 else "read"
            guess.evidence = (*guess.evidence, f"{listed([quoted(name) for name in guess.same])} {verb} the same calls")
