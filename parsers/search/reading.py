"""What one format makes of an output: a trial parse of the whole text, how well it went, and where it went wrong.

The output leaves the grammar at the first thing the parse stumbled over: a call that is not whole or was given back as
text, a warning, or markup left in the content. What was missing there is asked of a machine that read up to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from parsers.checks.ill_formed import MENDED
from parsers.checks.json_text import JsonPrefix, is_whole_object, misfit
from parsers.formats.layers import FORCED, TOPMOST, layered
from parsers.formats.model import Format, State
from parsers.machine.machine import Machine
from parsers.replays.partition import partition
from parsers.replays.replayer import Replayer
from parsers.search.found import Leave
from parsers.search.markup import LEFT_OVER
from parsers.selection.claims import CALL_NAME, SHORT, is_bare, telling_literals
from parsers.vocabulary.events import CallArguments, CallEnd, CallName, CallStart, Diagnostic, Event, Marker
from parsers.vocabulary.trace import CodecState, Ownership, RejectedCall, Stand, StateView, Transition
from parsers.vocabulary.types import Context, Delta, Message, Piece, ToolCall
from parsers.vocabulary.words import listed, quoted
from parsers.wire.assemble import Assembler

BARE_COSTS = 500  # a format without markers of its own is the last guess where markup is left over
JSON_CODECS = frozenset(("json_call", "json_calls", "json_span", "mistral"))
OUTCOMES = frozenset(("rejected_call", "truncated_call", "incomplete_call"))  # said of a call that is looked at itself


@dataclass
class Reading:
    """One format's reading of `text`."""

    fmt: Format
    text: str
    context: Context
    message: Message
    events: list[Event]
    moves: list[Transition]
    rejected: list[RejectedCall]

    @cached_property
    def runs(self) -> Sequence[Ownership]:
        """Return where each character went."""
        return partition(self.events, len(self.text))

    @property
    def complete(self) -> int:
        """Calls that end where their grammar ends them."""
        return sum([call.complete for call in self.message.tool_calls])

    @cached_property
    def good(self) -> int:
        """Calls that are whole, with an argument object and a name that is known."""
        return sum([is_good(call, self.context) for call in self.message.tool_calls])

    @cached_property
    def left(self) -> list[int]:
        """Return where text that went to content looks like markup."""
        content = [run for run in self.runs if run.owner == "content"]
        return [match.start() for run in content for match in LEFT_OVER.finditer(self.text, run.start, run.end)]

    @cached_property
    def strange(self) -> list[int]:
        """Markup left over that is not the format's own, given back with a call that was none."""
        if not self.rejected or is_bare(self.fmt):
            return self.left
        first, own = self.rejected[0].start, (*telling_literals(self.fmt), "{")
        return [at for at in self.left if at < first or not self.text.startswith(own, at)]

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """The telling markers that were recognised, in order of their first place."""
        own = frozenset(telling_literals(self.fmt))
        seen = [self.text[event.start : event.end] for event in self.events if isinstance(event, Marker)]
        return tuple(dict.fromkeys([marker for marker in seen if marker in own]))

    @cached_property
    def dropped(self) -> int:
        """Return how many letters and digits reach nobody."""
        lost = [self.text[run.start : run.end] for run in self.runs if run.owner == "dropped"]
        return sum([char.isalnum() for part in lost for char in part])

    @cached_property
    def warnings(self) -> list[Diagnostic]:
        """Return what the parser found worth a warning."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity != "info"]

    @cached_property
    def notes(self) -> list[Diagnostic]:
        """Return what it put right by itself."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity == "info"]

    @cached_property
    def score(self) -> int:
        """One number to rank readings by. A good call outweighs everything that may be said against a reading."""
        calls, fmt = self.message.tool_calls, self.fmt
        whole = sum([call.complete and CALL_NAME.fullmatch(call.name) is not None for call in calls]) - self.good
        score = 1000 * self.good + 250 * max(whole, 0) + 100 * (len(calls) - self.complete)
        own = len(self.left) - len(self.strange)
        score -= 120 * min(len(self.strange), 5) + 20 * min(own, 5)
        score -= 200 * bool(self.dropped) + 10 * min(self.dropped, 50)
        score -= 60 * min(len(self.warnings), 5) + 20 * min(len(self.notes), 3)
        score += 30 * min(len(self.markers), 5) + 40 * any(hint in self.text for hint in fmt.models.text)
        if is_bare(fmt) and (self.left or not calls):
            score -= BARE_COSTS
        unused = len([literal for literal in fmt.terminals.values() if literal not in self.text])
        said = len((self.message.content or "").strip())
        return score - min(unused, 19) - min(said // 2, 15) - 10 * is_bare(fmt)


def read(fmt: Format, text: str, context: Context, given: Replayer | None = None) -> Reading:
    """Parse the whole text with the format under its own policies. `given`: the replays of it, by which it is read by
    its tokens, and as guided output where the request forces that; else no call is forced."""
    forced = given is not None and context.tool_choice in FORCED
    asked, moves = context if forced else replace(context, tool_choice="auto"), list[Transition]()
    machine = Machine(fmt, fmt.policy.model_dump())
    machine.transitions = moves
    machine.begin(asked, mode="text" if given is None else given.mode, markers=None if given is None else given.markers)
    pieces = (Piece(text),) if given is None else given.pieces
    events = machine.feed(Delta(1, pieces)) + machine.finish(context.finish_reason)
    assembler = Assembler()
    assembler.add(events)
    reached = layered(fmt, asked) if forced else fmt
    return Reading(reached, text, asked, assembler.message(), events, moves, machine.rejected)


def is_good(call: ToolCall, context: Context) -> bool:
    """Return whether a call is whole, its arguments are an object, and its name is a name and known where names are."""
    return call.complete and _is_name(call.name, context) and is_whole_object(call.arguments)


def _is_name(name: str, context: Context) -> bool:
    """Return whether a tool is called so; where none are declared, whether one can be."""
    return context.tool(name) is not None if context.tools else CALL_NAME.fullmatch(name) is not None


# Where the output leaves the grammar.


def first_leave(reading: Reading) -> Leave | None:
    """The first place where the output leaves the grammar; None where it never does."""
    first = min(_leaves(reading), key=lambda leave: leave.at, default=None)
    if first is None or first.missing is not None:
        return first
    return Leave(first.at, _waits_for(reading, first.at))


def _leaves(reading: Reading) -> Iterator[Leave]:
    """The first place of each kind; a later one of the same kind lies behind it."""
    for found in (_bad_call(reading), _bad_name(reading), _given_back(reading), _warned(reading)):
        if found is not None:
            yield found
    apart = _apart(reading)
    if apart is not None:
        yield Leave(apart)
    for run in reading.runs:
        if (
            run.owner == "dropped"
            and run.end < len(reading.text)
            and any(map(str.isalnum, reading.text[run.start : run.end]))
        ):
            yield Leave(run.start)
    closing = _unclosed(reading)
    if closing is not None:
        yield Leave(len(reading.text), closing)


def _bad_call(reading: Reading) -> Leave | None:
    starts = {event.call: event.start for event in reading.events if isinstance(event, CallStart)}
    ends = {event.call: event.start for event in reading.events if isinstance(event, CallEnd)}
    for index, call in enumerate(reading.message.tool_calls):
        if not call.complete or not is_whole_object(call.arguments):
            return _inside(reading, starts.get(index, 0), ends.get(index, len(reading.text)), index)
    return None


def _bad_name(reading: Reading) -> Leave | None:
    written = {one.call for one in reading.events if isinstance(one, CallArguments) and one.end > one.start}
    for event in reading.events:
        if not isinstance(event, CallName) or reading.context.tool(event.text) is not None:
            continue
        fits = CALL_NAME.match(event.text)
        at = 0 if fits is None else fits.end()
        if at == len(event.text):
            continue
        call = reading.message.tool_calls[event.call]
        if event.call in written and call.complete and is_whole_object(call.arguments):
            words = f"{_named(event.text[at])} stands in the name {quoted(event.text)}, which no tool can have"
            return Leave(event.start + at, "a name", instead=words, misnamed=True)
        if at:
            return Leave(event.start + at)
    return None


def _named(char: str) -> str:
    """A character in words, those that nobody can see by their number."""
    return "a blank" if char == " " else quoted(char) if char.isprintable() else f"the character U+{ord(char):04X}"


def _given_back(reading: Reading) -> Leave | None:
    if not reading.rejected:
        return None
    first = reading.rejected[0]
    return _unnamed(reading, first) or _inside(reading, first.start, first.end, None)


def _warned(reading: Reading) -> Leave | None:
    odd = [
        event.start
        for event in (*reading.warnings, *reading.notes)
        if event.code not in OUTCOMES and (event.severity != "info" or event.code.startswith(MENDED))
    ]
    return Leave(min(odd)) if odd else None


def _apart(reading: Reading) -> int | None:
    spans = iter([(one.start, one.end) for one in reading.rejected])
    start, end = next(spans, (len(reading.text) + 1, len(reading.text) + 1))
    for at in reading.strange:
        while end <= at:
            start, end = next(spans, (len(reading.text) + 1, len(reading.text) + 1))
        if at < start:
            return at
    return None


def _unnamed(reading: Reading, rejected: RejectedCall) -> Leave | None:
    """A call that was given back because no name stands where its name is due."""
    states = reading.fmt.states
    for entered, left in pairwise(reading.moves):
        if rejected.start <= entered.start <= rejected.end and states[entered.to_state].text == "name":
            given = reading.text[entered.end : left.start].strip()
            if rejected.name:
                return None
            if CALL_NAME.fullmatch(given):
                ends = _name_ends(reading.fmt, entered.to_state)
                lost = f"{quoted(ends[0])} after the name of the call" if ends and left.trigger != "END" else None
                return Leave(left.start, lost)
            return Leave(entered.end if given else left.start, "the name of the call")
    return None


def _name_ends(fmt: Format, state: str) -> list[str]:
    """What a name ends with, where arguments follow it."""
    rows = [row for row in fmt.states[state].rows if fmt.states[row.to].codec is not None]
    return [fmt.terminals[row.on] for row in rows if row.on in fmt.terminals]


def _inside(reading: Reading, start: int, end: int, call: int | None) -> Leave:
    """The place inside a call that went wrong: by its JSON where it is JSON, else where the machine gave up."""
    state = _codec_state(reading, start, end)
    brace = reading.text.find("{", start, end)
    is_json = state is not None and _is_json(state)
    if is_json and brace < 0 and call is not None and reading.message.tool_calls[call].complete:
        return Leave(_arguments_at(reading, call, end), f"the opening brace of the arguments of call {call}")
    if state is not None and is_json and brace >= 0:
        reader = JsonPrefix()
        text = reading.text[brace:end]
        bad = reader.feed(text)
        whose = "the call object" if call is None else f"the arguments of call {call}"
        if bad is not None and not reader.done:
            return Leave(brace + bad, f"{reader.awaits} in {whose}", instead=f"{misfit(text, bad)} in {whose}")
        if bad is None and not reader.done:
            return Leave(end, f"{reader.awaits} in {whose}")
        if bad is None and call is not None and not is_whole_object(reading.message.tool_calls[call].arguments):
            return Leave(_arguments_at(reading, call, end), f"the opening brace of the arguments of call {call}")
        if bad is None:
            return Leave(end, None if call is None else _closers(state, reading))
    turns = [move for move in reading.moves if start <= move.start <= end]
    given_up = next((move.start for move in turns if move.trigger in ("REJECT", "MALFORMED", "OTHER")), None)
    return Leave(end if given_up is None else given_up)


def _arguments_at(reading: Reading, call: int, end: int) -> int:
    return next((e.start for e in reading.events if isinstance(e, CallArguments) and e.call == call), end)


def _codec_state(reading: Reading, start: int, end: int) -> State | None:
    states = reading.fmt.states
    reached = [states[move.to_state] for move in reading.moves if start <= move.start <= end]
    return next((state for state in reached if state.codec is not None), None)


def _unclosed(reading: Reading) -> str | None:
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


def _is_json(state: State) -> bool:
    return state.codec is not None and state.codec.name in JSON_CODECS


def _waits_for(reading: Reading, at: int) -> str | None:
    machine = Machine(reading.fmt, reading.fmt.policy.model_dump())
    machine.begin(reading.context)
    machine.feed(Delta(1, (Piece(reading.text[:at]),)))
    view = machine.view()
    state = reading.fmt.states[view.state]
    literals = [reading.fmt.terminals[name] for name in view.candidates if name in reading.fmt.terminals]
    if literals:
        return f"the rest of {listed([quoted(text) for text in literals], 'or')}"
    if state.codec is not None:
        return _codec_words(state, view, reading, at)
    if state.text in ("name", "header", "id"):
        return _name_words(view, reading.fmt)
    if state.text in TOPMOST:
        return None
    return _accepted(view, reading.fmt, reading.text[at:])


def _codec_words(state: State, view: StateView, reading: Reading, at: int) -> str | None:
    codec, options = view.codec or CodecState(""), {} if state.codec is None else state.codec.options
    match codec.stand:
        case Stand.INSIDE if _is_json(state):
            return _json_words(reading, at)
        case Stand.VALUE:
            closer = options.get("value_close")
            return f"the closing {quoted(closer)}" if closer else f"the end of {codec.of}"
        case Stand.KEY:
            return f"{quoted(options.get('key_close', '>'))} after a parameter's name"
        case Stand.BEFORE:
            return "the opening brace" if _is_json(state) else codec.of
        case Stand.NAME:
            named = reading.text[:at].rstrip()[-1:].isalnum()
            return "the opening bracket after the name of the call" if named else "the name of the call"
        case Stand.BETWEEN:
            return _accepted(view, reading.fmt, "", options.get("key_open"))
    return _closers(state, reading)


def _json_words(reading: Reading, at: int) -> str | None:
    begun = [e.start for e in reading.events if isinstance(e, CallStart) and e.start <= at]
    brace = reading.text.find("{", max(begun, default=0), at)
    reader = JsonPrefix()
    fits = brace >= 0 and reader.feed(reading.text[brace:at]) is None
    return f"{reader.awaits} in the call object" if fits else None


def _name_words(view: StateView, fmt: Format) -> str:
    rows = [row for row in fmt.states[view.state].rows if row.on in view.accepts and row.keep == "drop"]
    rows.sort(key=lambda row: fmt.states[row.to].codec is None)
    ends = [fmt.terminals[row.on] for row in rows]
    named = any(hold.end > hold.start for hold in view.holds)
    return f"{quoted(ends[0])} after the name of the call" if named and ends else "the name of the call"


def _accepted(view: StateView, fmt: Format, rest: str, first: object = None) -> str | None:
    telling = set(telling_literals(fmt))
    texts = [fmt.terminals[name] for name in view.accepts if not name.startswith("THINK")]
    texts = [text for text in texts if text in telling or len(text) < SHORT]
    begun = [text for text in texts if rest and text.startswith(rest)]
    if begun:
        return f"the rest of {listed([quoted(text) for text in begun[:3]], 'or')}"
    words = dict.fromkeys([*([str(first)] if first else []), *texts])
    return listed([quoted(text) for text in words][:3], "or") or None
