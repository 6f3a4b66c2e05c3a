"""Why a format fits an output, in sentences."""

from __future__ import annotations

from parsers.checks.base import counted
from parsers.search.guess_markup import listed, quoted
from parsers.search.guess_read import Reading


def evidence(reading: Reading) -> tuple[str, ...]:
    """What a reading shows for and against its format."""
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
    said += list(dict.fromkeys([event.message.rstrip(".") for event in reading.warnings]))[:2]
    return tuple(said)


def _calls(reading: Reading) -> str:
    calls = reading.message.tool_calls
    if not calls:
        return "reads no call"
    names = listed([quoted(call.name) for call in calls])
    cut = len(calls) - reading.complete
    odd = reading.complete - reading.good
    parts = [f"reads {counted(reading.complete, 'complete call')}" if reading.complete else "reads no complete call"]
    if cut:
        parts.append(f"{counted(cut, 'call')} cut off")
    if odd > 0:
        parts.append(f"{odd} with a name or arguments that do not fit")
    return f"{', '.join(parts)}: {names}"
