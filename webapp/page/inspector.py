"""Puts the panes together: one page about one replay, seen from one step."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from parsers.chunking import label
from parsers.wire.chunks import Envelope
from webapp.page import cards, lag, log, machine, overview, ownership, result, strip, window, wire
from webapp.page.index import TraceIndex, after, before
from webapp.page.running import Run
from webapp.page.search_panes import SearchPanes
from webapp.page.state import Links, ViewState
from webapp.page.truncation import Truncation

NAV_WORDS = {"change": "state change", "emission": "emission", "finding": "finding"}


@dataclass(slots=True)
class Page:
    """Everything the inspector's templates read. `posted`: the run has no address, controls post the form again.

    `overview`, `lag` and `truncation` are worked out by the templates that show them, which a new window does not.
    """

    links: Links
    state: ViewState
    posted: bool
    action: str
    case_json: str
    step: int
    total: int
    run: str
    window: window.Window
    card: cards.Card
    cards: list[cards.Card]
    strip: strip.Strip
    ownership: ownership.Ownership
    result: result.Result
    wire: wire.Wire
    log: log.Log
    machine: machine.Machine
    overview: Callable[[], overview.Overview]
    lag: Callable[[], lag.LagPane]
    truncation: Truncation
    nav: dict[str, tuple[int | None, int | None]]
    jumps: str
    parser: str
    reasons: tuple[str, ...]
    mode: str
    chunking: str
    checked: SearchPanes
    nav_words: dict[str, str] = field(default_factory=lambda: NAV_WORDS)


def inspector(run: Run, checked: SearchPanes, links: Links, *, posted_case: str = "") -> Page:
    """The page about `run`."""
    index, state = run.index, links.state
    start = (None if state.chunk else checked.start) or interesting_step(index)
    step = index.clamp(start if state.step is None else state.step)
    view = window.window_around(index, step)
    drawn = cards.cards(index, view, dict(run.format.terminals))
    expect = run.case.expect.model_dump(exclude_none=True) if run.case.expect else None
    places = {"change": index.changes, "emission": index.emissions, "finding": index.findings}
    return Page(
        links=links,
        state=state,
        posted=bool(posted_case),
        action=links.base or "",
        case_json=posted_case,
        step=step,
        total=index.total,
        run=run.key[:12],
        window=view,
        card=drawn[step - view.first],
        cards=drawn,
        strip=strip.strip(index, run.pieces, view, step),
        ownership=ownership.ownership(index, step, state.only),
        result=result.result(index, view, run.context, expect),
        wire=wire.wire(index, view, step, state.wire, _envelope(run, state), len(run.pieces)),
        log=log.log(index, view, state.filter),
        machine=machine.machine(index, run.format, run.policy, step),
        overview=partial(overview.overview, index, () if state.chunk else checked.marks, step),
        lag=partial(lag.lag_pane, index, step),
        truncation=Truncation(run, state.cut, index.step(step).span.end),
        nav={name: (before(steps, step), after(steps, step)) for name, steps in places.items()},
        jumps=json.dumps({name: _jumps(steps, view) for name, steps in places.items()}),
        parser=f"{run.format.name}: {run.format.title}",
        reasons=run.selection.reasons,
        mode=run.trace.mode,
        chunking=label(run.chunking),
        checked=checked,
    )


def _envelope(run: Run, state: ViewState) -> Envelope:
    return Envelope.of(run.trace, run.context, wire.dialect_of(state.dialect))


def _jumps(steps: list[int], view: window.Window) -> list[int]:
    """The targets inside the window, and the nearest one on either side of it."""
    left, right = before(steps, view.first), after(steps, view.last)
    inside = steps[bisect_left(steps, view.first) : bisect_right(steps, view.last)]
    return [*([left] if left else []), *inside, *([right] if right else [])]


def interesting_step(index: TraceIndex) -> int:
    """Where a reader starts: the first finding, a call cut off, the first time text is held, the first state change."""
    if index.findings:
        return index.findings[0]
    if any(not call.complete for call in index.calls.values()):
        return index.total
    held = next((step.index for step in index.trace.steps if step.holds), None)
    return held or (index.changes[0] if index.changes else 1)
