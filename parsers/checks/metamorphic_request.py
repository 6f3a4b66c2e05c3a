"""Metamorphic tests of what stands beside an output: prose, another call, the request, and what a template writes."""

from __future__ import annotations

import json
from typing import Any

from parsers.checks.check import Need, check
from parsers.checks.metamorphic_output import call_text, calls_text, variant_finding
from parsers.checks.subject import Subject, Variant
from parsers.compare.divergence import Rules, same_message
from parsers.vocabulary.channels import call_words
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, ToolCall

SAME_CALLS = Rules(arguments="json", ids=False)


@check(
    "M1",
    "Prose or another call beside the output leaves the first call as it is, and the prose is sent once.",
    needs=(Need.NEIGHBOUR,),
)
def _neighbours(subject: Subject) -> list[Finding]:
    """One finding per kind of neighbour."""
    found: dict[str, Finding] = {}
    for one in subject.of_kind("neighbour"):
        first = _first_call(one.base)
        if one.label not in found and first is not None and first != _first_call(one.message):
            found[one.label] = _moved_call(subject, one)
    for one in subject.of_kind("neighbour"):
        if one.label not in found and "prose" in one.facts:
            times = _prose_count(one)
            if times > 1 or (times < 1 and one.facts["kept"]):
                found[one.label] = _stray_prose(subject, one, times)
    return list(found.values())


def _first_call(message: Message) -> tuple[str, str] | None:
    """The first call, if it is whole."""
    calls = message.tool_calls
    return (calls[0].name, calls[0].arguments) if calls and calls[0].complete else None


def _moved_call(subject: Subject, one: Variant) -> Finding:
    calls = one.message.tool_calls
    return variant_finding(
        _neighbours,
        subject,
        one,
        f"Read {one.label}, the output gives another first call.",
        severity="warning" if subject.black_box and one.facts["bare"] else "error",
        expected=call_text(one.base.tool_calls[0]),
        actual=call_text(calls[0] if calls else None),
    )


def _prose_count(one: Variant) -> int:
    """How many times more than without it the prose is sent, white space apart."""
    prose = "".join(one.facts["prose"].split())
    after, before = ("".join(f"{m.reasoning or ''}{m.content or ''}".split()) for m in (one.message, one.base))
    return after.count(prose) - before.count(prose)


def _stray_prose(subject: Subject, one: Variant, times: int) -> Finding:
    fate = f"sends that prose {times} times" if times > 1 else "does not send that prose whole"
    return variant_finding(
        _neighbours,
        subject,
        one,
        f"Read {one.label}, the parser {fate}.",
        severity="error" if times > 1 else "warning",
        expected=one.facts["prose"],
        actual=(one.message.content or "")[-len(one.facts["prose"]) * 2 :],
        judged=False,
    )


@check(
    "R1",
    "The parser begins in reasoning exactly where the prompt leaves reasoning open.",
    needs=(Need.START_STATE,),
)
def _start_state(subject: Subject) -> list[Finding]:
    """It begins elsewhere than the known prompt says; or no prompt is known, and the output leaves doubt."""
    for one in subject.of_kind("start_state"):
        if "expected" in one.facts:
            return _wrong_start(one)
        if _on_one_line(one.message) != _on_one_line(one.base):
            return [_doubtful_start(one)]
    return []


def _wrong_start(one: Variant) -> list[Finding]:
    """Where the word went that stood in place of the output."""
    wanted, probe = one.facts["expected"], one.facts["probe"]
    given = "reasoning" if probe in (one.message.reasoning or "") else "content"
    if given == wanted:
        return []
    opened = "leaves reasoning open" if wanted == "reasoning" else "does not leave reasoning open"
    message = f"The prompt {opened}, but the parser begins in {given}."
    return [_start_state.finding(message, expected=wanted, actual=given, proof=one.proof)]


def _doubtful_start(one: Variant) -> Finding:
    """A note about the request, with both results."""
    marker, opens = one.facts["doubt"], one.facts["open"]
    orphan, endless = f"`{marker}` ends reasoning that never began", f"no `{marker}` ends the reasoning said to be open"
    why = orphan if opens else endless
    return _start_state.finding(
        f"The prompt is not known, and {why}: {one.label}, the output gives another message.",
        about="request",
        severity="info",
        expected=_on_one_line(one.message),
        actual=_on_one_line(one.base),
        proof=one.proof,
    )


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
def _schema_changes(subject: Subject) -> list[Finding]:
    """A note per argument that reads otherwise without the tools."""
    one, findings = subject.of_kind("no_tools")[0], list[Finding]()
    for index, (typed, plain) in enumerate(zip(one.base.tool_calls, one.message.tool_calls, strict=False)):
        after, before = object_of(typed.arguments), object_of(plain.arguments)
        if typed.name != plain.name or after is None or before is None:
            continue
        for key in [key for key in after if key in before and _as_json(after[key]) != _as_json(before[key])]:
            made, written = (json.dumps(side[key], ensure_ascii=False) for side in (after, before))
            words = call_words(index, typed.name)
            message = f"The schema makes `{key}` of {words} {made}; as written it is {written}."
            findings.append(_schema_changes.finding(message, expected=written, actual=made, proof=one.proof))
    return findings


def _as_json(value: Any) -> str:
    """What two values share that are the same JSON: 1 and true, and 1 and 1.0, are not."""
    return json.dumps(value, sort_keys=True)


@check(
    "M3",
    "With tool_choice none there are no calls; where no tools are declared, every name is accepted.",
    needs=(Need.INSIGHT, Need.NO_CALLS),
)
def _tool_choice(subject: Subject) -> list[Finding]:
    """At most one finding each. (What servers do before their parser is asked cannot be seen from outside.)"""
    return [*_called_all_the_same(subject), *_lost_without_tools(subject)]


def _called_all_the_same(subject: Subject) -> list[Finding]:
    for one in subject.of_kind("no_calls"):
        calls, message = one.message.tool_calls, one.message
        if calls:
            words = f"Read {one.label}, the output still gives {call_words(0, calls[0].name)}."
            return [_tool_choice.finding(words, expected="no calls", actual=call_text(calls[0]), proof=one.proof)]
        if one.text.strip() and not (message.content or message.reasoning):
            words = f"Read {one.label}, the output gives no text at all."
            return [_tool_choice.finding(words, expected=one.text, actual="no content", proof=one.proof)]
    return []


def _lost_without_tools(subject: Subject) -> list[Finding]:
    for one in subject.of_kind("no_tools"):
        rest = iter([call.name for call in one.message.tool_calls])
        lost = [(i, call) for i, call in enumerate(one.base.tool_calls) if not any(call.name == name for name in rest)]
        if lost:
            index, call = lost[0]
            words = f"Read {one.label}, the output does not give {call_words(index, call.name)}."
            actual = calls_text(one.message.tool_calls)
            return [_tool_choice.finding(words, expected=call_text(call), actual=actual, proof=one.proof)]
    return []


@check(
    "M4",
    "The calls, written again by the chat template and parsed, are the same calls.",
    severity="warning",
    needs=(Need.RERENDERED,),
)
def _rerenders(subject: Subject) -> list[Finding]:
    """What the template writes is compared by value; a note says where it cannot write the calls, or needs text."""
    variants, calls = subject.of_kind("rerendered"), Message(tool_calls=subject.calls)
    failed = [one for one in variants if "problem" in one.facts and one.facts["spelling"] == "object"]
    written = [one for one in variants if "problem" not in one.facts]
    other = [one for one in written if not same_message(calls, Message(tool_calls=one.message.tool_calls), SAME_CALLS)]
    wrong = {one.facts.get("spelling"): one for one in reversed(other)}
    right = {one.facts.get("spelling") for one in written} - wrong.keys()
    if "object" in right:
        return []  # servers give templates objects; what this one makes of text is nobody's concern
    notes = [
        _rerenders.finding(f"{one.label}: {one.facts['problem']}", severity="info", about="request") for one in failed
    ]
    return notes + [
        _other_calls(subject.calls, wrong[spelling], bool(right)) for spelling in sorted(wrong, key=str)[:1]
    ]


def _other_calls(calls: list[ToolCall], one: Variant, as_text: bool) -> Finding:
    """A rendering that gives other calls. Where arguments as text do, that is a contract of template and server."""
    hint = " As text they are the same: this template needs a server that gives it arguments as text." * as_text
    expected, actual = (
        "; ".join([f"{call.name} {call.arguments}" for call in side]) or "no call"
        for side in (calls, one.message.tool_calls)
    )
    return _rerenders.finding(
        f"{one.label}: the calls are not the same.{hint}",
        severity="info" if as_text else None,
        about="request" if as_text else None,
        expected=expected,
        actual=actual,
        proof=one.proof,
    )
