"""A replay in words: what was fed, what was sent for it, and what else a check looks at."""

from __future__ import annotations

import json

from parsers.checks import Check, Subject
from parsers.checks.check import WHY
from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import Message, MessageDelta


def played(subject: Subject) -> str:
    """A replay in words: a line for each delta fed with what was sent for it, then what else the check looks at."""
    trace = subject.trace
    lines = [f"{_fed(trace, step):<36} {_delta(step.delta)}".rstrip() for step in trace.steps]
    others = [("whole", subject.whole)] if subject.whole is not None else []
    lines += [f"{label}: {_message(other.message)}" for label, other in [*others, *subject.compared]]
    lines += [
        f"{one.label}: {f'fails with {one.raised}' if one.raised else _message(one.message)}"
        for one in subject.variants
    ]
    lines += [
        f"server's chunk {number}: {', '.join(filter(None, (_delta(chunk.delta), chunk.finish_reason)))}"
        for number, chunk in enumerate(subject.server or (), start=1)
    ]
    return "\n".join(lines)


def needs(check: Check) -> str:
    """Where a check cannot run."""
    said = [f"Skipped where {WHY[need]}." for need in check.needs]
    said += [] if check.black_box else ["Skipped where only the deltas of a parser are seen."]
    return " ".join(said)


def _fed(trace: Trace, step: Step) -> str:
    return "(end)" if step.end else json.dumps(trace.text[step.span.start : step.span.end], ensure_ascii=False)


def _delta(delta: MessageDelta | None) -> str:
    return "" if delta is None else json.dumps(delta.to_openai(), ensure_ascii=False)


def _message(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    found = {"reasoning": message.reasoning, "content": message.content, "calls": calls}
    return json.dumps({key: value for key, value in found.items() if value}, ensure_ascii=False)
