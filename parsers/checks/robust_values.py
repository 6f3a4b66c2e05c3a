"""Checks of changed values: what is planted into a string argument stays there, and no length is too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from parsers.checks.base import Check, Subject, check
from parsers.checks.robust import call_text, edited_span, others_words
from parsers.checks.variants import Variant
from parsers.json_values import object_of
from parsers.trace import Finding
from parsers.types import Message, ToolCall

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
            if len(slope) > 1 and _steep(slope[0], slope[-1], timed=timed):
                return [_growth(subject, one, slope[0], slope[-1], timed=timed)]
    return []


def _growth(subject: Subject, one: Variant, least: tuple[int, int], most: tuple[int, int], *, timed: bool) -> Finding:
    (short, first), (long, last) = least, most
    words = f"For {short:,} characters the parser examines {first:,}, for {long:,} it examines {last:,}."
    if timed:
        words = f"For {short:,} characters the parser takes {first:,} µs, for {long:,} it takes {last:,} µs."
    wanted, (step, span) = f"about {first * long / short:,.0f}", edited_span(subject, one)
    return linear_arguments.finding(words, step=step, span=span, expected=wanted, actual=f"{last:,}", proof=one.proof)


def _steep(short: tuple[int, int], long: tuple[int, int], *, timed: bool) -> bool:
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
