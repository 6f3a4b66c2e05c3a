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
from functools import partial
from typing import Literal

from parsers.arguments.json_value import JsonScanner
from parsers.formats.model import Format
from parsers.selection.registry import build, get_format
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import ContentText, Dropped, Event, Marker
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
from parsers.wrappers.held import Held, Readers
from parsers.wrappers.repair import Parameter, add_parameters, close_arguments, find_closing, find_parameters
from parsers.wrappers.table import OTHERS, REPAIR, REST, SELECTED, XML

NO_READING = DropReason(Cause.NO_READING)
_TAGS = ("<parameter", "<arg_key>")


@dataclass(slots=True)
class _Tried:
    """A step of the chain: found, refused or skipped, and why in words."""

    step: str
    trigger: Literal["FOUND", "REFUSED", "SKIPPED", "CANDIDATE", "RELEASED"]
    words: str


@dataclass(slots=True)
class Outcome:
    """The outcome for a buffer: the steps that were tried, and the events to send. `calls` is false for text.

    `streamed`: the events are the streamed ones, so that what the parser still keeps back belongs to them.
    """

    steps: list[_Tried] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    calls: bool = False
    streamed: bool = False


class Chain:
    """Decides buffers of one run. `closers` are the end markers by name."""

    def __init__(self, fmt: Format, readers: Readers, policy: Mapping[str, str], closers: Mapping[str, str]) -> None:
        self._format = fmt
        self._readers = readers
        self._policy = policy
        self._context = readers.calling
        self._closers = closers

    def decide(self, held: Held) -> Outcome:
        """Try one step after the other."""
        out = Outcome()
        calls = calls_of(held.events)
        if not self._selected(held, calls, out):
            steps: list[Callable[[Held, list[Call], Outcome], bool]] = [partial(self._other, *one) for one in OTHERS]
            any(step(held, calls, out) for step in (*steps, self._xml, self._repair, self._rest))
        return out

    def _selected(self, held: Held, calls: list[Call], out: Outcome) -> bool:
        bad = next((call for call in calls if not call.good), None)
        if not calls:
            words = "there is no call"
        elif bad is not None:
            words = f"the arguments of {bad.name} are not one JSON object"
        elif _missing(held, calls):
            words = "there are parameters outside the arguments"
        else:
            return _found(out, SELECTED, held.events, len(calls))
        return _not_found(out, SELECTED, "REFUSED", words)

    def _other(
        self, step: str, parser: str, texts: tuple[str, ...], held: Held, calls: list[Call], out: Outcome
    ) -> bool:
        fits = any(text in held.text for text in texts) if texts else held.opener.startswith("<")
        if parser == self._format.name or not fits:
            return _not_found(out, step, "SKIPPED", "nothing in the buffer calls for it")
        own = held.opener in get_format(parser).terminals.values()
        events = self._read(parser, held.text, held.at) if own else self._stripped(held, parser)
        found = calls_of(events)
        text = any(isinstance(event, ContentText) and event.text.strip() for event in events)
        refusal = self._refusal(calls, found) or ("other text remains" if text and not texts else None)
        if refusal is None:
            return _found(out, step, events, len(found))
        return _not_found(out, step, "REFUSED", refusal)

    def _read(self, parser: str, text: str, at: int) -> list[Event]:
        policy = {key: value for key, value in self._policy.items() if key in get_format(parser).policies}
        return read_whole(lambda: build(get_format(parser), policy), self._context, text, at)

    def _stripped(self, held: Held, parser: str) -> list[Event]:
        """Return what another parser makes of the payload without its markers."""
        start = len(held.opener)
        closings = [(at, name) for name, text in self._closers.items() if (at := held.text.rfind(text)) >= start]
        stop, name = max(closings, default=(len(held.text), ""))
        closer = self._closers.get(name, "")
        inner = self._read(parser, held.text[start:stop], held.at + start)
        after = held.at + stop + len(closer)
        ends = [Marker(held.at + stop, after, name)] if closer else []
        tail = [ContentText(after, held.end, held.text[after - held.at :])] if after < held.end else []
        head = [Marker(held.at, held.at + start, held.name)] if start else []
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

    def _xml(self, held: Held, calls: list[Call], out: Outcome) -> bool:
        """Add parameters that stand in the buffer, outside the arguments, to the call before them."""
        if not calls or not any(tag in held.text for tag in _TAGS):
            return _not_found(out, XML, "SKIPPED", "there is nothing to add, or nothing to add it to")
        missing = _missing(held, calls)
        if missing and all(call.good for call in calls):
            taken = sorted([(one.start, one.end) for _, part in missing for one in part])
            events = without_spans(held.events, taken)
            left = calls_of(events)
            blocks = [(left[number], self._added(events, left[number], part)) for number, part in missing]
            return _found(out, XML, replace_calls(events, blocks), len(calls), f"{len(taken)} added")
        return _not_found(out, XML, "REFUSED", "no parameter is missing that stands there")

    def _added(self, events: Sequence[Event], call: Call, missing: list[Parameter]) -> list[Event]:
        tool = self._context.tool(call.name)
        decode = self._policy.get("entity_decoding") == "on"
        schema = None if tool is None else tool.parameters
        segments, markers = add_parameters(segments_of(events, call), missing, schema, decode=decode)
        return rewrite_arguments(events, call, segments, markers)

    def _repair(self, held: Held, calls: list[Call], out: Outcome) -> bool:
        """Close the arguments of each call. What its end marker closed stands even where that is not possible."""
        unclear = bool(held.over and held.candidates and calls and not calls[-1].complete)
        fixes = [(call, None if call.good else find_closing(call.arguments, over=held.over)) for call in calls]
        open_calls = [call for call, fix in fixes if not call.good and fix is None and held.over and not call.complete]
        if not calls or unclear or open_calls:
            words = "there is no call"
            if open_calls:
                words = f"the arguments of {open_calls[0].name} are cut off and cannot be closed"
            elif unclear:
                words = "an end marker inside the arguments leaves unclear where they end"
            return _not_found(out, REPAIR, "REFUSED", words)
        blocks: list[tuple[Call, list[Event]]] = []
        for call, fix in fixes:
            if fix is not None:
                own = segments_of(held.events, call)
                segments, dropped = close_arguments(own, *fix, held.events[call.last].start)
                blocks.append((call, rewrite_arguments(held.events, call, segments, dropped)))
        events = replace_calls(held.events, blocks)
        return _found(out, REPAIR, events, len(calls), f"{len(blocks)} repaired")

    def _rest(self, held: Held, calls: list[Call], out: Outcome) -> bool:
        """The last step: wait where that may help, read what follows a candidate end, or give up."""
        payload = held.text[len(held.opener) :]
        for closer in self._closers.values():
            payload = payload.removesuffix(closer)
        why = None if held.over or held.again else why_unfinished(payload)
        if why is not None:
            out.steps.append(_Tried(REST, "CANDIDATE", why))
            return True
        if held.over and held.candidates:
            middle = held.candidates[0]
            events = read_whole(self._readers.build, self._context, held.text[middle - held.at :], middle)
            found = calls_of(events)
            if found and all(call.good for call in found):
                before = ContentText(held.at, middle, held.text[: middle - held.at])
                return _found(out, REST, [before, *events], len(found))
        out.steps.append(_Tried(REST, "RELEASED", NO_READING.words))
        out.events, out.streamed = calls_as_text(held.events, held.text, held.at), True
        return True


def _not_found(out: Outcome, step: str, trigger: Literal["REFUSED", "SKIPPED"], words: str) -> bool:
    out.steps.append(_Tried(step, trigger, words))
    return False


def _found(out: Outcome, step: str, events: list[Event], count: int, more: str = "") -> bool:
    words = f"found {count} call{'' if count == 1 else 's'}"
    out.steps.append(_Tried(step, "FOUND", f"{words}, {more}" if more else words))
    out.events, out.calls, out.streamed = events, True, step in (SELECTED, XML, REPAIR)
    return True


def _missing(held: Held, calls: Sequence[Call]) -> list[tuple[int, list[Parameter]]]:
    """Calls by number, with the parameters that stand behind their start and not in their arguments, each once."""
    free = _free(held) if any(tag in held.text for tag in _TAGS) else []
    found: list[tuple[int, list[Parameter]]] = []
    for number, call in reversed(list(enumerate(calls))):
        missing: dict[str, Parameter] = {}
        while free and free[-1].start >= held.events[call.first].start:
            parameter = free.pop()
            missing[parameter.key] = parameter
        value = call.value
        wanted = [] if value is None else [missing[key] for key in reversed(missing) if key not in value]
        found += [(number, wanted)] if wanted else []
    return found[::-1]


def _free(held: Held) -> list[Parameter]:
    """The parameters in text of the buffer that belongs to no call's name, id or arguments."""
    found: list[Parameter] = []
    start = end = held.at
    free = [
        event
        for event in held.events
        if isinstance(event, ContentText | Dropped) or (isinstance(event, Marker) and event.terminal == "structure")
    ]
    for event in [*sorted(free, key=lambda event: event.start), Marker(held.end + 1, held.end + 1)]:
        if event.start != end:
            found += find_parameters(held.text[start - held.at : end - held.at], start)
            start = event.start
        end = event.end
    return found


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
    scan, pos = JsonScanner(strict=True), 0
    while pos < len(payload):
        unit, pos = scan.step(payload, pos, len(payload), final=True)
        if unit == "error":
            return None
    return "its JSON is not closed" if scan.depth > 0 else None
