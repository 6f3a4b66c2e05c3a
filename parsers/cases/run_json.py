"""A run as JSON: the object that `replay --json` prints and POST /api/v1/replay answers.

Everything that could grow with the square of the output is bounded: a step shows at most HELD_CHARACTERS of what is
held, and says the spans of all of it.
"""

from __future__ import annotations

from typing import Any

from parsers.cases.run import CaseRun
from parsers.events import CallEnd, Diagnostic, Dropped, Event, Marker, Segment, TextEvent
from parsers.trace import Ownership, Step, Trace, Transition

HELD_CHARACTERS = 512


def run_json(run: CaseRun) -> dict[str, Any]:
    """The whole run. Absent text is null; owners are content, reasoning, name, id, arguments, marker, dropped."""
    trace = run.trace
    return {
        "parser": trace.parser,
        "reasons": list(trace.reasons),
        "mode": trace.mode,
        "chunking": trace.chunking,
        "message": trace.message.to_json(),
        "finish_reason": trace.finish_reason,
        "whole": run.whole.message.to_json(),
        "rejected_calls": [call.to_json() for call in trace.rejected_calls],
        "partition": [_owned(owned) for owned in trace.partition],
        "deltas": [None if delta is None else delta.to_openai() for delta in trace.deltas],
        "findings": [finding.to_json() for finding in run.findings],
        "steps": [step_json(trace, step) for step in trace.steps],
    }


def step_json(trace: Trace, step: Step) -> dict[str, Any]:
    """One step of a trace."""
    return {
        "index": step.index,
        "span": list(step.span),
        "text": trace.text[step.span.start : step.span.end],
        "ids": list(step.ids),
        "state": step.state,
        "held": _held(trace, step),
        "holds": [{"span": [h.start, h.end], "kind": h.kind, "reason": h.reason} for h in step.holds],
        "transitions": [_transition(moved) for moved in step.transitions],
        "events": [event_json(event) for event in step.events],
        "delta": None if step.delta is None else step.delta.to_openai(),
    }


def event_json(event: Event) -> dict[str, Any]:
    """One event: its type, its span, and what its type carries."""
    out: dict[str, Any] = {"type": event.kind, "span": [event.start, event.end]}
    call = getattr(event, "call", None)
    if call is not None:
        out["call"] = call
    if isinstance(event, TextEvent):
        out |= {"text": event.text, "segments": [_segment(part) for part in event.parts()]}
    elif isinstance(event, CallEnd):
        out["complete"] = event.complete
    elif isinstance(event, Marker):
        out["terminal"] = event.terminal
    elif isinstance(event, Dropped):
        out["reason"] = event.reason
    elif isinstance(event, Diagnostic):
        out |= {"code": event.code, "severity": event.severity, "message": event.message}
    return out


def _held(trace: Trace, step: Step) -> str | None:
    start = min((hold.start for hold in step.holds), default=0)
    end = max((hold.end for hold in step.holds), default=0)
    text = trace.text[start : min(end, start + HELD_CHARACTERS)]
    return (text + "…" if end - start > HELD_CHARACTERS else text) or None


def _owned(owned: Ownership) -> list[Any]:
    return [owned.start, owned.end, owned.owner, owned.reason]


def _segment(part: Segment) -> dict[str, Any]:
    return {"text": part.text, "span": [part.start, part.end], "kind": part.kind}


def _transition(moved: Transition) -> dict[str, Any]:
    return {
        "from": moved.from_state,
        "trigger": moved.trigger,
        "to": moved.to_state,
        "row": moved.row,
        "span": [moved.start, moved.end],
        "note": moved.note,
    }
