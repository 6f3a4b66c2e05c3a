"""The rows of what is no table: a server's log, a recorded stream, a case file. The intake says which outputs it holds.

Each becomes a row that is a case. Only outputs whose text was recorded can be replayed; of the others a row says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsers.cases.jsontext import JsonError, read
from parsers.intake import Intake, recognise
from parsers.intake.case_data import case_data
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import Recording

_TEXTS = (".txt", ".txt.gz", ".txt.zst")  # of which one that is nothing else is an output as it stands


def recorded_rows(data: bytes, filename: str) -> list[Any]:
    """The rows of bytes, in order: cases as decoded JSON, each with a text, or why there is none."""
    found = recognise(data, pasted=False, filename=filename)
    if found.cases:
        return [*_cases(found)]
    if found.kind == "raw_text" and not filename.endswith(_TEXTS):
        return [Skip.NO_OUTPUT]
    return [*map(_row, found.outputs)] or [Skip.NO_OUTPUT]


def is_recording(data: bytes, filename: str) -> bool:
    """Return whether bytes that may be rows are rather what a server sent or logged, or cases."""
    found = recognise(data, pasted=False, filename=filename)
    return bool(found.cases) or (found.kind not in ("raw_text", "empty", "not_text") and bool(found.outputs))


def is_log(data: bytes, filename: str) -> bool:
    """Return whether bytes are lines of a server's log."""
    return recognise(data, pasted=False, filename=filename).kind == "server_log"


def _cases(found: Intake) -> Iterator[Any]:
    for text in found.cases.values():
        try:
            yield read(text)
        except JsonError:
            yield Skip.NO_CASE


def _row(output: Recording) -> Any:
    if output.text is None and output.pieces is None:
        return Skip.PARSED if output.stream is not None else Skip.IDS
    text = output.text if output.pieces is None else "".join([piece.text for piece in output.pieces])
    return {**case_data(output).data, "input": {"text": text}}
