"""Checks on the stream itself: do the deltas build the message, and does every call arrive in good order?

Clients put the deltas of a call together in three ways: by index, as the OpenAI libraries do; by id, a part without one
going to the call before; or they take no part without an id and a name. The last ones break on every stream that sends
arguments in pieces, as the OpenAI API does, so they alone are no finding. What a recorded stream has that some cannot
read at all, `parsers.wire.read` notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter

from parsers.checks.check import Check, Need, check
from parsers.checks.subject import Subject
from parsers.compare.divergence import excerpt, shared_prefix
from parsers.vocabulary.channels import Channel, ChannelText, call_words, message_texts
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import MessageDelta, ToolCallDelta
from parsers.vocabulary.words import counted

_STOPS = {"no_index": "index", "odd_index": "index", "arguments_object": "all"}
_UNSEEN = frozenset(("function_call", "flat_call"))


@dataclass(slots=True)
class ClientResult:
    """Holds what a client makes of a stream: its calls as (name, arguments), and what it could not take, if
    anything."""

    client: str
    calls: list[tuple[str, str]]
    broke: str = ""
    step: int | None = None

    @property
    def words(self) -> str:
        """The client as the beginning of a sentence."""
        return f"{self.client[0].upper()}{self.client[1:]}"


def clients(trace: Trace) -> list[ClientResult]:
    """Return what each client makes of the deltas of a trace."""
    return [read(trace) for read in _CLIENTS]


class _Client:
    """A client's calls by what it keeps them by, and where it met the first thing it cannot take."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: dict[int | str, tuple[list[str], list[str]]] = {}
        self._broke = ""
        self._step: int | None = None

    def add(self, key: int | str, part: ToolCallDelta) -> None:
        """Take a part of the call that is kept by `key`."""
        name, arguments = self._calls.setdefault(key, ([], []))
        name.append(part.name or "")
        arguments.append(part.arguments or "")

    def stop(self, step: int, words: str) -> None:
        """The first thing it cannot take is what counts."""
        if not self._broke:
            self._broke, self._step = words, step

    def parts(self, trace: Trace, *, by_index: bool = False) -> Iterator[tuple[int, ToolCallDelta]]:
        """The parts that it can read, until it meets one that stops it."""
        columns = trace.columns
        sent = ((step, delta) for step, _, _, delta in columns.delta_runs())
        for step, found in groupby(merge(columns.diagnostics(), sent, key=itemgetter(0)), itemgetter(0)):
            said = [one for _, one in found]
            noted = [one for one in said if isinstance(one, Diagnostic)]
            for note in noted:
                if _STOPS.get(note.code) == "all" or (by_index and note.code in _STOPS):
                    self.stop(step, note.message.rstrip("."))
                    return
            unseen = next((note for note in noted if note.code in _UNSEEN), None)
            if unseen is not None:
                self.stop(step, unseen.message.rstrip("."))
            else:
                yield from ((step, part) for one in said if isinstance(one, MessageDelta) for part in one.tool_calls)

    def result(self) -> ClientResult:
        """Return what it has in the end."""
        made = [("".join(name), "".join(arguments)) for name, arguments in self._calls.values()]
        return ClientResult(self._name, made, self._broke, self._step)


def _parts(trace: Trace) -> Iterator[tuple[int, ToolCallDelta]]:
    """The parts of calls, open text in one part."""
    return ((step, part) for step, _, _, delta in trace.columns.delta_runs() for part in delta.tool_calls)


def _by_index(trace: Trace) -> ClientResult:
    client = _Client("a client that adds up by index (the OpenAI libraries)")
    for _, part in sorted(client.parts(trace, by_index=True), key=lambda found: found[1].index):
        client.add(part.index, part)
    return client.result()


def _by_id(trace: Trace) -> ClientResult:
    client, latest = _Client("a client that keeps calls by their id"), ""
    for step, part in client.parts(trace):
        latest = part.id or latest
        if not latest:
            client.stop(step, f"call {part.index} begins without an id")
        client.add(latest, part)
    return client.result()


def _every_chunk(trace: Trace) -> ClientResult:
    client = _Client("a client that wants id and name in every chunk")
    for step, part in client.parts(trace):
        if part.id and part.name:
            client.add(part.index, part)
        else:
            client.stop(step, f"a part of call {part.index} has no {'name' if part.id else 'id'}")
    return client.result()


_CLIENTS: tuple[Callable[[Trace], ClientResult], ...] = (_by_index, _by_id, _every_chunk)
EVERY_CHUNK = 2  # the number of the client whose breaking alone is no finding


@check("K1", "The deltas, added up as clients do (by index, by id), give the message.")
def _deltas_build_message(subject: Subject) -> Iterator[Finding]:
    short = False
    for channel, wanted in message_texts(subject.trace.message).items():
        sent = subject.streamed[channel].text
        if sent != wanted and wanted.startswith(sent):
            short = True
            yield _deltas_build_message.finding(
                f"The deltas stop short at character {len(sent)} of {channel.words(subject.calls)}.",
                step=subject.trace.channels[channel].place(len(sent)).step,
                expected=excerpt(wanted, len(sent)),
                actual=excerpt(sent, len(sent)),
            )
    if not short:
        yield from map(partial(_breaks, subject), _misled_clients(subject))


def _misled_clients(subject: Subject) -> list[ClientResult]:
    """Clients that get other calls than the one that adds up by index; without ids, nobody can keep calls by them."""
    first, *others = clients(subject.trace)
    if first.broke:
        return [first]
    if subject.black_box and not any(part.id for _, part in _parts(subject.trace)):
        return []
    judged = [one for number, one in enumerate(others, 1) if number != EVERY_CHUNK]
    return [one for one in judged if not one.broke and one.calls != first.calls]


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
def _monotone(subject: Subject) -> Iterator[Finding]:
    wanted, gone = message_texts(subject.trace.message), set[int | None]()
    for channel, sent in subject.streamed.items():
        final = wanted.get(channel)
        if final is None and channel.call not in gone:
            gone.add(channel.call)
            message = f"Call {channel.call} is streamed, but the message has {counted(len(subject.calls), 'call')}."
            yield _monotone.finding(message, step=sent.place(0).step, actual=sent.text)
        elif final is not None and not final.startswith(sent.text) and channel.part not in ("arguments", "id"):
            where = f"at character {shared_prefix(sent.text, final)} of {channel.words(subject.calls)}"
            yield taken_back(_monotone, f"The deltas depart from the message {where}.", sent, final)


def taken_back(of: Check, message: str, sent: ChannelText, final: str) -> Finding:
    """A finding where a text that was sent leaves the final one."""
    offset = shared_prefix(sent.text, final)
    expected, actual = excerpt(final, offset), excerpt(sent.text, offset)
    return of.finding(message, step=sent.place(offset).step, expected=expected, actual=actual)


@check("N1", "Every call has one name, sent once, before any of its arguments.")
def _name_once_before_arguments(subject: Subject) -> Iterator[Finding]:
    calls = subject.calls
    named, early, begun, filled = dict[int, ToolCallDelta](), set[int](), set[int](), set[int]()
    for step, part in _parts(subject.trace):
        words = call_words(part.index, calls[part.index].name if 0 <= part.index < len(calls) else None)
        first = named.get(part.index)
        if part.name and first is not None:
            message = _named_again(words, first, part, is_filled=part.index in filled)
            yield _name_once_before_arguments.finding(message, step=step, actual=part.name)
        begun.add(part.index)
        if part.name:
            named.setdefault(part.index, part)
        filled |= {part.index} if part.arguments else set()
        if part.arguments and part.index not in {*named, *early}:
            early.add(part.index)
            message = f"Arguments of {words} are sent before its name."
            yield _name_once_before_arguments.finding(message, step=step, actual=part.arguments)
    for index in sorted(begun) if len(begun) == len(calls) else range(len(calls)):
        if index not in named:
            yield _name_once_before_arguments.finding(f"Call {index} is never given a name.")


def _named_again(words: str, first: ToolCallDelta, part: ToolCallDelta, *, is_filled: bool) -> str:
    if _is_another(first, part, is_filled=is_filled):
        return f"Index {part.index} serves two calls: `{first.name}`, and then `{part.name}`."
    if part.name != first.name:
        return f"The name of {words} is not sent whole: `{first.name}`, and then `{part.name}`."
    return f"The name of {words} is sent again, as `{part.name}`."


def _is_another(first: ToolCallDelta, part: ToolCallDelta, *, is_filled: bool) -> bool:
    """Return whether the part that names a call again begins another one: it has an id of its own, or another name
    after arguments."""
    return bool(part.id and first.id and part.id != first.id) or (is_filled and part.name != first.name)


@check("N2", "No name is sent empty, and no delta of a call is empty.")
def _no_empty_delta(subject: Subject) -> Iterator[Finding]:
    told = False
    for step, part in _parts(subject.trace):
        if part.name == "":
            yield _no_empty_delta.finding(f"The name of call {part.index} is sent empty.", step=step)
        elif not (part.name or part.id or part.arguments) and not told:
            told = True
            message = f"A part of call {part.index} is sent that says nothing."
            yield _no_empty_delta.finding(message, severity="info", step=step)  # clients add nothing, whatever it is


@check("N5", "Every call has one id, sent once with its first delta, that no other call has.", needs=(Need.IDS,))
def _id_once(subject: Subject) -> Iterator[Finding]:
    """Errors for an id that is late, repeated or shared; a shared id that the model wrote itself is a warning."""
    begun = set[int]()
    for step, part in _parts(subject.trace):
        if part.index not in begun and not part.id:
            yield _id_once.finding(f"Call {part.index} begins without an id.", step=step)
        if part.index in begun and part.id is not None:
            yield _id_once.finding(f"The id of call {part.index} is sent again.", step=step, actual=part.id)
        begun.add(part.index)
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
def _index_dense(subject: Subject) -> Iterator[Finding]:
    seen = set[int]()
    for step, part in _parts(subject.trace):
        if part.index not in seen and part.index != len(seen):
            yield _index_dense.finding(f"Call {part.index} begins where call {len(seen)} should.", step=step)
        seen.add(part.index)


@check("N6", "A call is not taken up again once the next one began.", severity="warning")
def _calls_apart(subject: Subject) -> Iterator[Finding]:
    begun, latest = set[int](), -1
    for step, part in _parts(subject.trace):
        if part.index in begun and part.index != latest:
            yield _calls_apart.finding(f"Call {part.index} goes on after call {latest} began.", step=step)
            return
        begun.add(part.index)
        latest = part.index
