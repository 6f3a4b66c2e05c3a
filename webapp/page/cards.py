"""The step pane: one card per step of the window. The browser shows one of them at a time.

A card answers, in this order: what came in, which state, what is held and why, which rows fired and why, which
events that made, and what left for the client.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from parsers.vocabulary.trace import Hold, Step, Transition
from webapp.page.glyphs import count, shorten, spell
from webapp.page.index import TraceIndex
from webapp.page.lines import EventLine, event_line
from webapp.page.machine import edge_at, node_at
from webapp.page.roles import Run, runs
from webapp.page.window import Window

EVENTS_SHOWN = 40
TEXT_SHOWN = 400


@dataclass(slots=True)
class Rule:
    """One row that fired. `number` is step.sub, as in `42.1`; `literal` the characters that triggered it."""

    number: str
    row: str
    source: str
    trigger: str
    literal: str
    target: str
    note: str
    step: int


@dataclass(slots=True)
class Card:
    """Everything the step pane says about one step, and what the rest of the page needs to follow it."""

    step: int
    title: str
    note: str
    fed: list[Run]
    state_before: str
    state: str
    codec: str
    held_before: str
    held: list[Run]
    held_more: int
    reasons: list[str]
    rules: list[Rule]
    last_rule: Rule | None
    events: list[EventLine]
    more_events: int
    out: str
    announce: str
    summary: str
    hold: tuple[int, int] | None
    hold_band: tuple[int, int] | None
    node: str
    last_row: str
    last_edge: str
    span: tuple[int, int]


def cards(index: TraceIndex, window: Window, terminals: dict[str, str]) -> list[Card]:
    """The cards of `window`. `terminals` spells the names of the format's terminals."""
    return [card(index, number, terminals) for number in range(window.first, window.last + 1)]


def card(index: TraceIndex, number: int, terminals: dict[str, str]) -> Card:
    """The card of step `number`."""
    step = index.step(number)
    before = index.step(number - 1) if number > 1 else None
    last = _last_rule(index, number, terminals)
    hold = _extent(step.holds)
    return Card(
        step=number,
        title="End of output" if step.end else f"Step {number:,}",
        note=_note(index, step),
        fed=runs(index, step.span.start, min(step.span.end, step.span.start + TEXT_SHOWN), step.holds),
        state_before=before.state if before else _first_state(step),
        state=step.state,
        codec=step.view.codec or "",
        held_before=shorten(index.trace.held_text(before), 80) if before else "",
        held=runs(index, hold[0], min(hold[1], hold[0] + TEXT_SHOWN), step.holds) if hold else [],
        held_more=max(0, hold[1] - hold[0] - TEXT_SHOWN) if hold else 0,
        reasons=list(dict.fromkeys(item.reason for item in step.holds)),
        rules=[_rule(item, number, terminals) for item in step.transitions],
        last_rule=None if step.transitions else last,
        events=[event_line(index, step, event) for event in step.events[:EVENTS_SHOWN]],
        more_events=max(0, len(step.events) - EVENTS_SHOWN),
        out=_out(step),
        announce=_announce(index, step),
        summary=_summary(step),
        hold=hold,
        hold_band=(number, index.releases[number - 1]) if hold else None,
        node=node_at(index, number),
        last_row=last.row if last else "",
        last_edge=edge_at(index, number),
        span=step.span,
    )


def _note(index: TraceIndex, step: Step) -> str:
    if step.end:
        return f"finish reason {index.trace.finish_reason}"
    return f"delta {step.index:,}, characters {step.span.start:,}–{step.span.end:,}"


def _first_state(step: Step) -> str:
    return step.transitions[0].from_state if step.transitions else step.state


def _extent(holds: tuple[Hold, ...]) -> tuple[int, int] | None:
    if not holds:
        return None
    return min(hold.start for hold in holds), max(hold.end for hold in holds)


def _rule(item: Transition, number: int, terminals: dict[str, str]) -> Rule:
    literal = terminals.get(item.trigger, "")
    return Rule(
        f"{number}.{item.sub}", item.row, item.from_state, item.trigger, literal, item.to_state, item.note, number
    )


def _last_rule(index: TraceIndex, number: int, terminals: dict[str, str]) -> Rule | None:
    fired = index.last_fired[number - 1]
    return _rule(index.step(fired).transitions[-1], fired, terminals) if fired else None


def _out(step: Step) -> str:
    if step.delta is None:
        return ""
    return shorten(json.dumps(step.delta.to_openai(), ensure_ascii=False), 4 * TEXT_SHOWN)


def _emitted(step: Step) -> list[str]:
    """What left in this step, in words."""
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
    held = f"held {extent[1] - extent[0]:,}" if extent else "held nothing"
    return f"{step.state} · {sent} · {held}"


def _announce(index: TraceIndex, step: Step) -> str:
    """The sentence for the live region."""
    text = index.trace.text[step.span.start : step.span.end]
    fed = "End of the output." if step.end else f"Fed {spell(shorten(text, 60))}."
    sent = f"Sent {', '.join(_emitted(step))}." if step.delta else "Sent nothing."
    extent = _extent(step.holds)
    held = f" Held {count(extent[1] - extent[0], 'character')}." if extent else ""
    return f"Step {step.index} of {index.total}. {fed} State {step.state}. {sent}{held}"
