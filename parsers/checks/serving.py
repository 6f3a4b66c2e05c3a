"""Checks that need more than a replay: a serving layer's lists, a chat template."""

from __future__ import annotations

from parsers.checks.base import Books, Subject, call_words, check, counted
from parsers.checks.variants import Variant
from parsers.compare import Rules, same_message
from parsers.trace import Finding
from parsers.types import Message

SAME_CALLS = Rules(arguments="json", ids=False)


@check(
    "bookkeeping",
    "B1",
    "What the serving layer keeps for each call beside the parser is what was sent.",
    needs=("bookkeeping",),
)
def bookkeeping(subject: Subject) -> list[Finding]:
    """Errors for lists of different length, and for entries that are not the arguments sent."""
    books, calls = subject.books or Books((), ()), subject.trace.message.tool_calls
    lengths = {len(books.told), len(books.sent), len(calls)}
    if len(lengths) > 1:
        told, sent = counted(len(books.told), "call"), counted(len(books.sent), "call")
        message = f"The serving layer was told of {told}, has {sent} as sent, and the message has {len(calls)}."
        return [bookkeeping.finding(message)]
    findings = []
    for index, call in enumerate(calls):
        if books.sent[index] != call.arguments:
            message = f"The serving layer has other arguments as sent for {call_words(index, call.name)}."
            findings.append(bookkeeping.finding(message, expected=call.arguments, actual=books.sent[index]))
    return findings


@check(
    "rerenders",
    "M4",
    "The calls, written again by the chat template and parsed, are the same calls.",
    severity="warning",
    needs=("variants:rerendered",),
)
def rerenders(subject: Subject) -> list[Finding]:
    """What the template writes is compared by value; a note says where it cannot write the calls, or needs text."""
    variants, calls = subject.of_kind("rerendered"), Message(tool_calls=subject.trace.message.tool_calls)
    failed = [one for one in variants if "problem" in one.facts and one.facts["spelling"] == "object"]
    written = [one for one in variants if "problem" not in one.facts]
    other = [one for one in written if not same_message(calls, Message(tool_calls=one.message.tool_calls), SAME_CALLS)]
    wrong = {one.facts.get("spelling"): one for one in reversed(other)}
    right = {one.facts.get("spelling") for one in written} - wrong.keys()
    if "object" in right:
        return []  # servers give templates objects; what this one makes of text is nobody's concern
    notes = [
        rerenders.finding(f"{one.label}: {one.facts['problem']}", severity="info", about="request") for one in failed
    ]
    return notes + [_rewritten(calls, wrong[spelling], bool(right)) for spelling in sorted(wrong, key=str)[:1]]


def _rewritten(calls: Message, one: Variant, as_text: bool) -> Finding:
    """A rendering that gives other calls. Where arguments as text do, that is a contract of template and server."""
    hint = " As text they are the same: this template needs a server that gives it arguments as text." * as_text
    return rerenders.finding(
        f"{one.label}: the calls are not the same.{hint}",
        severity="info" if as_text else None,
        about="request" if as_text else None,
        expected=_said(calls),
        actual=_said(one.message),
        proof=one.proof,
    )


def _said(message: Message) -> str:
    """The calls as a person compares them: ids are made up by each side."""
    return "; ".join([f"{call.name} {call.arguments}" for call in message.tool_calls]) or "no call"
