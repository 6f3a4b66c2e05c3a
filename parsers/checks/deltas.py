"""Checks on the stream itself: do the deltas build the message, and does every call arrive in good order?

Clients put the deltas of a call together in three ways. By index: the OpenAI libraries; parts with one index are one
call. By id: clients that keep calls by their id, and give a part without an id to the call before. Every chunk: clients
that take no part without an id and a name; they break on every stream that sends arguments in pieces, as the OpenAI API
does, so they alone are no finding.

A recorded stream may hold what some of them cannot read at all (`parsers.wire.read` notes it): a part without an index
stops the first, arguments that are no text stop all of them, and a call outside `tool_calls` or `function` is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from parsers.checks.check import Need, check
from parsers.checks.subject import Subject
from parsers.compare.divergence import excerpt, shared_prefix
from parsers.vocabulary.channels import Channel, ChannelText, call_words, message_texts
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import ToolCallDelta
from parsers.vocabulary.words import counted

_STOPS = {"no_index": "index", "odd_index": "index", "arguments_object": "all"}
_UNSEEN = frozenset(("function_call", "flat_call"))


@dataclass(slots=True)
class ClientResult:
    """What a client makes of a stream: its calls as (name, arguments), and what it could not take, if anything."""

    client: str
    calls: list[tuple[str, str]]
    broke: str = ""
    step: int | None = None

    @property
    def words(self) -> str:
        """The client as the beginning of a sentence."""
        return f"{self.client[0].upper()}{self.client[1:]}"


def clients(trace: Trace) -> list[ClientResult]:
    """What each client makes of the deltas of a trace."""
    return [read(trace) for read in _CLIENTS]


@dataclass(slots=True)
class _Call:
    """A call as a client holds it: pieces of its name and of its arguments."""

    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def add(self, part: ToolCallDelta) -> None:
        self.name += [part.name] if part.name else []
        self.arguments += [part.arguments] if part.arguments else []


@dataclass(slots=True)
class _Stop:
    """Where a client met the first thing it cannot take."""

    words: str = ""
    step: int | None = None

    def at(self, step: int, words: str) -> None:
        if not self.words:
            self.words, self.step = words, step


def _result(client: str, calls: dict[int, _Call] | dict[str, _Call], stop: _Stop) -> ClientResult:
    made = [("".join(call.name), "".join(call.arguments)) for call in calls.values()]
    return ClientResult(client, made, stop.words, stop.step)


def _parts(trace: Trace) -> Iterator[tuple[int, ToolCallDelta]]:
    """Every call's share of every delta, with its step."""
    for step in trace.steps:
        if step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)


def _readable(trace: Trace, stop: _Stop, *, by_index: bool = False) -> Iterator[tuple[int, ToolCallDelta]]:
    """The parts that a client can read, until it meets one that stops it."""
    for step in trace.steps:
        stopped = _stopped(step, by_index=by_index)
        if stopped:
            stop.at(step.index, stopped)
            return
        if unseen := next((note.message for note in step.diagnostics if note.code in _UNSEEN), ""):
            stop.at(step.index, unseen.rstrip("."))
        elif step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)


def _stopped(step: Step, *, by_index: bool) -> str:
    notes = (one for one in step.diagnostics if _STOPS.get(one.code) == "all" or (by_index and one.code in _STOPS))
    return next((one.message.rstrip(".") for one in notes), "")


def _by_index(trace: Trace) -> ClientResult:
    calls: dict[int, _Call] = {}
    stop = _Stop()
    for _, part in _readable(trace, stop, by_index=True):
        calls.setdefault(part.index, _Call()).add(part)
    return _result("a client that adds up by index (the OpenAI libraries)", dict(sorted(calls.items())), stop)


def _by_id(trace: Trace) -> ClientResult:
    calls: dict[str, _Call] = {}
    latest, stop = "", _Stop()
    for step, part in _readable(trace, stop):
        latest = part.id or latest
        if not latest:
            stop.at(step, f"call {part.index} begins without an id")
        calls.setdefault(latest, _Call()).add(part)
    return _result("a client that keeps calls by their id", calls, stop)


def _every_chunk(trace: Trace) -> ClientResult:
    calls: dict[int, _Call] = {}
    stop = _Stop()
    for step, part in _readable(trace, stop):
        if part.id and part.name:
            calls.setdefault(part.index, _Call()).add(part)
        else:
            stop.at(step, f"a part of call {part.index} has no {'name' if part.id else 'id'}")
    return _result("a client that wants id and name in every chunk", calls, stop)


_CLIENTS: tuple[Callable[[Trace], ClientResult], ...] = (_by_index, _by_id, _every_chunk)
EVERY_CHUNK = 2  # the number of the client whose breaking alone is no finding


@check("K1", "The deltas, added up as clients do (by index, by id), give the message.")
def _deltas_build_message(subject: Subject) -> list[Finding]:
    """One finding per channel that the deltas do not build to its end, and one per client that gets other calls."""
    findings = []
    for channel, wanted in message_texts(subject.trace.message).items():
        sent = subject.streamed[channel].text
        if sent != wanted and wanted.startswith(sent):
            findings.append(
                _deltas_build_message.finding(
                    f"The deltas stop short at character {len(sent)} of {channel.words(subject.calls)}.",
                    step=subject.trace.channels[channel].place(len(sent)).step,
                    expected=excerpt(wanted, len(sent)),
                    actual=excerpt(sent, len(sent)),
                )
            )
    return findings or list(_misled_clients(subject))


def _misled_clients(subject: Subject) -> Iterator[Finding]:
    """Clients that get other calls than the one that adds up by index; without ids, nobody can keep calls by them."""
    first, *others = clients(subject.trace)
    if first.broke:
        yield _breaks(subject, first)
        return
    if subject.black_box and not any(part.id for _, part in _parts(subject.trace)):
        return
    for number, result in enumerate(others, 1):
        if number != EVERY_CHUNK and not result.broke and result.calls != first.calls:
            yield _breaks(subject, result)


def _breaks(subject: Subject, result: ClientResult) -> Finding:
    """A note: what is wrong with the ids or indices has a finding of its own."""
    why = f" at step {result.step} ({result.broke})" if result.broke else ""
    return _deltas_build_message.finding(
        f"{result.words} breaks{why}: it gets {counted(len(result.calls), 'call')}.",
        severity="info",
        step=result.step,
        expected=counted(len(subject.calls), "call"),
        actual=", ".join([f"{name}({arguments})" for name, arguments in result.calls]),
    )


@check("C3", "What was sent is never taken back: texts only grow, names stay, and no call goes away.")
def _monotone(subject: Subject) -> list[Finding]:
    """One finding per text that the message leaves, and one per call that it does not have."""
    wanted = message_texts(subject.trace.message)
    findings, gone = list[Finding](), set[int | None]()
    for channel, sent in subject.streamed.items():
        final = wanted.get(channel)
        if final is None and channel.call not in gone:
            gone.add(channel.call)
            has = counted(len(subject.calls), "call")
            message = f"Call {channel.call} is streamed, but the message has {has}."
            findings.append(_monotone.finding(message, step=sent.place(0).step, actual=sent.text))
        elif final is not None and not final.startswith(sent.text) and channel.part not in ("arguments", "id"):
            findings.append(_departure(subject, channel, sent, final))
    return findings


def _departure(subject: Subject, channel: Channel, sent: ChannelText, final: str) -> Finding:
    offset = shared_prefix(sent.text, final)
    return _monotone.finding(
        f"The deltas depart from the message at character {offset} of {channel.words(subject.calls)}.",
        step=sent.place(offset).step,
        expected=excerpt(final, offset),
        actual=excerpt(sent.text, offset),
    )


@check("N1", "Every call has one name, sent once, before any of its arguments.")
def _name_once_before_arguments(subject: Subject) -> list[Finding]:
    """Errors for a name that comes late, twice, in parts or not at all."""
    calls = subject.calls
    named: set[int] = set()
    early: set[int] = set()
    begun: set[int] = set()
    findings = []
    for step, part in _parts(subject.trace):
        words = call_words(part.index, calls[part.index].name if 0 <= part.index < len(calls) else None)
        begun.add(part.index)
        if part.name and part.index in named:
            message = f"The name of {words} is sent again, as `{part.name}`."
            findings.append(_name_once_before_arguments.finding(message, step=step, actual=part.name))
        if part.name:
            named.add(part.index)
        if part.arguments and part.index not in named | early:
            early.add(part.index)
            message = f"Arguments of {words} are sent before its name."
            findings.append(_name_once_before_arguments.finding(message, step=step, actual=part.arguments))
    numbers = sorted(begun) if len(begun) == len(calls) else range(len(calls))
    unnamed = [f"Call {index} is never given a name." for index in numbers if index not in named]
    return findings + [_name_once_before_arguments.finding(message) for message in unnamed]


@check("N2", "No name is sent empty, and no delta of a call is empty.")
def _no_empty_delta(subject: Subject) -> list[Finding]:
    """Errors for empty names; a warning for the first part of a call that says nothing."""
    findings, told = [], False
    for step, part in _parts(subject.trace):
        if part.name == "":
            findings.append(_no_empty_delta.finding(f"The name of call {part.index} is sent empty.", step=step))
        elif not (part.name or part.id or part.arguments) and not told:
            told = True
            message = f"A part of call {part.index} is sent that says nothing."
            findings.append(_no_empty_delta.finding(message, severity="warning", step=step))
    return findings


@check("N5", "Every call has one id, sent once with its first delta, that no other call has.", needs=(Need.IDS,))
def _id_once(subject: Subject) -> list[Finding]:
    """Errors for an id that is late, repeated or shared; a shared id that the model wrote itself is a warning."""
    begun: set[int] = set()
    findings = []
    for step, part in _parts(subject.trace):
        if part.index not in begun and not part.id:
            findings.append(_id_once.finding(f"Call {part.index} begins without an id.", step=step))
        if part.index in begun and part.id is not None:
            message = f"The id of call {part.index} is sent again."
            findings.append(_id_once.finding(message, step=step, actual=part.id))
        begun.add(part.index)
    return findings + list(_shared_ids(subject))


def _shared_ids(subject: Subject) -> Iterator[Finding]:
    owner: dict[str, int] = {}
    for index, call in enumerate(subject.calls):
        first = owner.setdefault(call.id, index) if call.id else index
        if first != index:
            place = subject.trace.channels[Channel(index, "id")].place(0)
            written = place.kind == "copied"
            yield _id_once.finding(
                f"Calls {first} and {index} have the same id{', as the model wrote it' if written else ''}.",
                severity="warning" if written else "error",
                about="output" if written else "parser",
                step=place.step,
                actual=call.id,
            )


@check("N4", "Calls are numbered 0, 1, 2 in the order they come.")
def _index_dense(subject: Subject) -> list[Finding]:
    """Errors for a number that is skipped or comes out of order."""
    seen: set[int] = set()
    findings = []
    for step, part in _parts(subject.trace):
        if part.index not in seen and part.index != len(seen):
            message = f"Call {part.index} begins where call {len(seen)} should."
            findings.append(_index_dense.finding(message, step=step))
        seen.add(part.index)
    return findings


@check("N6", "A call is not taken up again once the next one began.", severity="warning")
def _calls_apart(subject: Subject) -> list[Finding]:
    """At most one finding: the first part of a call that comes after a later call began."""
    begun: set[int] = set()
    latest = -1
    for step, part in _parts(subject.trace):
        if part.index in begun and part.index != latest:
            return [_calls_apart.finding(f"Call {part.index} goes on after call {latest} began.", step=step)]
        begun.add(part.index)
        latest = part.index
    return []
