"""Puts the panes together: one page about one replay, seen from one step."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from parsers.replays.chunking import label
from parsers.wire.chunks import Envelope
from webapp.page import cards, lag, log, machine, overview, ownership, result, strip, window, wire
from webapp.page.decode_form import said
from webapp.page.index import TraceIndex, after, before
from webapp.page.running import Run
from webapp.page.search_panes import SearchPanes
from webapp.page.state import Links, ViewState
from webapp.page.token_table import BadgeRow, badge_row, known_tokens
from webapp.page.truncation import Truncation

NAV_WORDS = {"change": "state change", "emission": "emission", "finding": "finding"}


@dataclass(slots=True)
class Page:
    """Everything the inspector's templates read. `posted`: the run has no address, controls post the form again.

    `server` is the query of the comparison with what a server sent; `plays`: this is what is shown, and `unknown`: the
    raw output is not known with it.

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
    badges: BadgeRow | None
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
    decoding: str
    chunking: str
    checked: SearchPanes
    server: str
    plays: bool
    unknown: bool
    nav_words: dict[str, str] = field(default_factory=lambda: NAV_WORDS)


def inspector(run: Run, checked: SearchPanes, links: Links, *, posted_case: str = "", with_badges: bool = True) -> Page:
    """The page about `run`. `with_badges` False leaves the statements about its tokens for later."""
    index, state = run.index, links.state
    if run.choice.plays:
        state = replace(state, cut=None)  # what is played back cannot be cut
    start = (None if state.chunk else checked.start) or interesting_step(index)
    step = index.clamp(start if state.step is None else state.step)
    view = window.window_around(index, step)
    drawn = cards.cards(index, view, dict(run.format.terminals))
    unknown = run.choice.plays and not run.pieces
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
        strip=strip.strip(index, run.pieces, view, step, known_tokens(run)),
        badges=badge_row(run) if with_badges and not unknown else None,
        ownership=ownership.ownership(index, step, state.only),
        result=result.result(index, view, run.context, expect),
        wire=wire.wire(index, view, step, state.wire, _envelope(run, state), len(run.pieces), _played(run)),
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
        decoding=said(run.case),
        chunking=label(run.chunking),
        checked=checked,
        server=_server(run),
        plays=run.choice.plays,
        unknown=unknown,
    )


def _played(run: Run) -> tuple[dict[str, Any], ...] | None:
    """The server's chunks, where they are what is replayed."""
    return run.case.input.stream if run.choice.plays else None


def _server(run: Run) -> str:
    """The query of the comparison with the server's own stream; empty where there is nothing to compare it with."""
    if run.case.input.stream is None or not run.case.has_raw:
        return ""
    return "a_parser=auto&b_parser=recorded" if run.choice.plays else "b_parser=recorded"


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
