"""A case as a file: everything stored that is needed to replay it without its tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.io import dumps, to_data
from parsers.cases.jsontext import compact
from parsers.cases.model import Case, Expect
from parsers.cases.run import CaseRun
from parsers.vocabulary.types import Piece
from parsers.wire.chunks import Dialect, Envelope, chunks, recorded_chunks, transcript


def _complete(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> Case:
    """The case with its tokens stored and, where given, an accepted expectation.

    Raises CaseError where the pieces do not spell the case's text.
    """
    stored = case if pieces is None else case.with_pieces(pieces)
    return stored if expect is None else stored.model_copy(update={"expect": expect})


def casefile(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> str:
    """The text of a `*.case.json` file."""
    return dumps(_complete(case, pieces, expect))


# A case as one line of a corpus (JSON Lines).


def jsonl(case: Case, pieces: Sequence[Piece] | None = None, expect: Expect | None = None) -> str:
    """The case on one line, ended by the line's only newline; no other character in it ends a line anywhere."""
    return compact(to_data(_complete(case, pieces, expect))) + "\n"


# The event stream of a run: what a client of a server with this parser receives.


def sse(run: CaseRun, dialect: Dialect = "reasoning") -> str:
    """The transcript of the traced replay, its sentinel included. The same run always gives the same text.

    A recorded stream that is played back is written as it was recorded, in its own dialect.
    """
    if run.plays:
        return "".join(transcript(recorded_chunks(run.case.input.stream or ())))
    return "".join(transcript(chunks(run.trace, Envelope.of(run.trace, run.context, dialect))))
