"""Intake: what was pasted, dropped or uploaded is recognised and named, never silently taken for model output.

    bytes -> decoding (UTF-8, BOM, CRLF) -> transcript (HTTP, curl's noise) -> requests (curl, JSON) -> shapes (a table
    of readers) -> outputs, with facts (exact, assumed, lossy, missing), warnings, asks and captures

Everything is taken. Chunks that a server has parsed are kept as they came; raw text is rebuilt where ids, bytes or
unparsed content allow it; damage is named and what is whole is used. What is missing is asked for, with the command
that records it. Every step is linear in the input and none raises, whatever the bytes.
"""

from __future__ import annotations

from parsers.intake.evidence import Intake, Kind
from parsers.intake.recognise import recognise

__all__ = ["Intake", "Kind", "recognise"]
