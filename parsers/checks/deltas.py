"""Checks on the stream itself: do the deltas build the message, and does every call arrive in good order?

The client modelled here adds up the parts of a call by its index, as the OpenAI libraries do.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checks.base import Subject, call_words, channel_words, check, counted
from parsers.compare import Channel, channel_texts, excerpt, shared_prefix
from parsers.trace import Finding
from parsers.types import ToolCallDelta


@check("deltas_build_message", "K1", "The deltas, added up as a client does, give the message.")
def deltas_build_message(subject: Subject) -> list[Finding]:
    """One finding per channel that the deltas do not build."""
    built = subject.streamed
    wanted = channel_texts(subject.trace.message)
    findings = []
    for name in [*wanted, *(name for name in built if name not in wanted)]:
        sent = built.get(name, Channel(""))
        if sent.text != wanted.get(name, ""):
            findings.append(_unbuilt(subject, name, sent, wanted.get(name, "")))
    return findings


def _unbuilt(subject: Subject, name: str, sent: Channel, wanted: str) -> Finding:
    offset = shared_prefix(sent.text, wanted)
    missing = offset == len(sent.text)
    place = subject.channels[name].place(offset) if missing else sent.place(offset)
    verb = "stop short" if missing else "depart from the message"
    where = channel_words(name, subject.trace.message.tool_calls)
    return deltas_build_message.finding(
        f"The deltas {verb} at character {offset} of {where}.",
        step=place.step,
        expected=excerpt(wanted, offset),
        actual=excerpt(sent.text, offset),
    )


@check(
    "name_once_before_arguments",
    "N1",
    "Every call has one name, sent whole and once, before any of its arguments.",
)
def name_once_before_arguments(subject: Subject) -> list[Finding]:
    """Errors for a name that comes late, twice, in parts or not at all."""
    calls = subject.trace.message.tool_calls
    named: set[int] = set()
    early: set[int] = set()
    findings = []
    for step, part in _parts(subject):
        words = call_words(part.index, calls[part.index].name if 0 <= part.index < len(calls) else None)
        if part.name is not None and (part.index in named or not part.name):
            message = f"The name of {words} is " + (f"sent again, as `{part.name}`." if part.name else "sent empty.")
            findings.append(name_once_before_arguments.finding(message, step=step, actual=part.name))
        if part.name is not None:
            named.add(part.index)
        if part.arguments and part.index not in named | early:
            early.add(part.index)
            message = f"Arguments of {words} are sent before its name."
            findings.append(name_once_before_arguments.finding(message, step=step, actual=part.arguments))
    unnamed = [f"Call {index} is never given a name." for index in range(len(calls)) if index not in named]
    return findings + [name_once_before_arguments.finding(message) for message in unnamed]


@check(
    "id_once",
    "N5",
    "Every call has one id, sent once with its first delta, that no other call has.",
    needs=("ids",),
)
def id_once(subject: Subject) -> list[Finding]:
    """Errors for an id that is late, repeated or shared; a shared id that the model wrote itself is a warning."""
    begun: set[int] = set()
    findings = []
    for step, part in _parts(subject):
        if part.index not in begun and not part.id:
            findings.append(id_once.finding(f"Call {part.index} begins without an id.", step=step))
        if part.index in begun and part.id is not None:
            message = f"The id of call {part.index} is sent again."
            findings.append(id_once.finding(message, step=step, actual=part.id))
        begun.add(part.index)
    return findings + list(_shared_ids(subject))


def _shared_ids(subject: Subject) -> Iterator[Finding]:
    owner: dict[str, int] = {}
    for index, call in enumerate(subject.trace.message.tool_calls):
        if not call.id:
            continue
        first = owner.setdefault(call.id, index)
        if first != index:
            place = subject.channels[f"tool_calls[{index}].id"].place(0)
            written = place.kind == "copied"
            yield id_once.finding(
                f"Calls {first} and {index} have the same id{', as the model wrote it' if written else ''}.",
                severity="warning" if written else "error",
                about="output" if written else "parser",
                step=place.step,
                actual=call.id,
            )


@check("index_dense", "N4", "Calls are numbered 0, 1, 2 in the order they come, and none is taken up again later.")
def index_dense(subject: Subject) -> list[Finding]:
    """Errors for a number that is skipped or does not fit the message; a warning for calls that are mixed."""
    calls = subject.trace.message.tool_calls
    seen: set[int] = set()
    latest, mixed = -1, False
    findings = []
    for step, part in _parts(subject):
        if part.index not in seen:
            findings += [index_dense.finding(m, step=step) for m in _misnumbered(part.index, len(seen), len(calls))]
        elif part.index != latest and not mixed:
            mixed = True
            message = f"Call {part.index} goes on after call {latest} began."
            findings.append(index_dense.finding(message, severity="warning", step=step))
        seen.add(part.index)
        latest = part.index
    return findings


def _misnumbered(index: int, due: int, calls: int) -> Iterator[str]:
    if index != due:
        yield f"Call {index} begins where call {due} should."
    if not 0 <= index < calls:
        yield f"Call {index} is streamed, but the message has {counted(calls, 'call')}."


def _parts(subject: Subject) -> Iterator[tuple[int, ToolCallDelta]]:
    """Every call's share of every delta, with its step."""
    for step in subject.trace.steps:
        if step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)
