"""A case as a file: everything stored that is needed to replay it without its tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.io import dumps
from parsers.cases.model import Case, Expect
from parsers.types import Piece


def complete(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> Case:
    """The case with its tokens stored and, where given, an accepted expectation.

    Raises CaseError where the pieces do not spell the case's text.
    """
    stored = case if pieces is None else case.with_pieces(pieces)
    return stored if expect is None else stored.model_copy(update={"expect": expect})


def casefile(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> str:
    """The text of a `*.case.json` file."""
    return dumps(complete(case, pieces, expect))
