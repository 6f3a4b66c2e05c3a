"""Metamorphic tests of the output: changed outputs stay what they are as far as they go.

An output is cut off, damaged, followed, lengthened or read again (`Variant`), and what is known to stay the same is
compared. Many changes with one cause are one finding, at the change that shows it best.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from parsers.checks.changes import Differs, weight_of
from parsers.checks.check import MEASURES, Check, Need, check
from parsers.checks.second_reading import call_text, second_reading
from parsers.checks.subject import Subject, Variant
from parsers.compare.divergence import grade, same_message
from parsers.vocabulary.channels import call_words
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Message, Span, ToolCall
from parsers.vocabulary.words import counted

SLOPE, TIMED_SLOPE = 1.3, 1.6  # work, and time, grow with the length to this power at most
_SPENT = {"work": ("examines", ""), "lines": ("executes", " lines"), "times": ("takes", " µs")}
TELLING = 20_000  # microseconds below which a time says nothing


def changed_at(subject: Subject, one: Variant, *, judged: bool = True) -> dict[str, Any]:
    """Return where a variant begins to be another output, as `Check.finding` takes it. A contract that allows what came
    of it makes the finding a note, and so does a policy that the variant is under, unless it is not `judged` by one."""
    found = {"proof": one.proof, "policy": one.facts.get("allowed") or (one.facts.get("policy") if judged else None)}
    for start, end, _ in one.proof.edits[:1]:
        found |= {"step": subject.trace.step_at(start), "span": Span(start, end)}
    return found


def unallowed(variants: Iterable[Variant]) -> list[Variant]:
    """Those of some variants that no contract allows; all of them where it allows each."""
    found = list(variants)
    return [one for one in found if one.facts.get("allowed") is None] or found


def calls_text(calls: Iterable[ToolCall]) -> str:
    """Some calls as a person writes them."""
    return ", ".join(map(call_text, calls)) or "no calls"


def depends_on_chunks(subject: Subject) -> bool:
    """Return whether the output itself gives another message under other chunkings: that is told by itself."""
    others = [trace.message for _, trace in subject.replays.compared if trace.failure is None]
    return any(not same_message(subject.trace.message, one, subject.rules) for one in others)


def _others_words(group: Sequence[object], noun: str) -> str:
    rest = len(group) - 1
    return f"; {counted(rest, f'more {noun}')} {'does' if rest == 1 else 'do'} the same" if rest else ""


def _by_fact(variants: Iterable[Variant], fact: str) -> list[list[Variant]]:
    """Those of which a fact does not hold, and those of which it does, where there are any."""
    found = list(variants)
    return [group for holds in (False, True) if (group := [one for one in found if bool(one.facts[fact]) is holds])]


@check(
    "E1",
    "The parser does not fail either when the output is cut off, damaged, lengthened or followed by more.",
    needs=(Need.VARIANTS,),
)
def _changed_output_raised(subject: Subject) -> Iterator[Finding]:
    failing: dict[tuple[str, str], list[Variant]] = {}
    for one in subject.variants:
        if one.raised is not None:
            failing.setdefault((one.raised.kind, one.raised.place), []).append(one)
    for group in failing.values():
        first = min(group, key=lambda one: (one.kind == "padded", len(one.proof.edits), len(one.text)))
        failure, others = first.raised, _others_words(group, "changed output")
        assert failure is not None
        said = f"is too slow: it was {failure.message}" if failure.slow else f"failed: {failure}"
        message, topic = f"Read {first.label}, the parser {said}{others}.", Topic.SLOW if failure.slow else None
        yield _changed_output_raised.finding(message, topic=topic, **changed_at(subject, first, judged=False))


@check(
    "F2",
    "Wherever the output is cut off, a call that is given as complete is a call of the uncut output.",
    needs=(Need.TRUNCATED,),
)
def _truncation(subject: Subject) -> Iterator[Finding]:
    """One finding per call that a cut makes up or changes. Calls that count as cut off may say anything.

    A parser that only shows its deltas cannot say that a call is cut off: there it is a warning.
    """
    wrong: dict[int, list[Variant]] = {}
    for one in subject.of_kind("truncated"):
        index = made_up_call(one.message, one.base)
        if index is not None:
            wrong.setdefault(index, []).append(one)
    for index, cuts in [(index, unallowed(cuts)) for index, cuts in wrong.items()]:
        one, whole = cuts[-1], cuts[-1].base.tool_calls
        call = one.message.tool_calls[index]
        gives = f"{one.label.capitalize()}, the parser gives {call_words(index, call.name)} as complete"
        known = any(call.name == one.name for one in whole)
        but = "with other arguments than uncut" if known else "which it does not give of the uncut output"
        yield _truncation.finding(
            f"{gives}, {but}{_others_words(cuts, 'cut')}.",
            severity=weight_of(subject, one.kind, Differs.CALL_MADE_UP, sure=not subject.black_box),
            expected=call_text(whole[index] if index < len(whole) else None),
            actual=call_text(call),
            **changed_at(subject, one),
        )


def made_up_call(message: Message, whole: Message) -> int | None:
    """The first complete call of a cut output that is not, in order, among the calls of the whole output."""
    rest = iter(whole.tool_calls)
    for index, call in enumerate(message.tool_calls):
        if call.complete and not any((call.name, call.arguments) == (one.name, one.arguments) for one in rest):
            return index
    return None


@check(
    "E2",
    "A valid call after the output, or after the output with one marker missing or doubled, is found.",
    needs=(Need.FOLLOWED,),
)
def _recovers(subject: Subject) -> Iterator[Finding]:
    """At most two findings: for the output as it is, and for a damaged one. Both only where the format is at rest.

    What is lost under one of its chunkings alone is no second fault of a parser whose message depends on them anyway.
    """
    followed = subject.of_kind("followed")
    lost = [one for one in followed if _lost(one)]
    if depends_on_chunks(subject):
        found = {one.text for one in followed if not _lost(one)}
        lost = [one for one in lost if one.text not in found]
    for group in map(unallowed, _by_fact(lost, "changed")):
        one = group[0]
        # Servers may differ in damaged outputs, and where a call begins without a marker.
        unsure = subject.black_box and (one.facts["changed"] or one.facts["bare"])
        missing, known = _lost(one), [*map(tuple, one.facts["given"])]
        again = " once more" if any(call in known for call in missing) else ""
        that = f"the call to {missing[0][0]}" if len(one.facts["expected"]) > 1 else "that call"
        yield _recovers.finding(
            f"Read {one.label}, the output does not give {that}{again}{_others_words(group, 'changed output')}.",
            severity=weight_of(subject, one.kind, Differs.CALL_LOST, sure=not unsure),
            expected=", ".join([f"{name}({arguments})" for name, arguments in [*known, *one.facts["expected"]]]),
            actual=calls_text(one.message.tool_calls),
            **changed_at(subject, one),
        )


def _lost(one: Variant) -> list[tuple[str, str]]:
    """The appended calls that the output does not give beside those that the same parser reads without them. A damaged
    output may take the first of them with it."""
    left = Counter((each.name, each.arguments) for each in one.message.tool_calls)
    left.subtract(map(tuple, one.facts["given"]))
    expected = one.facts["expected"][-1:] if one.facts["changed"] else one.facts["expected"]
    appended = Counter(map(tuple, expected))
    return [call for call, times in appended.items() if left[call] < times]


@check(
    "C4",
    "A parser gives the same message again: a new instance, and one that has read something else.",
    needs=(Need.REUSED,),
)
def _reusable(subject: Subject) -> Iterator[Finding]:
    """At most one finding, with the first use that left something behind. That of a new instance is chance."""
    for one in subject.of_kind("reused"):
        level, failures = grade(one.base, one.message, subject.rules), one.facts.get("failures", (None, None))
        before, now = one.facts.get("numbers", ((), ()))
        goes_on = level is None and not any(failures) and len(before) == len(now) and before != now
        if level is None and not any(failures) and not goes_on:
            continue
        is_new = "failures" in one.facts
        who = f"Read by the same parser instance {one.label}"
        who = "Read once more in the same way by a new parser instance" if is_new else who
        read = _other_numbers(before, now) if goes_on else second_reading(one.base, one.message, *failures)
        what, expected, actual = read
        yield _reusable.finding(
            f"{who}, {what}.",
            topic=Topic.CHANCE if is_new else None,
            expected=expected,
            actual=actual,
            grade=level,
            proof=one.proof,
        )
        return


def _other_numbers(before: Sequence[int], now: Sequence[int]) -> tuple[str, str, str]:
    """Return that the calls of a second request have other numbers than those of the first, in words, and both."""
    expected, actual = (", ".join(map(str, numbers)) for numbers in (before, now))
    return f"the numbers of its calls go on from those of another request: {actual}, not {expected}", expected, actual


# Changed values: what is planted into a string argument stays there, and no length is too long.


@check("M2", "Markers, braces and quotes inside a string argument stay part of it.", needs=(Need.ESCAPED,))
def _escapes(subject: Subject) -> Iterator[Finding]:
    """At most three findings: signs that break out of a value, markers that do, and markers that no syntax can write.

    Text between tags has no escapes: a marker in it is the format's limit, and said as a note.
    """
    broken = [one for one in subject.of_kind("escaped") if _value_difference(one) is not None]
    limits = [one for one in broken if one.facts["syntax"] == "bare" and one.facts["marker"]]
    for group in _by_fact((one for one in broken if one not in limits), "marker"):
        others = _others_words(_plants(group), "text")
        message = f"Read {group[0].label}, the output gives another message than with a plain word there{others}."
        yield _value_finding(_escapes, subject, group[0], message)
    if limits:
        plants = ", ".join([f"`{plant}`" for plant in _plants(limits)])
        message = f"The format has no escapes: an argument that contains {plants} cannot round-trip."
        place = changed_at(subject, limits[0], judged=False)
        yield _escapes.finding(message, severity="info", about="output", **place)


def _plants(group: Sequence[Variant]) -> list[str]:
    return list(dict.fromkeys([one.facts["plant"] for one in group]))


@check("P3", "A string argument of any length arrives whole and changes nothing else.", needs=(Need.PADDED,))
def _no_length_cap(subject: Subject) -> Iterator[Finding]:
    wrong = [one for one in subject.of_kind("padded") if _value_difference(one) is not None]
    for one in sorted(wrong, key=lambda one: int(one.facts["size"]))[:1]:
        calls, index, wanted = one.message.tool_calls, one.facts["call"], len(one.facts["value"])
        arguments = object_of(calls[index].arguments) if index < len(calls) else None
        value = (arguments or {}).get(one.facts["key"])
        arrived = isinstance(value, str) and len(value) != wanted
        how = f": {len(str(value)):,} of {wanted:,} arrive" if arrived else ""
        message = f"Read {one.label}, the output gives another message than with a short one{how}."
        yield _value_finding(_no_length_cap, subject, one, message)


def _value_finding(of: Check, subject: Subject, one: Variant, message: str) -> Finding:
    expected, actual = _value_difference(one) or ("", "")
    weight = weight_of(subject, one.kind, Differs.VALUE)
    return of.finding(message, severity=weight, expected=expected, actual=actual, **changed_at(subject, one))


@check(
    "P1",
    "Twice as long an argument takes about twice the work.",
    severity="warning",
    needs=(Need.PADDED, Need.MEASURED),
)
def _linear_arguments(subject: Subject) -> Iterator[Finding]:
    for one in subject.of_kind("padded"):
        for cost in MEASURES:
            slope = one.facts.get(cost, ())
            if not grows_steeply(slope, timed=cost == "times"):
                continue
            takes, wanted, given = spent_words(slope, cost)
            place = changed_at(subject, one, judged=False)
            weight = weight_of(subject, one.kind, Differs.WORK)
            yield _linear_arguments.finding(takes, severity=weight, expected=wanted, actual=given, **place)
            return


def spent_words(slope: Sequence[tuple[int, int]], cost: str) -> tuple[str, str, str]:
    """What the shortest and the longest length take, what the longest should, and what it does, in words."""
    (short, first), (long, last) = slope[0], slope[-1]
    verb, unit = _SPENT[cost]
    takes = f"For {short:,} characters the parser {verb} {first:,}{unit}, for {long:,} it {verb} {last:,}{unit}."
    return takes, f"about {first * long / short:,.0f}", f"{last:,}"


def grows_steeply(slope: Sequence[tuple[int, int]], *, timed: bool) -> bool:
    """Return whether (length, what was spent) grows clearly faster than the length, from the first to the last length
    and from the last but one to the last."""
    if len(slope) < 2:
        return False
    return all(is_steep(one, slope[-1], timed=timed) for one in (slope[0], slope[-2]))


def is_steep(short: tuple[int, int], long: tuple[int, int], *, timed: bool) -> bool:
    """Return whether work grows clearly faster than the length. Times are uncertain, and short ones say nothing."""
    if timed and long[1] < TELLING:
        return False
    most: float = short[1] * (long[0] / short[0]) ** (TIMED_SLOPE if timed else SLOPE)
    return long[1] > most


def _value_difference(one: Variant) -> tuple[str, str] | None:
    """Return what was expected of a changed value and what came; None where it is the same."""
    index, key, value = one.facts["call"], one.facts["key"], one.facts["value"]
    if index >= len(one.base.tool_calls):
        return None
    wanted = object_of(one.base.tool_calls[index].arguments)
    if wanted is None or wanted.get(key) != one.facts["was"]:
        return None  # the parser reads the output itself otherwise: that is another finding
    wanted[key] = value
    calls = [_with_values(call) for call in one.base.tool_calls]
    calls[index] = (calls[index][0], wanted)
    given = [_with_values(call) for call in one.message.tool_calls]
    if calls == given and _texts(one.base) == _texts(one.message):
        return None
    actual = f"that call, and the content {one.message.content or ''!r}"
    actual = actual if given == calls else calls_text(one.message.tool_calls)
    return f"{calls[index][0]}({json.dumps(wanted, ensure_ascii=False)})", actual


def _with_values(call: ToolCall) -> tuple[str, Any]:
    found = object_of(call.arguments)
    return call.name, call.arguments if found is None else found


def _texts(message: Message) -> tuple[str, str]:
    return message.content or "", message.reasoning or ""
