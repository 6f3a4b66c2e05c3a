"""Checks of what stands beside an output: prose, another call, and the request it answers."""

from __future__ import annotations

import json
from typing import Any

from parsers.checks.check import Subject, Variant, call_words, check
from parsers.checks.robust import call_text, edited_span
from parsers.vocabulary.events import Severity
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, ToolCall


@check(
    "neighbours",
    "M1",
    "Prose or another call beside the output leaves the first call as it is, and the prose is sent once.",
    needs=("variants:neighbour",),
)
def neighbours(subject: Subject) -> list[Finding]:
    """One finding per kind of neighbour."""
    wrong: dict[str, list[Variant]] = {}
    for one in subject.of_kind("neighbour"):
        if _first(one.base) is not None and _first(one.base) != _first(one.message):
            wrong.setdefault(one.label, []).append(one)
    found = [_moved(subject, group[0]) for group in wrong.values()]
    told = set(wrong)
    for one in subject.of_kind("neighbour"):
        if one.label not in told and "prose" in one.facts and (words := _prose_words(one)):
            told.add(one.label)
            found.append(_astray(subject, one, words))
    return found


def _prose_words(one: Variant) -> str | None:
    """What became of the prose, white space apart, if not one piece of text more."""
    prose = _solid(one.facts["prose"])
    times = _texts(one.message).count(prose) - _texts(one.base).count(prose)
    if times > 1:
        return f"sends that prose {times} times"
    return "does not send that prose whole" if times < 1 and one.facts["kept"] else None


def _texts(message: Message) -> str:
    return _solid(f"{message.reasoning or ''}{message.content or ''}")


def _solid(text: str) -> str:
    return "".join(text.split())


def _astray(subject: Subject, one: Variant, words: str) -> Finding:
    step, span = edited_span(subject, one)
    level: Severity = "warning" if words.startswith("does") else "error"
    said = one.message.content or ""
    return neighbours.finding(
        f"Read {one.label}, the parser {words}.",
        severity=level,
        step=step,
        span=span,
        expected=one.facts["prose"],
        actual=said[-len(one.facts["prose"]) * 2 :],
        proof=one.proof,
    )


def _moved(subject: Subject, one: Variant) -> Finding:
    step, span = edited_span(subject, one)
    policy = one.facts.get("policy")
    level: Severity = "info" if policy else "warning" if subject.black_box and one.facts["bare"] else "error"
    calls = one.message.tool_calls
    return neighbours.finding(
        f"Read {one.label}, the output gives another first call.",
        severity=level,
        step=step,
        span=span,
        expected=call_text(one.base.tool_calls[0]),
        actual=call_text(calls[0] if calls else None),
        policy=policy,
        proof=one.proof,
    )


def _first(message: Message) -> tuple[str, str] | None:
    """The first call, if it is whole."""
    calls = message.tool_calls
    return (calls[0].name, calls[0].arguments) if calls and calls[0].complete else None


@check(
    "start_state",
    "R1",
    "The parser begins in reasoning exactly where the prompt leaves reasoning open.",
    needs=("variants:start_state",),
)
def start_state(subject: Subject) -> list[Finding]:
    """It begins elsewhere than the known prompt says; or no prompt is known, and the output leaves doubt."""
    for one in subject.of_kind("start_state"):
        if "expected" in one.facts:
            return _begins(one)
        if _said(one.message) != _said(one.base):
            return [_doubt(one)]
    return []


def _begins(one: Variant) -> list[Finding]:
    """Where the word went that stood in place of the output."""
    wanted, probe = one.facts["expected"], one.facts["probe"]
    given = "reasoning" if probe in (one.message.reasoning or "") else "content"
    if given == wanted:
        return []
    opened = "leaves reasoning open" if wanted == "reasoning" else "does not leave reasoning open"
    words = f"The prompt {opened}, but the parser begins in {given}."
    return [start_state.finding(words, expected=wanted, actual=given, proof=one.proof)]


def _doubt(one: Variant) -> Finding:
    """A note about the request, with both results."""
    marker, opens = one.facts["doubt"], one.facts["open"]
    orphan, endless = f"`{marker}` ends reasoning that never began", f"no `{marker}` ends the reasoning said to be open"
    why = orphan if opens else endless
    words = f"The prompt is not known, and {why}: {one.label}, the output gives another message."
    return start_state.finding(
        words, about="request", severity="info", expected=_said(one.message), actual=_said(one.base), proof=one.proof
    )


def _said(message: Message) -> str:
    """A message on one line."""
    calls = ", ".join([call_text(call) for call in message.tool_calls])
    parts = (("reasoning", message.reasoning), ("content", message.content), ("calls", calls))
    return "; ".join([f"{name} {text!r}" for name, text in parts if text]) or "nothing"


@check(
    "schema_changes",
    "Y3",
    "Where the declared types change an argument, that is said.",
    severity="info",
    about="output",
    needs=("tools", "variants:no_tools"),
)
def schema_changes(subject: Subject) -> list[Finding]:
    """A note per argument that reads otherwise without the tools."""
    one = subject.of_kind("no_tools")[0]
    pairs = zip(one.base.tool_calls, one.message.tool_calls, strict=False)
    return [found for index, (typed, plain) in enumerate(pairs) for found in _changes(one, index, typed, plain)]


def _changes(one: Variant, index: int, typed: ToolCall, plain: ToolCall) -> list[Finding]:
    with_types, without = object_of(typed.arguments), object_of(plain.arguments)
    if typed.name != plain.name or with_types is None or without is None:
        return []
    found = []
    for key in [key for key in with_types if key in without and not _equal(with_types[key], without[key])]:
        after, before = (json.dumps(side[key], ensure_ascii=False) for side in (with_types, without))
        words = f"The schema makes `{key}` of {call_words(index, typed.name)} {after}; as written it is {before}."
        found.append(schema_changes.finding(words, expected=before, actual=after, proof=one.proof))
    return found


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON: 1 and true, and 1 and 1.0, are not."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@check(
    "tool_choice",
    "M3",
    "With tool_choice none there are no calls; where no tools are declared, every name is accepted.",
    needs=("variants:no_calls",),
    black_box=False,
)
def tool_choice(subject: Subject) -> list[Finding]:
    """At most one finding each. (What servers do before their parser is asked cannot be seen from outside.)"""
    return [*_calls_all_the_same(subject), *_lost_without_tools(subject)][:2]


def _calls_all_the_same(subject: Subject) -> list[Finding]:
    for one in subject.of_kind("no_calls"):
        calls, message = one.message.tool_calls, one.message
        if calls:
            words = f"Read {one.label}, the output still gives {call_words(0, calls[0].name)}."
            return [tool_choice.finding(words, expected="no calls", actual=call_text(calls[0]), proof=one.proof)]
        if one.text.strip() and not (message.content or message.reasoning):
            words = f"Read {one.label}, the output gives no text at all."
            return [tool_choice.finding(words, expected=one.text, actual="no content", proof=one.proof)]
    return []


def _lost_without_tools(subject: Subject) -> list[Finding]:
    for one in subject.of_kind("no_tools"):
        rest = iter([call.name for call in one.message.tool_calls])
        lost = [(i, call) for i, call in enumerate(one.base.tool_calls) if not any(call.name == name for name in rest)]
        if lost:
            index, call = lost[0]
            words = f"Read {one.label}, the output does not give {call_words(index, call.name)}."
            actual = ", ".join([call_text(call) for call in one.message.tool_calls]) or "no calls"
            return [tool_choice.finding(words, expected=call_text(call), actual=actual, proof=one.proof)]
    return []
