"""The event stream of a run: what a client of a server with this parser receives."""

from __future__ import annotations

from parsers.cases.run import CaseRun
from parsers.wire.chunks import Dialect, Envelope, chunks, recorded_chunks, transcript


def sse(run: CaseRun, dialect: Dialect = "reasoning") -> str:
    """The transcript of the traced replay, its sentinel included. The same run always gives the same text.

    A recorded stream that is played back is written as it was recorded, in its own dialect.
    """
    if run.plays:
        return "".join(transcript(recorded_chunks(run.case.input.stream or ())))
    return "".join(transcript(chunks(run.trace, Envelope.of(run.trace, run.context, dialect))))
