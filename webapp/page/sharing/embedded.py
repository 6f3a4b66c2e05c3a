"""A stored case as it stands in somebody else's page: the verdict, the deltas that show it, and what comes of them.

There is nothing to press in it but the link to the case, no script, and nothing that another page could ask for.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.replays.chunking import label
from parsers.vocabulary.types import Message
from webapp.glyphs import shorten
from webapp.page.search.client_parts import Told, told
from webapp.page.search.findings import VerdictLine
from webapp.page.search.search_page import SearchPanes
from webapp.runs.runner import Run

MOST_DELTAS = 12
_DELTA = 120  # characters of a delta that are shown


@dataclass(slots=True, frozen=True)
class Embedded:
    """Holds what the frame shows. `deltas` are of the smallest case where a search found one (`smallest`), else of the
    whole output; `more` is how many are not shown. `told` are messages by what they are called."""

    title: str
    said: VerdictLine | None
    smallest: bool
    deltas: list[str]
    more: int
    told: list[tuple[str, list[Told]]]
    facts: list[tuple[str, str]]


def embedded(title: str, run: Run, panes: SearchPanes, version: str) -> Embedded:
    """What a frame shows of a run, as far as is known of it."""
    small = panes.smallest
    if small is not None and panes.departure is None:
        parts, messages = small.parts, small.told or [("gives", told(_or_empty(small.found.gives)))]
    else:
        trace = run.trace
        parts = [trace.text[step.span.start : step.span.end] for step in trace.steps if not step.end]
        messages = [("gives", told(trace.message))]
    shown = [shorten(part, _DELTA) for part in parts[:MOST_DELTAS]]
    engine = run.case.parser.engine
    facts = [
        ("Parser", f"{engine}, {run.selection.name}" if engine else run.selection.name),
        ("Cut", label(small.found.chunking if small is not None else run.chunking)),
        ("Version", version),
    ]
    return Embedded(title, panes.verdict, small is not None, shown, max(0, len(parts) - MOST_DELTAS), messages, facts)


def _or_empty(message: Message | None) -> Message:
    return message or Message(None, None)
