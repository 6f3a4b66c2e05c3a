"""The step pane: one card per step of the window. The browser shows one of them at a time.

A card answers, in this order: what came in, which state, what is held and why, which rows fired and why, which
events that made, and what left for the client. The machine pane beside it has the diagram and the table of the format.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from parsers.formats.diagram import END, RowLine, diagram, rows_table, walked
from parsers.formats.layout import NOTHING_DRAWN, Diagram
from parsers.formats.model import Format
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    TextEvent,
)
from parsers.vocabulary.observed import UNKNOWN_STATE, Attribute, Observed, brief
from parsers.vocabulary.trace import Hold, StateView, Step, Transition
from webapp.glyphs import count, shorten, spell
from webapp.page.inspect.conditions import Look, Names, read_conditions
from webapp.page.inspect.index import DRAWN, RoleRun, TraceIndex, runs, target
from webapp.page.inspect.window import Window

_EVENTS_SHOWN = 40
_TEXT_SHOWN = 400
_CHANGES_SHOWN = 8


@dataclass(slots=True, frozen=True)
class _Rule:
    """A row that fired in step `step`; `literal` are the characters that triggered it."""

    step: int
    fired: Transition
    literal: str


@dataclass(slots=True, frozen=True)
class _HeldBefore:
    """What the step before held, and how many characters that is. `grew`: what is held now begins with it."""

    text: str = ""
    size: int = 0
    grew: bool = False


@dataclass(slots=True)
class Card:
    """Everything the step pane says about one step, and what the rest of the page needs to follow it. `own`: it is of
    an engine's parser that shows its attributes, of which `changed` did. `stateless`: nobody says in which state the
    parser was. `came`: when, where that was recorded."""

    step: int
    title: str
    note: str
    fed: list[RoleRun]
    stateless: bool
    state_before: str
    state: str
    codec: str
    held_before: _HeldBefore
    held: list[RoleRun]
    held_size: int
    held_more: int
    reasons: list[str]
    let_go: int | None
    let_go_by: str
    rules: list[_Rule]
    last_rule: _Rule | None
    events: list[_EventLine]
    more_events: int
    out: str
    announce: str
    who: str
    summary: str
    hold: tuple[int, int] | None
    hold_band: tuple[int, int] | None
    node: str
    last_row: str
    last_edge: str
    span: tuple[int, int]
    own: bool = False
    changed: Sequence[Attribute] = ()
    more_changed: int = 0
    came: str = ""


def card(index: TraceIndex, number: int, terminals: Mapping[str, str]) -> Card:
    """The card of step `number`. `terminals` spells the names of the format's terminals."""
    step = index.step(number)
    before = index.step(number - 1) if number > 1 else None
    fired = index.last_firing(number)
    last = index.step(fired).transitions[-1] if fired else None
    hold = _extent(step.holds)
    changed = _changed(index.trace.observed, number)
    return Card(
        step=number,
        title="End of output" if step.end else f"Step {number:,}",
        note=f"finish reason {index.trace.finish_reason}"
        if step.end
        else f"delta {step.index:,}, characters {step.span.start:,}–{step.span.end:,}",
        fed=runs(index, step.span.start, min(step.span.end, step.span.start + _TEXT_SHOWN), step.holds),
        stateless=step.state == UNKNOWN_STATE and (before is None or before.state == UNKNOWN_STATE),
        state_before=before.state if before else step.transitions[0].from_state if step.transitions else step.state,
        state=step.state,
        codec=_standing(step.view),
        held_before=_held_before(before, hold, index),
        held=runs(index, hold[0], min(hold[1], hold[0] + _TEXT_SHOWN), step.holds) if hold else [],
        held_size=hold[1] - hold[0] if hold else 0,
        held_more=max(0, hold[1] - hold[0] - _TEXT_SHOWN) if hold else 0,
        reasons=list(dict.fromkeys(item.reason for item in step.holds)),
        let_go=index.releases[number - 1] if hold else None,
        let_go_by=_let_go_by(index, index.releases[number - 1]) if hold else "",
        rules=[_Rule(number, item, terminals.get(item.trigger, "")) for item in step.transitions],
        last_rule=_Rule(fired, last, terminals.get(last.trigger, "")) if last and not step.transitions else None,
        events=[_event_line(index, step, event) for event in step.events[:_EVENTS_SHOWN]],
        more_events=max(0, len(step.events) - _EVENTS_SHOWN),
        out=shorten(json.dumps(step.delta.to_openai(), ensure_ascii=False), 4 * _TEXT_SHOWN) if step.delta else "",
        announce=_announce(index, step),
        who=_who(step, fired, last),
        summary=_summary(step),
        hold=hold,
        hold_band=(number, index.releases[number - 1]) if hold else None,
        node=_node_at(index, number),
        last_row=last.row if last else "",
        last_edge=_edge_at(index, number),
        span=step.span,
        own=index.trace.observed is not None,
        changed=changed[:_CHANGES_SHOWN],
        more_changed=max(0, len(changed) - _CHANGES_SHOWN),
        came=index.came(number),
    )


def _held_before(before: Step | None, now: tuple[int, int] | None, index: TraceIndex) -> _HeldBefore:
    extent = _extent(before.holds) if before else None
    if before is None or extent is None:
        return _HeldBefore()
    grew = now is not None and now[0] == extent[0] and now[1] >= extent[1]
    return _HeldBefore(shorten(index.trace.held_text(before), 80), extent[1] - extent[0], grew)


def _let_go_by(index: TraceIndex, number: int) -> str:
    """What is fed at the step that lets go of what is held; empty for the end of the output."""
    span = index.step(number).span
    return shorten(index.trace.text[span.start : span.end], 40)


def _changed(observed: Observed | None, number: int) -> Sequence[Attribute]:
    """The attributes that a step of somebody else's parser changed."""
    return () if observed is None or number > len(observed.steps) else observed.steps[number - 1].changed


def _who(step: Step, fired: int, last: Transition | None) -> str:
    """Which row let text out at a step: those that fired, else the one that led to where the parser reads."""
    if step.transitions:
        return "row " + ", ".join([f"{move.row} ({move.from_state} on {move.trigger})" for move in step.transitions])
    return "" if last is None else f"in {step.state} since row {last.row} at step {fired:,}"


def _standing(view: StateView) -> str:
    call = "" if view.call_state is None else f"the call is {view.call_state.lower().replace('_', ' ')}"
    return "; ".join(filter(None, (str(view.codec or ""), call)))


def _extent(holds: tuple[Hold, ...]) -> tuple[int, int] | None:
    if not holds:
        return None
    return min(hold.start for hold in holds), max(hold.end for hold in holds)


def _emitted(step: Step) -> list[str]:
    delta = step.delta
    if delta is None:
        return []
    words = []
    if delta.reasoning is not None:
        words.append(f"{len(delta.reasoning)} reasoning")
    if delta.content is not None:
        words.append(f"{len(delta.content)} content")
    for call in delta.tool_calls:
        words += [f"call {call.index} {call.name}"] if call.name is not None else []
        words += [f"{len(call.arguments)} arguments of call {call.index}"] if call.arguments else []
    return words


def _summary(step: Step) -> str:
    extent = _extent(step.holds)
    sent = "sent " + ", ".join(_emitted(step)) if step.delta else "sent nothing"
    held = f"held {extent[1] - extent[0]:,}" if extent else "held 0"
    return " · ".join([*([] if step.state == UNKNOWN_STATE else [brief(step.state)]), sent, held])


def _announce(index: TraceIndex, step: Step) -> str:
    text = index.trace.text[step.span.start : step.span.end]
    state = "" if step.state == UNKNOWN_STATE else f"State {brief(step.state)}. "
    fed = "End of the output." if step.end else f"Fed {spell(shorten(text, 60))}."
    sent = f"Sent {', '.join(_emitted(step))}." if step.delta else "Sent nothing."
    extent = _extent(step.holds)
    held = f" Held {count(extent[1] - extent[0], 'character')}." if extent else ""
    return f"Step {step.index} of {index.total}. {fed} {state}{sent}{held}"


# One event as one line: its name, what it says, and where it stands in the output.

_CALL_EVENTS = (CallStart, CallId, CallName, CallArguments, CallEnd)


@dataclass(slots=True, frozen=True)
class _EventLine:
    """`role` and `text` are what is drawn."""

    step: int
    kind: str
    role: str
    text: str
    detail: str
    start: int
    end: int
    severity: str = ""

    @property
    def span(self) -> str:
        return f"{self.start:,}–{self.end:,}" if self.end > self.start else f"{self.start:,}"


def _event_line(index: TraceIndex, step: Step, event: Event) -> _EventLine:
    """`event` of `step` as a line."""
    text, detail = _text(index, event), _detail(event)
    return _EventLine(
        step=step.index,
        kind=event.kind,
        role=DRAWN.get(event.owner or "", event.owner or ""),
        text=text,
        detail=detail,
        start=event.start,
        end=event.end,
        severity=event.severity if isinstance(event, Diagnostic) else "",
    )


def _held_line(index: TraceIndex, step: Step) -> _EventLine:
    """The line of a step that only held text back."""
    hold = step.holds[0]
    start, end = _extent(step.holds) or step.span
    return _EventLine(step.index, "held", "held", index.trace.held_text(step), hold.reason, start, end)


def _text(index: TraceIndex, event: Event) -> str:
    if isinstance(event, TextEvent):
        return event.text
    if isinstance(event, Marker | Dropped):
        return index.trace.text[event.start : event.end]
    return ""


def _detail(event: Event) -> str:
    if isinstance(event, Diagnostic):
        return f"{event.code}: {event.message}"
    if isinstance(event, Dropped):
        return event.reason.words
    if isinstance(event, Marker):
        return event.terminal
    if isinstance(event, CallEnd):
        return f"call {event.call}" + ("" if event.complete else ", cut off")
    words = f"call {event.call}" if isinstance(event, _CALL_EVENTS) else ""
    return ", ".join(word for word in (words, _made(event)) if word)


def _made(event: Event) -> str:
    """Return how a text event's text came from the output, where it is not a plain copy."""
    kinds = {part.kind for part in event.parts()} if isinstance(event, TextEvent) else set()
    return " and ".join(sorted(kinds - {"copied"}))


# The events pane: a line per event of the window, and a line for every step that only held text back.

_MATCHES_SHOWN = 300


@dataclass(slots=True)
class Log:
    """`lines` of the window, or of the whole trace when a filter is set; `more` matches are not shown. `problem` says
    what in the filter is no condition."""

    lines: list[_EventLine]
    note: str
    total: int
    more: int = 0
    problem: str = ""


def log(index: TraceIndex, window: Window, words: str, names: Names | None = None) -> Log:
    """The events of the window; with a filter, the matching events of the whole trace."""
    total = index.events
    conditions = read_conditions(words, names)
    if not conditions.all:
        lines = [_line(index, *one) for one in _happened(index, window.first, window.last)]
        return Log(lines, count(total, "event"), total, problem=conditions.problem)
    matches = (one for one in _happened(index, 1, index.total) if conditions.hold(_look(index, *one)))
    lines = [_line(index, *one) for one in islice(matches, _MATCHES_SHOWN)]
    more = sum(1 for _ in matches)
    return Log(lines, f"{count(len(lines) + more, 'match', 'matches')} of {count(total, 'event')}", total, more)


def _happened(index: TraceIndex, first: int, last: int) -> Iterator[tuple[Step, Event | None]]:
    """Every event with its step, and every step that only held text back."""
    for step in map(index.step, range(first, last + 1)):
        for event in step.events:
            yield step, event
        if step.holds and not step.events:
            yield step, None


def _look(index: TraceIndex, step: Step, event: Event | None) -> Look:
    return Look(index, step, () if event is None else (event,))


def _line(index: TraceIndex, step: Step, event: Event | None) -> _EventLine:
    return _held_line(index, step) if event is None else _event_line(index, step, event)


@dataclass(slots=True)
class Machine:
    """A format's diagram and its table, with what was done of them: the states that were visited, the arrows (from, to)
    that fired with the first steps at which they did, and how often each row did. `walk` is the drawing of these alone.
    `now` is the box under the cursor, `last` the arrow that led there."""

    drawing: Diagram
    rows: list[RowLine]
    visited: Collection[str]
    fired: Mapping[tuple[str, str], Sequence[int]]
    times: Mapping[str, int]
    note: str
    words: str
    now: str = ""
    last: str = ""
    walk: Diagram = NOTHING_DRAWN


def machine(index: TraceIndex, fmt: Format, policy: Mapping[str, str], step: int) -> Machine:
    """The machine of `fmt` with the cursor on `step`."""
    drawing, now = diagram(fmt, policy), _node_at(index, step)
    visited = {name for pair in index.fired for name in pair} | {index.step(1).state}
    never = [node.name for node in drawing.nodes if not node.end and node.name not in visited]
    return Machine(
        walk=walked(fmt, index.times),
        drawing=drawing,
        rows=rows_table(fmt),
        visited=visited,
        fired=index.fired_at,
        times=index.times,
        note=count(len(fmt.states), "state") + (f", {len(never)} never visited" if never else ", all visited"),
        words=f"State diagram. Current state {now}." + (f" Never visited: {', '.join(never)}." if never else ""),
        now=now,
        last=_edge_at(index, step),
    )


def _node_at(index: TraceIndex, step: int) -> str:
    """The box that stands for where the parser is after `step`."""
    return END if index.step(step).end else index.step(step).state


def _edge_at(index: TraceIndex, step: int) -> str:
    """The line that led there: the latest that changed anything, by its key; empty before the first."""
    fired = index.last_firing(step)
    if not fired:
        return ""
    item = index.step(fired).transitions[-1]
    return f"{item.from_state} {target(item)}"
