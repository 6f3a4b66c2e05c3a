"""What is wrong with a log, a sentence each with the place: the rest is whole and is used.

Codes: cut_line (the last chunk breaks off), bad_chunk (one in the middle cannot be read), error (the server sent an
error in mid-stream), no_done (an OpenAI stream without its end), other_lines (lines that are no part of the log),
prefixed (a logger's prefix before each event), no_finish (an output without finish reason), several (outputs).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from parsers.intake.log import Log, is_failure
from parsers.intake.model import Frame, Payload, Warn, number

_LONGEST = 300  # characters of an error message that are quoted


CUT_JSON = Warn("cut_json", "The JSON breaks off before its end: what is not whole was left out.")
NO_FINISH = "It has no finish reason: the stream broke off, or the log was cut."


def several(count: int) -> Warn:
    """More than one output in one log."""
    return Warn("several", f"It holds {number(count, 'output')}: choose the one to look at.")


def damage(log: Log) -> Iterator[Warn]:
    """All damage of the log itself, whatever its chunks hold."""
    bad = [frame for frame in log.frames if frame.payload is None and not is_failure(frame)]
    if log.cut and bad:
        last = bad.pop()
        yield Warn("cut_line", f"The last chunk ({log.place(last)}) breaks off and was left out: the log was cut.")
    if bad:
        words = f"{number(len(bad), 'chunk')} cannot be read and {_was(bad)} skipped ({_places(log, bad)})"
        yield Warn("bad_chunk", f"{words}: what it held is missing.")
    for frame in [frame for frame in log.frames if is_failure(frame)][:1]:
        yield Warn("error", f"The server sent an error ({log.place(frame)}): {error_words(frame.payload or {})}")
    if log.others:
        count = number(len(log.others), "line")
        words = f"{count} that {_is(log.others)} no part of the log {_was(log.others)} skipped"
        yield Warn("other_lines", f"{words} (the first is line {log.others[0]:,}).")
    if log.prefixed:
        words = f"{number(len(log.prefixed), 'line')} had something before `data:`, which was cut off."
        yield Warn("prefixed", words)


def no_done(log: Log) -> Iterator[Warn]:
    """For an OpenAI stream whose last part lacks `data: [DONE]`."""
    if log.kind == "sse_log" and log.ends[-1:] != [len(log.frames)]:
        yield Warn("no_done", "The log has no `data: [DONE]` at its end: more may have come.")


def error_words(payload: Payload) -> str:
    """What an error says, on one line."""
    error = payload.get("error", payload)
    message = error.get("message", error) if isinstance(error, dict) else error
    text = message if isinstance(message, str) else json.dumps(message)
    line = " ".join(text.split()) or "it says nothing"
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _was(things: Sequence[object]) -> str:
    return "was" if len(things) == 1 else "were"


def _is(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"


def _places(log: Log, frames: list[Frame]) -> str:
    names = [log.place(frame) for frame in frames[:3]]
    return ", ".join(names) + (f" and {len(frames) - 3:,} more" if len(frames) > 3 else "")
