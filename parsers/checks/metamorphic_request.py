"""Metamorphic tests of what stands beside an output: prose, another call, the request, and what a template writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from parsers.checks.changes import Differs, weight_of
from parsers.checks.check import Need, check
from parsers.checks.metamorphic_output import calls_text, changed_at
from parsers.checks.second_reading import call_text
from parsers.checks.subject import Subject, Variant
from parsers.compare.divergence import Rules, same_message
from parsers.vocabulary.channels import call_words
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message

SAME_CALLS = Rules(arguments="json", ids=False)


@check(
    "M1",
    "Prose or another call beside the output leaves the first call as it is, and the prose is sent once.",
    needs=(Need.NEIGHBOUR,),
)
def _neighbours(subject: Subject) -> Iterator[Finding]:
    found: set[str] = set()
    for one in subject.of_kind("neighbour"):
        first, calls = _first_call(one.base), one.message.tool_calls
        unsure = subject.black_box and one.facts["bare"]
        if one.label not in found and first is not None and first != _first_call(one.message):
            found.add(one.label)
            yield _neighbours.finding(
                f"Read {one.label}, the output gives another first call.",
                severity=weight_of(subject, one.kind, Differs.CALL_CHANGED, sure=not unsure),
                expected=call_text(one.base.tool_calls[0]),
                actual=call_text(calls[0] if calls else None),
                **changed_at(subject, one),
            )
    for one in subject.of_kind("neighbour"):
        times = _prose_count(one) if one.label not in found and "prose" in one.facts else 1
        if times > 1 or (times < 1 and one.facts["kept"]):
            found.add(one.label)
            fate = f"sends that prose {times} times" if times > 1 else "does not send that prose whole"
            yield _neighbours.finding(
                f"Read {one.label}, the parser {fate}.",
                severity=weight_of(subject, one.kind, Differs.TEXT_TWICE if times > 1 else Differs.TEXT_LOST),
                expected=one.facts["prose"],
                actual=(one.message.content or "")[-len(one.facts["prose"]) * 2 :],
                **changed_at(subject, one, judged=False),
            )


def _first_call(message: Message) -> tuple[str, str] | None:
    calls = message.tool_calls
    return (calls[0].name, calls[0].arguments) if calls and calls[0].complete else None


def _prose_count(one: Variant) -> int:
    """Return how many times more than without it the prose is sent, white space apart."""
    prose = "".join(one.facts["prose"].split())
    after, before = ("".join(f"{m.reasoning or ''}{m.content or ''}".split()) for m in (one.message, one.base))
    return after.count(prose) - before.count(prose)


@check(
    "R1",
    "The parser begins in reasoning exactly where the prompt leaves reasoning open.",
    needs=(Need.START_STATE,),
)
def _start_state(subject: Subject) -> Iterator[Finding]:
    """It begins elsewhere than the known prompt says; or no prompt is known, and the output leaves doubt."""
    yield from islice(filter(None, [_wrong_start(subject, one) for one in subject.of_kind("start_state")]), 1)


# Who says where the output begins, by whether anybody does.
_START = {True: "The request says how the output begins, but", False: "The prompt is not known, and"}


def _wrong_start(subject: Subject, one: Variant) -> Finding | None:
    """Return where the word went that stood in place of the output; else a note about the request, with both
    results."""
    if "expected" in one.facts:
        wanted, given = one.facts["expected"], "content"
        given = "reasoning" if one.facts["probe"] in (one.message.reasoning or "") else given
        opened = "leaves reasoning open" if wanted == "reasoning" else "does not leave reasoning open"
        message = f"The prompt {opened}, but the parser begins in {given}."
        finding = _start_state.finding(message, expected=wanted, actual=given, proof=one.proof)
    else:
        wanted, given, marker = _on_one_line(one.message), _on_one_line(one.base), one.facts["doubt"]
        why = f"no `{marker}` ends the reasoning said to be open"
        why = f"`{marker}` ends reasoning that never began" if one.facts["open"] else why
        finding = _start_state.finding(
            f"{_START[subject.known.start]} {why}: {one.label}, the output gives another message.",
            about="request",
            severity="info",
            expected=wanted,
            actual=given,
            proof=one.proof,
        )
    return None if given == wanted else finding


def _on_one_line(message: Message) -> str:
    calls = ", ".join(map(call_text, message.tool_calls))
    parts = (("reasoning", message.reasoning), ("content", message.content), ("calls", calls))
    return "; ".join([f"{name} {text!r}" for name, text in parts if text]) or "nothing"


@check(
    "Y3",
    "Where the declared types change an argument, that is said.",
    severity="info",
    about="output",
    needs=(Need.TOOLS, Need.NO_TOOLS),
)
def _schema_changes(subject: Subject) -> Iterator[Finding]:
    one = subject.of_kind("no_tools")[0]
    for index, (typed, plain) in enumerate(zip(one.base.tool_calls, one.message.tool_calls, strict=False)):
        after, before = object_of(typed.arguments), object_of(plain.arguments)
        if typed.name != plain.name or after is None or before is None:
            continue
        for key in [key for key in after if key in before and _as_json(after[key]) != _as_json(before[key])]:
            made, written = (json.dumps(side[key], ensure_ascii=False) for side in (after, before))
            words = call_words(index, typed.name)
            message = f"The schema makes `{key}` of {words} {made}; as written it is {written}."
            yield _schema_changes.finding(message, expected=written, actual=made, proof=one.proof)


def _as_json(value: Any) -> str:
    """Return what two values share that are the same JSON: 1 and true, and 1 and 1.0, are not."""
    return json.dumps(value, sort_keys=True)


@check(
    "M3",
    "With tool_choice none there are no calls; where no tools are declared, every name is accepted.",
    needs=(Need.INSIGHT, Need.NO_CALLS),
)
def _tool_choice(subject: Subject) -> Iterator[Finding]:
    """At most one finding each. (What servers do before their parser is asked cannot be seen from outside.)"""
    for one in subject.of_kind("no_calls"):
        calls, message = one.message.tool_calls, one.message
        if calls:
            words = f"Read {one.label}, the output still gives {call_words(0, calls[0].name)}."
            yield _chosen(subject, one, Differs.CALL_KEPT, words, ("no calls", call_text(calls[0])))
            break
        if one.text.strip() and not (message.content or message.reasoning):
            words = f"Read {one.label}, the output gives no text at all."
            yield _chosen(subject, one, Differs.TEXT_LOST, words, (one.text, "no content"))
            break
    for one in subject.of_kind("no_tools"):
        rest = iter([call.name for call in one.message.tool_calls])
        lost = [(i, call) for i, call in enumerate(one.base.tool_calls) if not any(call.name == name for name in rest)]
        if lost:
            index, call = lost[0]
            words = f"Read {one.label}, the output does not give {call_words(index, call.name)}."
            sides = call_text(call), calls_text(one.message.tool_calls)
            yield _chosen(subject, one, Differs.CALL_LOST, words, sides)
            break


def _chosen(subject: Subject, one: Variant, differs: Differs, words: str, sides: tuple[str, str]) -> Finding:
    weight, (expected, actual) = weight_of(subject, one.kind, differs), sides
    return _tool_choice.finding(words, severity=weight, expected=expected, actual=actual, proof=one.proof)


@check(
    "M4",
    "The calls, written again by the chat template and parsed, are the same calls.",
    severity="warning",
    needs=(Need.RERENDERED,),
)
def _rerenders(subject: Subject) -> Iterator[Finding]:
    """What the template writes is compared by value; a note says where it cannot write the calls, or needs text."""
    variants, calls = subject.of_kind("rerendered"), Message(tool_calls=subject.calls)
    written = [one for one in variants if "problem" not in one.facts]
    other = [one for one in written if not same_message(calls, Message(tool_calls=one.message.tool_calls), SAME_CALLS)]
    wrong = {one.facts.get("spelling"): one for one in reversed(other)}
    right = {one.facts.get("spelling") for one in written} - wrong.keys()
    if "object" in right:
        return  # servers give templates objects; what this one makes of text is nobody's concern
    for one in variants:
        if "problem" in one.facts and one.facts["spelling"] == "object":
            yield _rerenders.finding(f"{one.label}: {one.facts['problem']}", severity="info", about="request")
    for spelling in sorted(wrong, key=str)[:1]:
        one = wrong[spelling]
        sides = (subject.calls, one.message.tool_calls)
        texts = ["; ".join([f"{call.name} {call.arguments}" for call in side]) or "no call" for side in sides]
        # Where arguments as text give the same calls, that is a contract of template and server.
        hint = " As text they are the same: this template needs a server that gives it arguments as text."
        yield _rerenders.finding(
            f"{one.label}: the calls are not the same.{hint if right else ''}",
            severity="info" if right else None,
            about="request" if right else None,
            expected=texts[0],
            actual=texts[1],
            proof=one.proof,
        )
