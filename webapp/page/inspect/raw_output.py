"""The raw output of a recorded stream, where it is known, as the parser that stands beside it reads it: with what the
server lost of it."""

from __future__ import annotations

from dataclasses import dataclass

from webapp.page.inspect.index import RoleRun, beside_runs
from webapp.page.inspect.plots import RoleBar, lost_bars
from webapp.page.search.lost import Beside, recorded_beside
from webapp.runs.runner import Run

_SHOWN = 2_000  # characters, from a little before the first that is lost
_LEAD = 200


@dataclass(slots=True, frozen=True)
class RawOutput:
    """What is right, by the parser called `reader`: a band of the whole, and the text, of which so many characters are
    `before` and `after` what is shown."""

    reader: str
    words: str
    bars: list[RoleBar]
    runs: list[RoleRun]
    before: int
    after: int


def raw_output(run: Run, reader: str) -> RawOutput | None:
    """The raw output of a recording that lost some of it; None for any other run."""
    found = run.beside.get(f"raw output {reader}", lambda: recorded_beside(run, reader), size=_size)
    if found is None:
        return None
    text = run.case.text()
    first = next(part.start for part in found.parts if part.lost)
    start = max(0, first - _LEAD) if len(text) > _SHOWN else 0
    end = min(len(text), start + _SHOWN)
    edges = {edge for edge in found.marker_edges if start < edge < end}
    runs = [*beside_runs(found, text, start, end, edges)]
    return RawOutput(reader, found.words, lost_bars(found), runs, start, len(text) - end)


def _size(found: Beside | None) -> int:
    return 200 * len(found.parts) if found is not None else 0
