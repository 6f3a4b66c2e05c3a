"""Checks of changed outputs that stay what they are as far as they go: cut off, damaged, followed, read again.

Each finding names the change in words and carries it as data (`Proof`). Many changes with one cause are one finding,
at the change that shows it best.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from parsers.checks.check import Check, Subject, Variant, call_words, check, counted
from parsers.compare.divergence import grade, step_at
from parsers.vocabulary.events import Severity
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, Span, ToolCall

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


# Checks of changed values: what is planted into a string argument stays there, and no length is too long.

SLOPE, TIMED_SLOPE = 1.3, 1.6  # work, and time, grow with the length to this power at most
TELLING = 20_000  # microseconds below which a time says nothing


@check(
    "escapes",
    "M2",
    "Markers, braces and quotes inside a string argument stay part of it.",
    needs=("variants:escaped",),
)
def escapes(subject: Subject) -> list[Finding]:
    """At most three findings: signs that break out of a value, markers that do, and markers that no syntax can write.

    Text between tags has no escapes: a marker in it is the format's limit, and said as a note.
    """
    broken = [one for one in subject.of_kind("escaped") if difference(one) is not None]
    limits = [one for one in broken if one.facts["syntax"] == "bare" and one.facts["marker"]]
    found = [one for one in broken if one not in limits]
    groups = ([one for one in found if not one.facts["marker"]], [one for one in found if one.facts["marker"]])
    findings = [_broken_out(subject, group) for group in groups if group]
    return [*findings, _limit(subject, limits)] if limits else findings


def _broken_out(subject: Subject, group: Sequence[Variant]) -> Finding:
    one = group[0]
    words = f"Read {one.label}, the output gives another message than with a plain word there"
    return _value_finding(subject, one, words + others_words(len(_plants(group)) - 1, "text") + ".")


def _limit(subject: Subject, group: Sequence[Variant]) -> Finding:
    """The note that a format without escapes cannot say its own markers."""
    plants = ", ".join([f"`{plant}`" for plant in _plants(group)])
    words = f"The format has no escapes: an argument that contains {plants} cannot round-trip."
    step, span = edited_span(subject, group[0])
    return escapes.finding(words, severity="info", about="output", step=step, span=span, proof=group[0].proof)


def _plants(group: Sequence[Variant]) -> list[str]:
    return list(dict.fromkeys([one.facts["plant"] for one in group]))


@check(
    "no_length_cap",
    "P3",
    "A string argument of any length arrives whole and changes nothing else.",
    needs=("variants:padded",),
)
def no_length_cap(subject: Subject) -> list[Finding]:
    """At most one finding: the smallest length that is too long."""
    wrong = [one for one in subject.of_kind("padded") if difference(one) is not None]
    if not wrong:
        return []
    one = min(wrong, key=lambda one: one.facts["size"])
    words = f"Read {one.label}, the output gives another message than with a short one{_length_words(one)}."
    return [_value_finding(subject, one, words, no_length_cap)]


def _length_words(one: Variant) -> str:
    """How much of the value arrived, where its call did."""
    calls = one.message.tool_calls
    arguments = object_of(calls[one.facts["call"]].arguments) if one.facts["call"] < len(calls) else None
    value = (arguments or {}).get(one.facts["key"])
    wanted = len(one.facts["value"])
    return f": {len(value):,} of {wanted:,} arrive" if isinstance(value, str) and len(value) != wanted else ""


@check(
    "linear_arguments",
    "P1",
    "Twice as long an argument takes about twice the work.",
    severity="warning",
    needs=("variants:padded",),
)
def linear_arguments(subject: Subject) -> list[Finding]:
    """At most one finding, from what was examined for three lengths of the argument, or from the time they took."""
    for one in subject.of_kind("padded"):
        for timed, slope in ((False, one.facts["work"]), (True, one.facts["times"])):
            if len(slope) > 1 and is_steep(slope[0], slope[-1], timed=timed):
                return [_growth(subject, one, slope[0], slope[-1], timed=timed)]
    return []


def _growth(subject: Subject, one: Variant, least: tuple[int, int], most: tuple[int, int], *, timed: bool) -> Finding:
    (short, first), (long, last) = least, most
    words = f"For {short:,} characters the parser examines {first:,}, for {long:,} it examines {last:,}."
    if timed:
        words = f"For {short:,} characters the parser takes {first:,} µs, for {long:,} it takes {last:,} µs."
    wanted, (step, span) = f"about {first * long / short:,.0f}", edited_span(subject, one)
    return linear_arguments.finding(words, step=step, span=span, expected=wanted, actual=f"{last:,}", proof=one.proof)


def is_steep(short: tuple[int, int], long: tuple[int, int], *, timed: bool) -> bool:
    """Whether work grows clearly faster than the length. Times are uncertain, and short ones say nothing."""
    if timed and long[1] < TELLING:
        return False
    most: float = short[1] * (long[0] / short[0]) ** (TIMED_SLOPE if timed else SLOPE)
    return long[1] > most


def _value_finding(subject: Subject, one: Variant, words: str, of: Check | None = None) -> Finding:
    expected, actual = difference(one) or ("", "")
    step, span = edited_span(subject, one)
    policy = one.facts.get("policy")
    return (of or escapes).finding(
        words,
        severity="info" if policy else None,
        step=step,
        span=span,
        expected=expected,
        actual=actual,
        policy=policy,
        proof=one.proof,
    )


def difference(one: Variant) -> tuple[str, str] | None:
    """What was expected of a changed value and what came; None where it is the same."""
    index, key, value = one.facts["call"], one.facts["key"], one.facts["value"]
    if index >= len(one.base.tool_calls):
        return None
    wanted = object_of(one.base.tool_calls[index].arguments)
    if wanted is None or wanted.get(key) != one.facts["was"]:
        return None  # the parser reads the output itself otherwise: that is another finding
    wanted[key] = value
    calls = [_readable(call) for call in one.base.tool_calls]
    calls[index] = (calls[index][0], wanted)
    if calls == [_readable(call) for call in one.message.tool_calls] and _texts(one.base) == _texts(one.message):
        return None
    expected = f"{calls[index][0]}({json.dumps(wanted, ensure_ascii=False)})"
    return expected, _given(one, calls)


def _given(one: Variant, wanted: list[tuple[str, Any]]) -> str:
    given = one.message.tool_calls
    if len(given) == len(wanted) and [_readable(call) for call in given] == wanted:
        return f"that call, and the content {one.message.content or ''!r}"
    return ", ".join([call_text(call) for call in given]) or "no calls"


def _readable(call: ToolCall) -> tuple[str, Any]:
    found = object_of(call.arguments)
    return call.name, call.arguments if found is None else found


def _texts(message: Message) -> tuple[str, str]:
    return message.content or "", message.reasoning or ""
