"""Where an output leaves a grammar, and what that grammar waits for there, in words.

The place is the first thing a trial parse stumbled over: a call that is not whole, one that was given back as text, a
warning, or markup left in the content. What was missing is asked of the machine itself: it reads the output up to that
place and says which state it is in, which terminals it accepts and where its codec stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from parsers.checks.json_prefix import JsonPrefix, is_whole_object
from parsers.formats.model import Format, State
from parsers.machine.program import TOPMOST
from parsers.search.guess_read import NAME, SHORT, Reading, listed, quoted, telling_of
from parsers.selection.registry import build
from parsers.vocabulary.events import CallArguments, CallEnd, CallName, CallStart
from parsers.vocabulary.trace import Ownership, RejectedCall, StateView
from parsers.vocabulary.types import Delta, Piece

JSON_CODECS = frozenset(("json_call", "json_calls", "json_span", "mistral"))
OUTCOMES = frozenset(("rejected_call", "truncated_call", "incomplete_call"))  # said of a call that is looked at itself
MENDED = ("missing_", "malformed_")  # notes on what the parser put right: the grammar was left all the same


@dataclass(slots=True, frozen=True)
class Place:
    """Character `at` of the output; `missing` is what was expected there, None where the machine has to be asked."""

    at: int
    missing: str | None = None


def leave(reading: Reading) -> Place | None:
    """The first place where the output leaves the grammar; None where it never does."""
    first = min(_places(reading), key=lambda place: place.at, default=None)
    if first is None or first.missing is not None:
        return first
    return Place(first.at, _waits_for(reading, first.at))


def _places(reading: Reading) -> Iterator[Place]:
    """The first place of each kind; a later one of the same kind lies behind it."""
    for found in (_bad_call(reading), _bad_name(reading), _given_back(reading), _warned(reading)):
        if found is not None:
            yield found
    apart = _apart(reading)
    if apart is not None:
        yield Place(apart)
    for run in reading.runs:
        if run.owner == "dropped" and run.end < len(reading.text) and _solid(reading.text, run):
            yield Place(run.start)
    closing = _unclosed(reading)
    if closing is not None:
        yield Place(len(reading.text), closing)


def _bad_call(reading: Reading) -> Place | None:
    """The first call that is cut off, or whose arguments are no object."""
    starts = {event.call: event.start for event in reading.events if isinstance(event, CallStart)}
    ends = {event.call: event.start for event in reading.events if isinstance(event, CallEnd)}
    for index, call in enumerate(reading.message.tool_calls):
        if not call.complete or not is_whole_object(call.arguments):
            return _inside(reading, starts.get(index, 0), ends.get(index, len(reading.text)), index)
    return None


def _bad_name(reading: Reading) -> Place | None:
    """Where the first name goes on with characters that no name has."""
    for event in reading.events:
        if isinstance(event, CallName) and (odd := NAME.match(event.text)) is not None and odd.end() < len(event.text):
            return Place(event.start + odd.end())
    return None


def _given_back(reading: Reading) -> Place | None:
    """The first call that was none."""
    if not reading.rejected:
        return None
    first = reading.rejected[0]
    return _unnamed(reading, first) or _inside(reading, first.start, first.end, None)


def _warned(reading: Reading) -> Place | None:
    """The first warning, or note on something that was put right."""
    odd = [
        event.start
        for event in (*reading.warnings, *reading.notes)
        if event.code not in OUTCOMES and (event.severity != "info" or event.code.startswith(MENDED))
    ]
    return Place(min(odd)) if odd else None


def _apart(reading: Reading) -> int | None:
    """The first markup left over that is not the format's own, nor inside a call that was given back."""
    spans = iter([(one.start, one.end) for one in reading.rejected])
    start, end = next(spans, (len(reading.text) + 1, len(reading.text) + 1))
    for at in reading.strange:
        while end <= at:
            start, end = next(spans, (len(reading.text) + 1, len(reading.text) + 1))
        if at < start:
            return at
    return None


def _solid(text: str, run: Ownership) -> bool:
    return any(char.isalnum() for char in text[run.start : run.end])


def _unnamed(reading: Reading, rejected: RejectedCall) -> Place | None:
    """A call that was given back because no name stands where its name is due."""
    states = reading.fmt.states
    for entered, left in pairwise(reading.moves):
        if rejected.start <= entered.start <= rejected.end and states[entered.to_state].text == "name":
            given = reading.text[entered.end : left.start].strip()
            if rejected.name:
                return None
            if NAME.fullmatch(given) and left.trigger == "END":
                return Place(left.start)
            return Place(entered.end if given else left.start, "the name of the call")
    return None


def _inside(reading: Reading, start: int, end: int, call: int | None) -> Place:
    """The place inside a call that went wrong: by its JSON where it is JSON, else where the machine gave up."""
    state = _codec_state(reading, start, end)
    brace = reading.text.find("{", start, end)
    is_json = state is not None and state.codec is not None and state.codec.name in JSON_CODECS
    if is_json and brace < 0 and call is not None and reading.message.tool_calls[call].complete:
        return Place(_arguments_at(reading, call, end), f"the opening brace of the arguments of call {call}")
    if state is not None and state.codec is not None and state.codec.name in JSON_CODECS and brace >= 0:
        reader = JsonPrefix()
        text = reading.text[brace:end]
        bad = reader.feed(text)
        whose = "the call object" if call is None else f"the arguments of call {call}"
        if bad is not None and reader.awaits != "nothing more":
            return Place(brace + bad, f"{reader.awaits} in {whose}")
        if bad is None and not reader.done:
            return Place(end, f"{reader.awaits} in {whose}")
        if bad is None and call is not None and not is_whole_object(reading.message.tool_calls[call].arguments):
            return Place(_arguments_at(reading, call, end), f"the opening brace of the arguments of call {call}")
        if bad is None:
            return Place(end, None if call is None else _closers(state, reading))
    turns = [move for move in reading.moves if start <= move.start <= end]
    given_up = next((move.start for move in turns if move.trigger in ("REJECT", "MALFORMED", "OTHER")), None)
    return Place(end if given_up is None else given_up)


def _arguments_at(reading: Reading, call: int, end: int) -> int:
    return next((e.start for e in reading.events if isinstance(e, CallArguments) and e.call == call), end)


def _codec_state(reading: Reading, start: int, end: int) -> State | None:
    """The first state with a codec that the machine came to in a stretch of the output."""
    states = reading.fmt.states
    reached = [states[move.to_state] for move in reading.moves if start <= move.start <= end]
    return next((state for state in reached if state.codec is not None), None)


def _unclosed(reading: Reading) -> str | None:
    """The closing marker that never came, where the output ends inside a block of calls."""
    last = reading.moves[-1] if reading.moves else None
    if last is None or last.trigger != "END":
        return None
    state = reading.fmt.states[last.from_state]
    return None if state.text in TOPMOST else _closers(state, reading)


def _closers(state: State, reading: Reading) -> str | None:
    """The first marker that closes this state and whose opening one is in the output, in words."""
    terminals = reading.fmt.terminals
    ends = [row.on for row in state.rows if row.on.endswith("_END") and row.on in terminals]
    ends = [name for name in ends if not name.startswith(("THINK", "NAME", "HEADER"))]
    opened = [name for name in ends if terminals.get(name.removesuffix("_END") + "_START", "\0") in reading.text]
    return f"the closing {quoted(terminals[opened[0]])}" if opened else None


def _waits_for(reading: Reading, at: int) -> str | None:
    """What the machine says it waits for after the output up to `at`."""
    machine = build(reading.fmt)
    machine.begin(reading.context)
    machine.feed(Delta(1, (Piece(reading.text[:at]),)))
    view = machine.view()
    state = reading.fmt.states[view.state]
    literals = [reading.fmt.terminals[name] for name in view.candidates if name in reading.fmt.terminals]
    if literals:
        return f"the rest of {listed([quoted(text) for text in literals], 'or')}"
    if state.codec is not None and state.codec.name in JSON_CODECS and "depth" in (view.codec or ""):
        return _json_words(reading, at)
    if state.codec is not None:
        return _codec_words(state, view, reading, at)
    if state.text in ("name", "header", "id"):
        return _name_words(view, reading.fmt)
    if state.text in TOPMOST:
        return None
    return _accepted(view, reading.fmt, reading.text[at:])


def _json_words(reading: Reading, at: int) -> str | None:
    """What the JSON of the call that is open at this place waits for."""
    begun = [e.start for e in reading.events if isinstance(e, CallStart) and e.start <= at]
    brace = reading.text.find("{", max(begun, default=0), at)
    reader = JsonPrefix()
    fits = brace >= 0 and reader.feed(reading.text[brace:at]) is None
    return f"{reader.awaits} in the call object" if fits else None


def _codec_words(state: State, view: StateView, reading: Reading, at: int) -> str | None:
    """Where the codec stands, as what it waits for."""
    where = view.codec or ""
    options = {} if state.codec is None else state.codec.options
    if where.startswith("in the value of"):
        closer = options.get("value_close")
        return f"the closing {quoted(closer)}" if closer else f"the end {where.removeprefix('in ')}"
    if where == "in a parameter's name":
        return f"{quoted(options.get('key_close', '>'))} after a parameter's name"
    if where.startswith("before the"):
        return "the opening brace" if state.codec and state.codec.name in JSON_CODECS else where.removeprefix("before ")
    if where in ("in a name", "in the name"):
        named = reading.text[:at].rstrip()[-1:].isalnum()
        return "the opening bracket after the name of the call" if named else "the name of the call"
    if where.startswith("between parameters"):
        return _accepted(view, reading.fmt, "", options.get("key_open"))
    return _closers(state, reading)


def _name_words(view: StateView, fmt: Format) -> str:
    rows = [row for row in fmt.states[view.state].rows if row.on in view.accepts and row.keep == "drop"]
    rows.sort(key=lambda row: fmt.states[row.to].codec is None)
    ends = [fmt.terminals[row.on] for row in rows]
    named = any(hold.end > hold.start for hold in view.holds)
    return f"{quoted(ends[0])} after the name of the call" if named and ends else "the name of the call"


def _accepted(view: StateView, fmt: Format, rest: str, first: object = None) -> str | None:
    """The telling markers that may follow, at most three."""
    telling = set(telling_of(fmt))
    texts = [fmt.terminals[name] for name in view.accepts if not name.startswith("THINK")]
    texts = [text for text in texts if text in telling or len(text) < SHORT]
    begun = [text for text in texts if rest and text.startswith(rest)]
    if begun:
        return f"the rest of {listed([quoted(text) for text in begun[:3]], 'or')}"
    words = dict.fromkeys([*([str(first)] if first else []), *texts])
    return listed([quoted(text) for text in words][:3], "or") or None
