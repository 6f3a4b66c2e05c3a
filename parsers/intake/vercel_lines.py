"""The lines of Vercel's AI SDK 4, as the parts of its streams that say the same.

A line is a code, a colon and a JSON value: `0:"Let me"`, `9:{"toolCallId": ...}`. Source: ai 4, the Data Stream
Protocol (packages/ui-utils/src/data-stream-parts.ts).
"""

from __future__ import annotations

import json
import re

from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame

_LINE = re.compile(r"([0-9a-k]):(?=[\"{\[])")
_TEXTS = {"0": "text-delta", "g": "reasoning"}
_OBJECTS = {
    "9": "tool-call", "a": "tool-result", "b": "tool-call-streaming-start", "c": "tool-call-delta", "d": "finish",
    "e": "step-finish", "f": "step-start",
}  # fmt: skip
_SILENT: Payload = {"type": "message-metadata"}


def vercel_lines(text: str) -> list[Frame] | None:
    """Return the parts that the lines of a stream of AI SDK 4 say; None where a line is none of them, or all say
    nothing. A last line that breaks off is a frame without payload. Linear."""
    frames: list[Frame] = []
    lines = text.rstrip().split("\n")
    for number, line in enumerate(lines, 1):
        found = _LINE.match(line)
        if found is None and line.strip():
            return None
        if found is not None:
            payload = _part(found[1], line[found.end() :])
            if payload is None and number < len(lines):
                return None
            frames.append(Frame(number, payload))
    told = [frame for frame in frames if frame.payload is not None and frame.payload != _SILENT]
    return frames if told and len(frames) > 1 else None


def _part(code: str, written: str) -> Payload | None:
    """Return the part that a line is: what says nothing of the answer has a kind of part that says nothing."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    if code in _TEXTS:
        return {"type": _TEXTS[code], "textDelta": value} if isinstance(value, str) else None
    if code == "3":
        return {"type": "error", "errorText": value} if isinstance(value, str) else None
    if code in _OBJECTS:
        return {"type": _OBJECTS[code], **value} if isinstance(value, dict) else None
    return _SILENT
