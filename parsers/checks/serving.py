"""Checks that need more than a replay: a server's own deltas, a serving layer's lists, a chat template."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.checks.base import Books, Subject, call_words, channel_words, check, counted
from parsers.compare import ANY_ID, excerpt, same_message, shared_prefix
from parsers.trace import Finding
from parsers.types import Message, MessageDelta


@check(
    "server_agrees",
    "K2",
    "The deltas that the server sent are those of the replay.",
    severity="warning",
    about="parser",
    needs=("server_deltas",),
)
def server_agrees(subject: Subject) -> list[Finding]:
    """One finding per channel in which the server's deltas and the replay's depart."""
    theirs, ours = _texts(subject.server or ()), _texts(subject.trace.deltas)
    findings = []
    for name in dict.fromkeys([*ours, *theirs]):
        sent, replayed = theirs.get(name, ""), ours.get(name, "")
        if sent != replayed:
            offset = shared_prefix(sent, replayed)
            where = channel_words(name, subject.trace.message.tool_calls)
            findings.append(
                server_agrees.finding(
                    f"The server's deltas depart from the replay at character {offset} of {where}.",
                    expected=excerpt(replayed, offset),
                    actual=excerpt(sent, offset),
                )
            )
    return findings


def _texts(deltas: Sequence[MessageDelta | None]) -> dict[str, str]:
    """Every channel as a client adds it up; ids are made up by each side and do not count."""
    texts: dict[str, list[str]] = {}
    for delta in deltas:
        if delta is None:
            continue
        texts.setdefault("reasoning", []).append(delta.reasoning or "")
        texts.setdefault("content", []).append(delta.content or "")
        for call in delta.tool_calls:
            texts.setdefault(f"tool_calls[{call.index}].name", []).append(call.name or "")
            texts.setdefault(f"tool_calls[{call.index}].arguments", []).append(call.arguments or "")
    return {name: "".join(parts) for name, parts in texts.items()}


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
    """One finding per rendering that gives other calls."""
    calls = Message(tool_calls=subject.trace.message.tool_calls)
    return [
        rerenders.finding(
            f"{one.label}: the calls are not the same.",
            expected=str(calls.to_json()["tool_calls"]),
            actual=str(one.message.to_json()["tool_calls"]),
            proof=one.proof,
        )
        for one in subject.of_kind("rerendered")
        if not same_message(calls, Message(tool_calls=one.message.tool_calls), ANY_ID)
    ]
