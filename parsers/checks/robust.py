"""Checks of changed outputs that stay what they are as far as they go: cut off, damaged, followed, read again.

Each finding names the change in words and carries it as data (`Proof`). Many changes with one cause are one finding,
at the change that shows it best.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from parsers.checks.base import Subject, call_words, check, counted
from parsers.checks.variants import Variant
from parsers.compare import grade, step_at
from parsers.events import Severity
from parsers.trace import Finding
from parsers.types import Message, Span, ToolCall

_PLACE = re.compile(r" \(in [^()]*, line \d+\)$")


def edited_span(subject: Subject, variant: Variant) -> tuple[int | None, Span | None]:
    """The step and the span of the unchanged output at which a variant begins to be another one."""
    if not variant.proof.edits:
        return None, None
    start, end, _ = variant.proof.edits[0]
    return step_at(subject.trace, start), Span(start, end)


def call_text(call: ToolCall | None) -> str:
    """A call as a person writes it."""
    return "no such call" if call is None else f"{call.name}({call.arguments})"


def others_words(count: int, noun: str) -> str:
    """'; 3 more cuts do the same', or nothing."""
    return f"; {counted(count, f'more {noun}')} {'does' if count == 1 else 'do'} the same" if count else ""


AGAIN = "Read once more in the same way by a new parser instance"


@check(
    "changed_output_raised",
    "E1",
    "The parser does not fail either when the output is cut off, damaged, lengthened or followed by more.",
    needs=("variants",),
)
def changed_output_raised(subject: Subject) -> list[Finding]:
    """One finding per place in the parser's code, at the shortest change that leads there."""
    failing: dict[str, list[Variant]] = {}
    for one in subject.variants:
        if one.raised is not None:
            failing.setdefault(_cause(one.raised), []).append(one)
    return [_raised(subject, group) for group in failing.values()]


def _cause(raised: str) -> str:
    """The kind of the exception and its place: what it says may differ from output to output."""
    place = _PLACE.search(raised)
    return raised.split(":")[0] + (place.group() if place else "")


def _raised(subject: Subject, group: Sequence[Variant]) -> Finding:
    first = min(group, key=lambda one: (one.kind == "padded", len(one.proof.edits), len(one.text)))
    step, span = edited_span(subject, first)
    words = f"Read {first.label}, the parser failed: {first.raised}{others_words(len(group) - 1, 'changed output')}."
    return changed_output_raised.finding(words, step=step, span=span, proof=first.proof)


@check(
    "truncation",
    "F2",
    "Wherever the output is cut off, a call that counts as whole is a call of the whole output.",
    needs=("variants:truncated",),
)
def truncation(subject: Subject) -> list[Finding]:
    """One finding per call that a cut makes up or changes. Calls that count as cut off may say anything.

    A parser that only shows its deltas cannot say that a call is cut off: there it is a warning.
    """
    wrong: dict[int, list[tuple[Variant, ToolCall]]] = {}
    for one in subject.of_kind("truncated"):
        made_up = _made_up(one.message, one.base)
        if made_up is not None:
            wrong.setdefault(made_up, []).append((one, one.message.tool_calls[made_up]))
    return [_guessed(subject, index, cuts) for index, cuts in wrong.items()]


def _made_up(message: Message, whole: Message) -> int | None:
    """The first whole call that is not, in order, among the calls of the whole output."""
    rest = iter(whole.tool_calls)
    for index, call in enumerate(message.tool_calls):
        if call.complete and not any((call.name, call.arguments) == (one.name, one.arguments) for one in rest):
            return index
    return None


def _guessed(subject: Subject, index: int, cuts: Sequence[tuple[Variant, ToolCall]]) -> Finding:
    one, call = cuts[-1]
    whole = one.base.tool_calls
    step, span = edited_span(subject, one)
    policy = one.facts.get("policy")
    level: Severity = "info" if policy else "warning" if subject.black_box else "error"
    what = call_words(index, call.name)
    words = f"{one.label.capitalize()}, the output gives {what} as whole, but the whole output has no such call"
    return truncation.finding(
        words + others_words(len(cuts) - 1, "cut") + ".",
        severity=level,
        step=step,
        span=span,
        expected=call_text(whole[index] if index < len(whole) else None),
        actual=call_text(call),
        policy=policy,
        proof=one.proof,
    )


@check(
    "recovers",
    "E2",
    "A valid call after the output, or after the output with one marker missing or doubled, is found.",
    needs=("variants:followed",),
)
def recovers(subject: Subject) -> list[Finding]:
    """At most two findings: for the output as it is, and for a damaged one. Both only where the format is at rest."""
    lost = [one for one in subject.of_kind("followed") if not _found(one)]
    groups = ([one for one in lost if not one.facts["changed"]], [one for one in lost if one.facts["changed"]])
    return [_lost(subject, group) for group in groups if group]


def _found(one: Variant) -> bool:
    name, arguments = one.facts["expected"][-1]
    already: int = one.facts["already"]
    return sum([(call.name, call.arguments) == (name, arguments) for call in one.message.tool_calls]) > already


def _unsure(one: Variant) -> bool:
    """Whether servers may differ: in damaged outputs, and where a call begins without a marker."""
    return bool(one.facts["changed"] or one.facts["bare"])


def _lost(subject: Subject, group: Sequence[Variant]) -> Finding:
    one = group[0]
    step, span = edited_span(subject, one)
    policy = one.facts.get("policy")
    level: Severity = "info" if policy else "warning" if subject.black_box and _unsure(one) else "error"
    name, arguments = one.facts["expected"][-1]
    words = f"Read {one.label}, the output does not give that call{others_words(len(group) - 1, 'changed output')}."
    calls = ", ".join([call_text(call) for call in one.message.tool_calls])
    return recovers.finding(
        words,
        severity=level,
        step=step,
        span=span,
        expected=f"{name}({arguments})",
        actual=calls or "no calls",
        policy=policy,
        proof=one.proof,
    )


@check(
    "reusable",
    "C4",
    "A parser gives the same message again: a new instance, and one that has read something else.",
    needs=("variants:reused",),
)
def reusable(subject: Subject) -> list[Finding]:
    """At most one finding, with the first use that left something behind."""
    rules = replace(subject.rules, ids=subject.rules.ids and not subject.black_box)
    for one in subject.of_kind("reused"):
        level = grade(one.base, one.message, rules)
        if level is None and not any(one.facts.get("failures", ())):
            continue
        who = AGAIN if "failures" in one.facts else f"Read by the same parser instance {one.label}"
        what, expected, actual = _unlike(one)
        found = reusable.finding(f"{who}, {what}.", expected=expected, actual=actual, proof=one.proof)
        found.grade = level
        return [found]
    return []


def _unlike(one: Variant) -> tuple[str, str, str]:
    """How a second reading differs from the first, in words, and what each gave."""
    before, now = one.facts.get("failures", (None, None))
    if now is not None:
        return f"the parser fails with {now}", before or "", now
    if before is not None:
        return f"the parser does not fail, as it did before with {before}", before, ""
    channel, expected, actual = message_difference(one.base, one.message)
    return f"the output gives another message: {channel} differs", expected, actual


def message_difference(a: Message, b: Message) -> tuple[str, str, str]:
    """Where two messages differ, in words, and what each has there."""
    pairs: Iterable[tuple[str, str, str]] = (
        ("the reasoning", a.reasoning or "", b.reasoning or ""),
        ("the content", a.content or "", b.content or ""),
        ("the number of calls", str(len(a.tool_calls)), str(len(b.tool_calls))),
        *[
            (call_words(index, one.name), call_text(one), call_text(other))
            for index, (one, other) in enumerate(zip(a.tool_calls, b.tool_calls, strict=False))
        ],
    )
    different = [pair for pair in pairs if pair[1] != pair[2]]
    return different[0] if different else ("the id or the end of a call", "", "")
