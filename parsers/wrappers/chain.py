"""The decision about a buffer: which reading of it gives calls, or that it is text.

In order: the calls that were streamed; other parsers whose marks stand in the buffer; parameters that stand in the
buffer and not in the arguments; arguments closed by appending; what follows an end marker of unclear standing.
Another reading wins over the streamed one only where that one has no call, fewer, one without name or readable
arguments, or empty arguments where the other has some (rule of vllm.rs, 2026-05).

Every step reads the buffer once at most, and a buffer is decided twice at most: the work stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from parsers.arguments.json_value import JsonScanner
from parsers.formats.model import Format
from parsers.selection.registry import build, get_format
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import ContentText, Dropped, Event, Marker
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context
from parsers.wrappers.attempt import (
    Call,
    calls_as_text,
    calls_of,
    read_whole,
    replace_calls,
    rewrite_arguments,
    segments_of,
    without_spans,
)
from parsers.wrappers.repair import Parameter, add_parameters, close_arguments, find_closing, find_parameters
from parsers.wrappers.table import OTHERS, REPAIR, REST, SELECTED, XML

NO_READING = DropReason(Cause.NO_READING)
_TAGS = ("<parameter", "<arg_key>")


@dataclass(slots=True)
class Buffer:
    """A buffer that was held: its text from raw offset `at` on, the events streamed from it, and its occasion.

    `opener` is the start marker's text, `closers` are end markers by name; `candidates` raw ends of end markers inside
    an open call; `again`: an end marker came before and was not final; `over`: the output ended.
    """

    text: str
    at: int
    streamed: list[Event]
    opener: str = ""
    opener_name: str = ""
    closers: Mapping[str, str] = field(default_factory=dict)
    candidates: Sequence[int] = ()
    again: bool = False
    over: bool = False

    @property
    def end(self) -> int:
        """Raw offset after the last character."""
        return self.at + len(self.text)


@dataclass(slots=True)
class Tried:
    """A step of the chain: found, refused or skipped, and why in words."""

    step: str
    trigger: Literal["FOUND", "REFUSED", "SKIPPED", "CANDIDATE", "RELEASED"]
    words: str


@dataclass(slots=True)
class Outcome:
    """The outcome for a buffer: the steps that were tried, and the events to send. `calls` is false for text.

    `streamed`: the events are the streamed ones, so that what the parser still keeps back belongs to them.
    """

    steps: list[Tried] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    calls: bool = False
    streamed: bool = False

    @property
    def waits(self) -> bool:
        """Return whether the buffer is to be held on."""
        return self.steps[-1].trigger == "CANDIDATE"


class Chain:
    """Decides buffers of one run."""

    def __init__(
        self, fmt: Format, make: Callable[[], StreamParser], policy: Mapping[str, str], context: Context
    ) -> None:
        self._format = fmt
        self._make = make
        self._policy = policy
        self._context = context

    def decide(self, buffer: Buffer) -> Outcome:
        """Try one step after the other."""
        out = Outcome()
        calls = calls_of(buffer.streamed)
        if not self._selected(buffer, calls, out):
            steps = (self._others, self._xml, self._repair, self._rest)
            any(step(buffer, calls, out) for step in steps)
        return out

    def _selected(self, buffer: Buffer, calls: list[Call], out: Outcome) -> bool:
        bad = next((call for call in calls if not call.good), None)
        if not calls:
            words = "there is no call"
        elif bad is not None:
            words = f"the arguments of {bad.name} are not one JSON object"
        elif _missing(buffer, calls):
            words = "there are parameters outside the arguments"
        else:
            return _found(out, SELECTED, buffer.streamed, len(calls))
        out.steps.append(Tried(SELECTED, "REFUSED", words))
        return False

    def _others(self, buffer: Buffer, calls: list[Call], out: Outcome) -> bool:
        return any(self._other(buffer, calls, out, *other) for other in OTHERS)

    def _other(
        self, buffer: Buffer, calls: list[Call], out: Outcome, step: str, parser: str, texts: tuple[str, ...]
    ) -> bool:
        fits = any(text in buffer.text for text in texts) if texts else buffer.opener.startswith("<")
        if parser == self._format.name or not fits:
            out.steps.append(Tried(step, "SKIPPED", "nothing in the buffer calls for it"))
            return False
        own = buffer.opener in get_format(parser).terminals.values()
        events = self._read(parser, buffer.text, buffer.at) if own else self._stripped(buffer, parser)
        found = calls_of(events)
        refusal = self._refusal(calls, found) or ("other text remains" if not texts and _has_text(events) else None)
        if refusal is None:
            return _found(out, step, events, len(found))
        out.steps.append(Tried(step, "REFUSED", refusal))
        return False

    def _read(self, parser: str, text: str, at: int) -> list[Event]:
        policy = {key: value for key, value in self._policy.items() if key in get_format(parser).policies}
        return read_whole(lambda: build(get_format(parser), policy), self._context, text, at)

    def _stripped(self, buffer: Buffer, parser: str) -> list[Event]:
        """Return what another parser makes of the payload without its markers."""
        start = len(buffer.opener)
        closings = [(at, name) for name, text in buffer.closers.items() if (at := buffer.text.rfind(text)) >= start]
        stop, name = max(closings, default=(len(buffer.text), ""))
        closer = buffer.closers.get(name, "")
        inner = self._read(parser, buffer.text[start:stop], buffer.at + start)
        after = buffer.at + stop + len(closer)
        ends = [Marker(buffer.at + stop, after, name)] if closer else []
        tail = [ContentText(after, buffer.end, buffer.text[after - buffer.at :])] if after < buffer.end else []
        head = [Marker(buffer.at, buffer.at + start, buffer.opener_name)] if start else []
        return [*head, *inner, *ends, *tail]

    def _refusal(self, calls: list[Call], found: list[Call]) -> str | None:
        """Return why another reading does not win over the streamed one; None where it does."""
        if not found:
            return "there is no call"
        bad = next((call for call in found if not call.good), None)
        if bad is not None:
            return f"the arguments of {bad.name} are not one JSON object"
        wins = len(found) > len(calls) or any(not call.good for call in calls)
        more = any(call.value == {} and other.value for call, other in zip(calls, found, strict=False))
        return None if wins or more else "it has no more than what was streamed"

    def _xml(self, buffer: Buffer, calls: list[Call], out: Outcome) -> bool:
        """Add parameters that stand in the buffer, outside the arguments, to the call before them."""
        if not calls or not any(tag in buffer.text for tag in _TAGS):
            out.steps.append(Tried(XML, "SKIPPED", "there is nothing to add, or nothing to add it to"))
            return False
        missing = _missing(buffer, calls)
        if missing and all(call.good for call in calls):
            taken = sorted([(one.start, one.end) for _, part in missing for one in part])
            events = without_spans(buffer.streamed, taken)
            left = calls_of(events)
            blocks = [(left[number], self._added(events, left[number], part)) for number, part in missing]
            return _found(out, XML, replace_calls(events, blocks), len(calls), f"{len(taken)} added")
        out.steps.append(Tried(XML, "REFUSED", "no parameter is missing that stands there"))
        return False

    def _added(self, events: Sequence[Event], call: Call, missing: list[Parameter]) -> list[Event]:
        tool = self._context.tool(call.name)
        decode = self._policy.get("entity_decoding") == "on"
        schema = None if tool is None else tool.parameters
        segments, markers = add_parameters(segments_of(events, call), missing, schema, decode=decode)
        return rewrite_arguments(events, call, segments, markers)

    def _repair(self, buffer: Buffer, calls: list[Call], out: Outcome) -> bool:
        """Close the arguments of each call. What its end marker closed stands even where that is not possible."""
        unclear = bool(buffer.over and buffer.candidates and calls and not calls[-1].complete)
        fixes = [(call, None if call.good else find_closing(call.arguments, over=buffer.over)) for call in calls]
        cut = next((call for call, fix in fixes if not call.good and fix is None and _cut_off(call, buffer)), None)
        if not calls or unclear or cut is not None:
            words = (
                "an end marker inside the arguments leaves unclear where they end" if unclear else "there is no call"
            )
            words = words if cut is None else f"the arguments of {cut.name} are cut off and cannot be closed"
            out.steps.append(Tried(REPAIR, "REFUSED", words))
            return False
        blocks = [(call, _closed(buffer.streamed, call, *fix)) for call, fix in fixes if fix is not None]
        events = replace_calls(buffer.streamed, blocks)
        return _found(out, REPAIR, events, len(calls), f"{len(blocks)} repaired")

    def _rest(self, buffer: Buffer, calls: list[Call], out: Outcome) -> bool:
        """The last step: wait where that may help, read what follows a candidate end, or give up."""
        payload = buffer.text[len(buffer.opener) :]
        for closer in buffer.closers.values():
            payload = payload.removesuffix(closer)
        why = None if buffer.over or buffer.again else why_unfinished(payload)
        if why is not None:
            out.steps.append(Tried(REST, "CANDIDATE", why))
            return True
        if buffer.over and buffer.candidates:
            middle = buffer.candidates[0]
            events = read_whole(self._make, self._context, buffer.text[middle - buffer.at :], middle)
            found = calls_of(events)
            if found and all(call.good for call in found):
                before = ContentText(buffer.at, middle, buffer.text[: middle - buffer.at])
                return _found(out, REST, [before, *events], len(found))
        out.steps.append(Tried(REST, "RELEASED", NO_READING.words))
        out.events, out.streamed = calls_as_text(buffer.streamed, buffer.text, buffer.at), True
        return True


def _found(out: Outcome, step: str, events: list[Event], count: int, more: str = "") -> bool:
    words = f"found {count} call{'' if count == 1 else 's'}"
    out.steps.append(Tried(step, "FOUND", f"{words}, {more}" if more else words))
    out.events, out.calls, out.streamed = events, True, step in (SELECTED, XML, REPAIR)
    return True


def _cut_off(call: Call, buffer: Buffer) -> bool:
    return buffer.over and not call.complete


def _has_text(events: Sequence[Event]) -> bool:
    return any(isinstance(event, ContentText) and event.text.strip() for event in events)


def _closed(events: Sequence[Event], call: Call, kept: int, closers: str) -> list[Event]:
    segments, dropped = close_arguments(segments_of(events, call), kept, closers, events[call.last].start)
    return rewrite_arguments(events, call, segments, dropped)


def _missing(buffer: Buffer, calls: Sequence[Call]) -> list[tuple[int, list[Parameter]]]:
    """Calls by number, with the parameters that stand behind their start and not in their arguments, each once."""
    free = _free(buffer) if any(tag in buffer.text for tag in _TAGS) else []
    found: list[tuple[int, list[Parameter]]] = []
    for number, call in reversed(list(enumerate(calls))):
        missing: dict[str, Parameter] = {}
        while free and free[-1].start >= buffer.streamed[call.first].start:
            parameter = free.pop()
            missing[parameter.key] = parameter
        value = call.value
        wanted = [] if value is None else [missing[key] for key in reversed(missing) if key not in value]
        found += [(number, wanted)] if wanted else []
    return found[::-1]


def _free(buffer: Buffer) -> list[Parameter]:
    """The parameters in text of the buffer that belongs to no call's name, id or arguments."""
    found: list[Parameter] = []
    start = end = buffer.at
    free = [e for e in buffer.streamed if isinstance(e, ContentText | Dropped) or _is_structure(e)]
    for event in [*sorted(free, key=lambda event: event.start), Marker(buffer.end + 1, buffer.end + 1)]:
        if event.start != end:
            found += find_parameters(buffer.text[start - buffer.at : end - buffer.at], start)
            start = event.start
        end = event.end
    return found


def _is_structure(event: Event) -> bool:
    return isinstance(event, Marker) and event.terminal == "structure"


# Whether what stands between a start and an end marker may be the beginning of more: then the end is a candidate.
#
# Tags that are opened more often than closed are unfinished, and so is JSON whose brackets or string are open. Closing
# tags too many are tolerated. Text that can become neither is not unfinished, it is something else.

_STRUCTURE_TAGS = (
    ("<invoke ", "</invoke>"),
    ("<function=", "</function>"),
    ("<parameter=", "</parameter>"),
    ("<parameter name=", "</parameter>"),
    ("<arg_key>", "</arg_key>"),
    ("<arg_value>", "</arg_value>"),
)


def why_unfinished(payload: str) -> str | None:
    """Return why the payload may go on, in words; None where nothing says so."""
    counted = [(opening, payload.count(opening), payload.count(closing)) for opening, closing in _STRUCTURE_TAGS]
    if any(opened for _, opened, _ in counted):
        tag = next((opening for opening, opened, closed in counted if opened > closed), None)
        return None if tag is None else f"{tag} is not closed"
    return "its JSON is not closed" if _open_json(payload) else None


def _open_json(payload: str) -> bool:
    scan, pos = JsonScanner(strict=True), 0
    while pos < len(payload):
        unit, pos = scan.step(payload, pos, len(payload), final=True)
        if unit == "error":
            return False
    return scan.depth > 0
