"""Intake: what was pasted, dropped or uploaded is recognised and named, never silently taken for model output.

    bytes -> decoding (UTF-8, BOM, CRLF) -> transcript (HTTP lines blanked) -> one of
        case | token ids | chunk list | JSON response | NDJSON log | SSE log | raw text

A log of parsed chunks is refused with what to capture instead; a log whose chunks hold raw text is rebuilt.
Every step is linear in the input and none raises, whatever the bytes.
"""

from __future__ import annotations

from parsers.intake.model import Intake, Kind
from parsers.intake.recognise import as_raw_text, recognise

__all__ = ["Intake", "Kind", "as_raw_text", "recognise"]
