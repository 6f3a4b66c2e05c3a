"""The result pane: the message, every character tagged with the step that sent it.

Because a message only ever grows, "the message at step N" is the whole message with everything later than N toned
down. So the pane is drawn once per window; stepping only moves the line between sent and not yet sent. Of a long run,
text sent outside the window is folded into runs that say how much there is and lead there. The wire view is the same
answer in chunks, as an event stream, or as the one object.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any

from markupsafe import Markup

from parsers.cases.message_events import counted, events_of
from parsers.cases.stated_order import Wanted
from parsers.checks.deltas import EVERY_CHUNK, ClientResult, clients
from parsers.checks.known import Finish, known_of
from parsers.replays.replayer import Replayer
from parsers.vocabulary.stretches import Stretch
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, ToolCall
from parsers.wire.api_events import APIS, Api, ApiEvent, api_events
from parsers.wire.chunks import Chunk, Dialect, Envelope, closing_chunks, recorded_chunks, step_chunks
from parsers.wire.held import held
from parsers.wire.message import Usage, chat_completion
from webapp.glyphs import count, shorten, show_lines
from webapp.page.inspect.index import UNPLACED, CallIndex, Channel, TraceIndex
from webapp.page.inspect.window import Window

_TABLE_LIMIT = 100_000
_CALLS_SHOWN, _NAME = 60, 100
_WHOLE = 1_000  # steps: of a run of so few all that is sent is shown, wherever the window is
_FOLDED = 2_000
_SHORT = 24  # characters that are shown though they were sent outside the window: to count them takes as much room
_MEMBERS_SHOWN, _MEMBERS_BESIDE = 100, 20  # of a call: sent in the window, and on either side of it


@dataclass(slots=True)
class Sent:
    """Text sent in one step, with the output [start, end) it came from, `at` which character of its channel it begins
    with. `folded` text is counted, not shown."""

    text: str
    role: str
    step: int
    start: int
    end: int
    kind: str = "copied"
    folded: str = ""
    at: int = 0

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show_lines(self.text)


@dataclass(slots=True)
class _Argument:
    """One member of the arguments: its value as it was sent, what the schema says of it, its place in the output."""

    key: str
    value: list[Sent]
    schema: str
    unknown: bool
    step: int
    start: int
    end: int

    @property
    def attributes(self) -> Markup:
        """Which part of the output selecting this member lights up."""
        return Markup(' data-select="{}-{}"').format(self.start, self.end)


@dataclass(slots=True)
class _Call:
    """One tool call of the message."""

    number: int
    name: list[Sent]
    id: list[Sent]
    raw: list[Sent]
    arguments: list[_Argument]  # those around the window; so many are before and after them
    arguments_before: int
    arguments_after: int
    begins: int
    ends: int
    complete: bool
    problem: str

    @property
    def id_text(self) -> str:
        """Its id."""
        return "".join([item.text for item in self.id])

    @property
    def has_unknown(self) -> bool:
        """Return whether a member is none that the tool declares."""
        return any(row.unknown for row in self.arguments)


@dataclass(slots=True)
class _Difference:
    """One compared part of the message. `expected` None: the case does not say."""

    part: str
    expected: str
    actual: str
    same: bool


@dataclass(slots=True)
class Result:
    """Everything the result pane shows."""

    reasoning: list[Sent]
    content: list[Sent]
    calls: list[_Call]
    calls_before: int
    calls_after: int
    finish: str
    last_step: int
    differences: list[_Difference] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def result(
    index: TraceIndex, window: Window, context: Context, expect: dict[str, Any] | None, *, soft: bool = False
) -> Result:
    """The result pane of `window`. `soft`: white space does not count in texts."""
    window = window if index.total > _WHOLE else replace(window, first=1, last=index.total)
    low = bisect_left(index.call_ends, window.first)
    high = max(low, bisect_right(index.call_begins, window.last))
    low = max(low, high - _CALLS_SHOWN)
    return Result(
        reasoning=_clip(index.reasoning, window),
        content=_clip(index.content, window),
        calls=[_call(index, index.calls[at], window, context) for at in index.call_numbers[low:high]],
        calls_before=low,
        calls_after=len(index.calls) - high,
        finish=index.trace.finish_reason,
        last_step=index.total,
        differences=_differences(index, expect, soft=soft),
        rejected=index.rejected,
    )


def is_end_known(replayer: Replayer) -> bool:
    """Return whether it is known why a message ended: a parser always says so, a recording where it has a place for
    it, be it that it is empty."""
    return not replayer.plays or known_of(replayer).finish is not Finish.ABSENT


def _clip(channel: Channel, window: Window, start: int = 0, end: int | None = None) -> list[Sent]:
    """Characters [start, end) of `channel`: those sent inside the window as runs, the rest counted."""
    end = channel.length if end is None else end
    low, high = max(start, channel.length_at(window.first - 1)), min(end, channel.length_at(window.last))
    if low >= high:
        return folded(channel, start, end)
    low, high = start if low - start <= _SHORT else low, end if end - high <= _SHORT else high
    return [*folded(channel, start, low), *sent(channel, low, high), *folded(channel, high, end)]


def sent(channel: Channel, low: int, high: int) -> Iterator[Sent]:
    """Characters [low, high) of a channel as runs. A very long one (all in one step) keeps its two ends."""
    for piece in channel.between(low, high) if low < high else ():
        left, right = max(low - piece.at, 0), min(high - piece.at, len(piece.text))
        if right - left > _FOLDED:
            head, tail = left + _FOLDED // 2, right - _FOLDED // 2
            yield _sent(channel, piece, left, head)
            yield replace(_sent(channel, piece, head, tail), text="", folded=f"{count(tail - head, 'character')} more")
            yield _sent(channel, piece, tail, right)
        elif left < right:
            yield _sent(channel, piece, left, right)


def _sent(channel: Channel, piece: Stretch, left: int, right: int) -> Sent:
    """Characters [left, right) of a stretch."""
    places = (piece.start + left, piece.start + right) if piece.kind == "copied" else (piece.start, piece.end)
    kind, at = piece.kind or UNPLACED, piece.at + left
    return Sent(piece.text[left:right], channel.role, piece.step, *places, kind, at=at)


def folded(channel: Channel, start: int, end: int) -> list[Sent]:
    """Characters [start, end) of a channel as a run that is counted; nothing for none."""
    if start >= end:
        return []
    piece = channel.at(start)
    words = f"{count(end - start, 'character')} from step {piece.step:,} on"
    return [Sent("", channel.role, piece.step, piece.start, piece.end, folded=words, at=start)]


def _call(index: TraceIndex, call: CallIndex, window: Window, context: Context) -> _Call:
    text = call.arguments.text if call.arguments.length <= _TABLE_LIMIT else ""
    found, problem = _read_arguments(text)
    low, high = _shown_members(found, call.arguments, window)
    return _Call(
        number=call.number,
        # whose arguments these are is shown wherever it was sent
        name=list(sent(call.name, 0, call.name.length)) if call.name.length <= _NAME else _clip(call.name, window),
        id=_clip(call.id, window),
        raw=_clip(call.arguments, window),
        arguments=_arguments(call, found[low:high], window, context),
        arguments_before=low,
        arguments_after=len(found) - high,
        begins=call.begins,
        ends=call.ends or index.total,
        complete=call.complete,
        problem=problem if text else _unread(call),
    )


def _unread(call: CallIndex) -> str:
    return "too long to be split into members here" if call.arguments.length else "no arguments were sent"


def _shown_members(found: Sequence[_Member], arguments: Channel, window: Window) -> tuple[int, int]:
    """Which members are shown, as a range: those that are sent in the window, if not many, and a few beside."""
    low = bisect_left(found, arguments.length_at(window.first - 1), key=attrgetter("end"))
    high = bisect_right(found, arguments.length_at(window.last), key=attrgetter("start"))
    high = min(max(low, high), low + _MEMBERS_SHOWN) + _MEMBERS_BESIDE
    return max(0, low - _MEMBERS_BESIDE), min(high, len(found))


@lru_cache(maxsize=32)  # asked for with every window
def _read_arguments(text: str) -> tuple[list[_Member], str]:
    """The members of some arguments, and why these cannot be read as they stand; empty when they can."""
    return members(text), _problem(text)


def _problem(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not valid JSON: {error}" if isinstance(error, ValueError) else "nested too deeply to be read"
    return "" if isinstance(value, dict) else "valid JSON, but not an object"


def _arguments(call: CallIndex, found: Sequence[_Member], window: Window, context: Context) -> list[_Argument]:
    tool = context.tool(call.name.text)
    schema = dict(tool.parameters or {}) if tool else {}
    properties = schema.get("properties") if isinstance(schema.get("properties"), dict) else None
    rows = []
    for member in found:
        value = _clip(call.arguments, window, member.start, member.end)
        words, unknown = _schema_words(properties, member.key)
        first = call.arguments.at(member.start)
        start = value[0].start if value else first.start
        rows.append(_Argument(member.key, value, words, unknown, first.step, start, value[-1].end if value else start))
    return rows


def _schema_words(properties: dict[str, Any] | None, key: str) -> tuple[str, bool]:
    """Return what the tool's schema says of `key`, and whether it does not know it."""
    if properties is None:
        return "", False
    if key not in properties:
        return "not in schema", True
    kind = properties[key].get("type", "any") if isinstance(properties[key], dict) else "any"
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind), False


def _differences(index: TraceIndex, expect: dict[str, Any] | None, *, soft: bool) -> list[_Difference]:
    """Expected against actual, part by part; only the parts the case speaks about."""
    expect, message = expect or {}, index.trace.message
    found = [
        _difference(part, _text(expect[part]), actual or "", soft=soft)
        for part, actual in (("reasoning", message.reasoning), ("content", message.content))
        if part in expect
    ]
    if expect.get("finish_reason") is not None:
        found.append(_difference("finish", expect["finish_reason"], index.trace.finish_reason))
    if (wanted := expect.get("tool_calls")) is not None:
        actual_calls = [_call_words(call.name, call.arguments) for call in message.tool_calls]
        expected = [_call_words(item["name"], _text(item.get("raw")) or item.get("arguments")) for item in wanted]
        pairs = zip_longest(expected, actual_calls, fillvalue="")
        found += [_difference(f"call {number}", *pair) for number, pair in enumerate(pairs)]
    if (parts := expect.get("events")) is not None:
        said = [(one["kind"], _text(one.get("text"))) for one in parts]
        came = [(one.kind, one.text) for one in events_of(index.trace, said, soft=soft)]
        found += _order(said, came, soft=soft)
    return found


def _order(*sides: Wanted, soft: bool) -> Iterator[_Difference]:
    """In which order the parts come, blank text left out where that is `soft`, and those that no other row shows."""
    told = [[(side[at][0], text) for at, text in counted(side, soft=soft)] for side in sides]
    yield _difference("order", *["\n".join([kind for kind, _ in side]) for side in told])
    wanted, texts = ([text for kind, text in side if kind == "text"] for side in told)
    if max(len(wanted), len(texts)) > 1:
        pairs = zip_longest(wanted, texts, fillvalue="")
        yield from (_difference(f"text {number}", *pair, soft=soft) for number, pair in enumerate(pairs))


def _text(given: str | list[str] | None) -> str:
    """A text as a case file has it: one of several lines is a list of them."""
    return given or "" if isinstance(given, str | None) else "".join(given)


def _difference(part: str, expected: str, actual: str, *, soft: bool = False) -> _Difference:
    same = expected == actual or (soft and expected.split() == actual.split())
    return _Difference(part, expected[:_FOLDED], actual[:_FOLDED], same)


def _call_words(name: str, arguments: Any) -> str:
    """A call, its arguments laid out in one spelling, so that equal calls compare equal and a difference has a line."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return f"{name} {arguments}"
    return f"{name} {json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2)}"


# Finds the top-level members of an object in a call's argument text, finished or cut off, with their places.
#
# Not a validator: it only has to say where each key and value stands, so that the page can show them one by one and
# point at the output they came from. String-aware, one pass, never raises.

_NEXT = re.compile(r'["{}\[\],:]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*("|$)', re.DOTALL)


@dataclass(slots=True)
class _Member:
    """A key and the place [start, end) of its value in the argument text."""

    key: str
    start: int
    end: int


def members(text: str) -> list[_Member]:
    """The members of the outermost object of `text`; nothing when it is not an object."""
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 1] != "{":
        return []
    found: list[_Member] = []
    key, value, depth, at = "", -1, 0, begin
    last_string = ""
    while match := _NEXT.search(text, at):
        char, at = match[0], match.end()
        if char == '"':
            closed = _STRING_END.match(text, at)
            at = closed.end() if closed else len(text)
            last_string = text[match.start() : at]
        elif char in "{[":
            depth += 1
        elif char == ":" and depth == 1 and value < 0:
            key, value = _spelled(last_string), at
        elif (char == "," and depth == 1) or char in "}]":
            depth -= char in "}]"
            if value >= 0 and depth == (1 if char == "," else 0):
                found.append(_member(text, key, value, match.start()))
                value = -1
            if depth == 0:
                return found
    if value >= 0:
        found.append(_member(text, key, value, len(text)))
    return found


def _member(text: str, key: str, start: int, end: int) -> _Member:
    part = text[start:end]
    return _Member(key, start + len(part) - len(part.lstrip()), start + len(part.rstrip()))


def _spelled(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal


# The wire view: chunks and stream show the steps of the window, and of a step that sends very many chunks those around
# the cursor. The one object is built only when it is asked for, and shortened where its texts and lists are long. A
# recorded stream that is played back is shown as it was recorded.

CHUNKS_SHOWN = 400
TEXT_SHOWN = 2_000
ITEMS_SHOWN = 60
HOLE = "\u2026"


@dataclass(slots=True)
class _WireRow:
    """One chunk: the step that sent it, its delta, the reason if it is the last, and the event that carries it.

    An event of another API has its name in the place of a delta."""

    step: int
    delta: str
    finish: str
    event: str


@dataclass(slots=True)
class Wire:
    """Holds what the view shows. `whole`: nothing is left out, so that a copy of it is the answer.

    `before` and `after` count chunks of the window that are not shown; `envelope` is what stands around every delta.
    `deltas` counts the steps of the whole run that send something, or the chunks that were recorded.
    """

    view: str
    dialect: Dialect
    first: int
    last: int
    envelope: tuple[str, str] = ("", "")
    rows: list[_WireRow] = field(default_factory=list)
    before: int = 0
    after: int = 0
    done: bool = False
    deltas: int = 0
    response: list[str] = field(default_factory=list)
    whole: bool = True
    clients: list[_ClientView] = field(default_factory=list)
    recorded: bool = False
    held: list[str] = field(default_factory=list)
    stop: str = ""
    broke: str = ""

    @property
    def api(self) -> bool:
        """Return whether these are the events of another API."""
        return self.view in APIS


def wire(
    index: TraceIndex,
    window: Window,
    step: int,
    *,
    view: str,
    envelope: Envelope,
    tokens: int,
    stream: Sequence[Any] | None = None,
) -> Wire:
    """The wire view of `window`, seen from `step`. `tokens` is the number of tokens of the output; `stream` what a
    server sent, where that is played back."""
    deltas = len(index.emissions) if stream is None else len(stream)
    found = Wire(view, envelope.dialect, window.first, window.last, deltas=deltas, recorded=stream is not None)
    if view == "response":
        _respond(found, chat_completion(index.trace, envelope, Usage(0, tokens)))
        return found
    if view == "clients":
        found.clients = client_views(index.trace)
        return found
    if view in APIS:
        api: Api = "responses" if view == "responses" else "messages"
        _stream_events(found, api, [*api_events(api, index.trace, envelope, tokens)], step)
        return found
    sent = None if stream is None else recorded_chunks(stream, window.first, window.last)
    chunks = list(_chunks(index, window, envelope) if sent is None else sent)
    low = max(0, min(bisect_left(chunks, step, key=attrgetter("step")) - CHUNKS_SHOWN // 2, len(chunks) - CHUNKS_SHOWN))
    high = min(len(chunks), low + CHUNKS_SHOWN)
    found.before, found.after = low, len(chunks) - high
    found.done = window.last == index.total and not found.after
    found.envelope = _around(envelope) if sent is None else ("", "")
    found.rows = [_row(chunk) for chunk in chunks[low:high]]
    cut = any(len(chunk.text) > TEXT_SHOWN for chunk in chunks[low:high])
    found.whole = found.done and not cut and not low and window.first == 1
    return found


def _stream_events(found: Wire, api: Api, events: list[ApiEvent], step: int) -> None:
    """The events of the window, and what a client holds once it has those up to `step`."""
    first = bisect_left(events, found.first, key=attrgetter("step"))
    last = bisect_right(events, found.last, key=attrgetter("step"))
    here = bisect_right(events, step, key=attrgetter("step"))
    low = max(first, min(here - CHUNKS_SHOWN // 2, last - CHUNKS_SHOWN))
    high = min(last, low + CHUNKS_SHOWN)
    found.before, found.after = low - first, last - high
    found.rows = [_event_row(event) for event in events[low:high]]
    found.whole = (low, high) == (0, len(events)) and not any(len(event.text) > TEXT_SHOWN for event in events)
    kept = held(api, events[:here])
    found.held = json.dumps(shortened(kept.parts), ensure_ascii=False, indent=2).split("\n")
    found.stop, found.broke = kept.stop or "", kept.broke


def _event_row(event: ApiEvent) -> _WireRow:
    return _WireRow(event.step, event.name, "", shortened(event.text.split("\n")[1]))


def dialect_of(name: str) -> Dialect:
    """The dialect of that name, else the usual one."""
    return "reasoning_content" if name == "reasoning_content" else "reasoning"


def _chunks(index: TraceIndex, window: Window, envelope: Envelope) -> Iterator[Chunk]:
    """The chunks of the window's steps, the closing one included where the window holds the last step."""
    opening = index.emissions[0] if index.emissions else 0
    steps = [*map(index.step, range(window.first, window.last + 1))]
    sent = chain.from_iterable(step_chunks(step, envelope, first=step.index == opening) for step in steps)
    end = closing_chunks(index.trace, envelope, opened=bool(opening)) if window.last == index.total else ()
    return chain(sent, end)


def _row(chunk: Chunk) -> _WireRow:
    """A chunk of ours by its delta; one that was recorded, whatever its shape, as a whole."""
    choice, event = _choice(chunk.payload), f"data: {shortened(chunk.text)}"
    if choice is None:
        return _WireRow(chunk.step, shortened(json.dumps(chunk.payload, ensure_ascii=False)), "", event)
    reason = choice.get("finish_reason")
    shown = json.dumps(choice["delta"], ensure_ascii=False)
    return _WireRow(chunk.step, shortened(shown), reason if isinstance(reason, str) else "", event)


def _choice(payload: Any) -> dict[str, Any] | None:
    choices = payload.get("choices") if isinstance(payload, dict) else None
    one = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    return one if isinstance(one, dict) and "delta" in one else None


def _around(envelope: Envelope) -> tuple[str, str]:
    """Return what stands before and after the delta in every chunk but the last."""
    given = {"id": envelope.id, "object": "chat.completion.chunk", "created": envelope.created, "model": envelope.model}
    head = json.dumps(given, ensure_ascii=False).removesuffix("}")
    return f'{head}, "choices": [{{"index": 0, "delta": ', ', "finish_reason": null}]}'


def _respond(found: Wire, answer: dict[str, Any]) -> None:
    shown = shortened(answer)
    found.response = json.dumps(shown, ensure_ascii=False, indent=2).split("\n")
    found.whole = shown == answer


def shortened(value: Any) -> Any:
    """JSON data with long texts and lists shortened in the middle: their two ends, and how much is between them."""
    if isinstance(value, str) and len(value) > TEXT_SHOWN:
        half = TEXT_SHOWN // 2
        return f"{value[:half]} [{HOLE}{len(value) - TEXT_SHOWN:,} more{HOLE}] {value[-half:]}"
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list) and len(value) > ITEMS_SHOWN:
        half = ITEMS_SHOWN // 2
        hole = f"{HOLE} {len(value) - ITEMS_SHOWN:,} more {HOLE}"
        return [*map(shortened, value[:half]), hole, *map(shortened, value[-half:])]
    return [shortened(item) for item in value] if isinstance(value, list) else value


# What clients make of a stream: the calls as each of three models of a client builds them, beside each other.
#
# The models are those of the check deltas_build_message (`parsers.checks.deltas`); here they are drawn.

SHOWN = 300
CALLS_SHOWN = 40
STRICT = "The OpenAI API sends arguments in pieces without them, so that this client breaks on every such stream."
TITLES = ("by index", "by id", "id and name in every chunk")


@dataclass(slots=True)
class _ClientView:
    """One client. `outcome` in a few words, with its severity.

    `calls` are names and arguments as it has them at the end, and whether the message has no such call."""

    title: str
    result: ClientResult
    severity: str
    outcome: str
    note: str
    calls: list[tuple[str, str, bool]]
    more: int


def client_views(trace: Trace) -> list[_ClientView]:
    """The three clients on the deltas of a replay."""
    wanted = trace.message.tool_calls
    return [_view(number, result, wanted) for number, result in enumerate(clients(trace))]


def _view(number: int, result: ClientResult, wanted: list[ToolCall]) -> _ClientView:
    right = [(call.name, call.arguments) for call in wanted]
    same = result.calls == right and not result.broke
    usual = number == EVERY_CHUNK
    severity = "pass" if same else "info" if usual else "error"
    outcome = f"gets {count(len(result.calls), 'call')}" + (", as the message has" if same else "")
    calls = [
        (shorten(name, SHOWN), shorten(arguments, SHOWN), right[at : at + 1] != [(name, arguments)])
        for at, (name, arguments) in enumerate(result.calls[:CALLS_SHOWN])
    ]
    return _ClientView(
        title=TITLES[number],
        result=result,
        severity=severity,
        outcome=outcome if same or not result.broke else f"breaks, {outcome}",
        note=STRICT if usual and not same else "",
        calls=calls,
        more=max(0, len(result.calls) - CALLS_SHOWN),
    )
