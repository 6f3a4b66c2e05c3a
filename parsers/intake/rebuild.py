"""From a log whose chunks hold raw text to the recording, or the reason why that would not be exact.

Invariant: the recording's text is the concatenation of its deltas, each as the server sent it. Whatever leaves a
doubt (a chunk that cannot be read, two outputs in one log, half a UTF-16 pair) is a refusal; only a last line that
breaks off is tolerated, with a note, because a stopped recording is an honest prefix.
"""

from __future__ import annotations

from parsers.intake.chunks import RawChunk
from parsers.intake.jsonread import has_lone_surrogate
from parsers.intake.log import Log
from parsers.types import RecordedDelta, Recording

_SEVERAL = "it holds more than one output: keep the lines of one request (and of one choice)"


class NotExactError(Exception):
    """The raw output cannot be rebuilt exactly; the text says why, without a full stop."""


def rebuild(log: Log) -> Recording:
    """The recording. Raises NotExactError with the reason."""
    found = _chunks(log)
    texts = [chunk.text for chunk in found]
    if log.family.cumulative:
        texts = _increments(texts)
    text = "".join(texts)
    if has_lone_surrogate(text):
        raise NotExactError("its chunks hold half of a UTF-16 pair, which is no character")
    deltas = tuple([RecordedDelta(part, chunk.ids) for part, chunk in zip(texts, found, strict=True)])
    return Recording(
        text=text,
        kind=log.kind,
        deltas=deltas if log.streamed else None,
        finish_reason=next((chunk.finish for chunk in reversed(found) if chunk.finish), None),
        notes=_notes(log),
    )


def _notes(log: Log) -> tuple[str, ...]:
    notes = [log.family.caveat]
    if log.cut:
        notes.append(f"The last chunk (line {log.frames[-1].line:,}) breaks off and was left out: the log was cut.")
    return tuple(notes)


def _chunks(log: Log) -> list[RawChunk]:
    """All raw chunks in order: of one source, and none after the last."""
    if log.resumed:
        raise NotExactError(_SEVERAL)
    found: list[RawChunk] = []
    for frame in log.frames[:-1] if log.cut else log.frames:
        more = log.family.read(frame.payload) if log.family.read and frame.payload is not None else None
        if more is None:
            raise NotExactError(f"{log.place(frame)} is no chunk of raw text")
        if more and found and found[-1].last:
            raise NotExactError(_SEVERAL)
        found += more
    if not found:
        raise NotExactError("none of its chunks holds any output")
    if len({chunk.source for chunk in found}) > 1:
        raise NotExactError(_SEVERAL)
    return found


def _increments(texts: list[str]) -> list[str]:
    """What each cumulative text adds to the one before."""
    parts: list[str] = []
    before = ""
    for text in texts:
        if not text.startswith(before):
            raise NotExactError("its texts do not each repeat the one before (was the server streaming increments?)")
        parts.append(text[len(before) :])
        before = text
    return parts
