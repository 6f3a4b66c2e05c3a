"""A case as one line of a corpus (JSON Lines)."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.export.casefile import complete
from parsers.cases.io import to_data
from parsers.cases.jsontext import compact
from parsers.cases.model import Case, Expect
from parsers.types import Piece


def jsonl(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> str:
    """The case on one line, ended by the line's only newline; no other character in it ends a line anywhere."""
    return compact(to_data(complete(case, pieces, expect))) + "\n"
