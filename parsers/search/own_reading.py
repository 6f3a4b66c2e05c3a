"""What the format itself reads in an output: the message, what is wrong with it, and the ways through the grammar.

A smaller output is as well formed as the first one where the format finds no flaw in it that it did not find there, and
goes no other way: the same moves with the same fixed words and white space before them, the same brackets behind
markers, tags with the same attributes. That is stricter than the format, which reads what models misspell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from parsers.checks.check import any_of
from parsers.formats.model import Format
from parsers.replays.chunking import WHOLE, apply
from parsers.replays.replayer import Replayer
from parsers.search.sweep import MARKUP
from parsers.vocabulary.events import CallArguments, CallStart, Diagnostic, Dropped, Event
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Transition
from parsers.vocabulary.types import Context, Message
from parsers.wire.assemble import Assembler

_NAME_KEY = re.compile(r'"(?:name|tool_name)"\s*:')
_TAG = re.compile(r"<([\w:.|-]+)(\s[^<>]*)?>")
_VALUE = re.compile(r"""(?<==)(?:"[^"]*"|'[^']*'|[^\s"'<>]+)""")
_EMPTY_KEY = re.compile(r'[{,]\s*"":')
_FIXED = ("marker", "structure")  # texts of states that no model chooses
_ARGUMENTS_KEY = re.compile(r'"(?:arguments|parameters)"\s*:')


@dataclass(slots=True, frozen=True)
class OwnReading:
    """Holds what the format itself reads in an output.

    `flaws`: what it found wrong with it or put right, and how often. `ways`: the ways it went through its grammar.
    `end`: the state in which the end of the output met it, "" where that is open text.
    """

    message: Message
    flaws: Counter[str]
    ways: frozenset[tuple[str, ...]]
    end: str = ""
    events: tuple[Event, ...] = field(default=(), compare=False, repr=False)

    @property
    def clean(self) -> bool:
        """Return whether nothing is wrong with the output."""
        return not self.flaws

    def covers(self, other: OwnReading) -> bool:
        """Return whether another reading has no flaw, goes no way and comes to no end that this one has not."""
        return not other.flaws - self.flaws and other.ways <= self.ways and other.end in ("", self.end)


def own_reading(replayer: Replayer) -> OwnReading | None:
    """Return what the format itself reads in the output, None where it is not known."""
    grammar, fmt = replayer.by_format(), replayer.format
    if grammar is None or fmt is None:
        return None
    parser, assembler, moves = grammar.make(), Assembler(), list[Transition]()
    parser.transitions = moves
    parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
    events = [event for delta in apply(WHOLE, replayer.pieces, replayer.mode) for event in parser.feed(delta)]
    end = parser.view().state
    events += parser.finish(replayer.context.finish_reason)
    assembler.absorb(events)
    message = assembler.message()
    flaws = Counter(
        [*_flaws(replayer.text, events), *_call_flaws(fmt, replayer.text, events, message, replayer.context)]
    )
    ways = {*_joints(fmt, replayer.text), *_tags(replayer.text), *[_way(fmt, move) for move in moves]}
    ways.update(_gaps(fmt, replayer.text, moves))
    return OwnReading(message, flaws, frozenset(ways), "" if _is_open_text(fmt, end) else end, tuple(events))


def _joints(fmt: Format, text: str) -> Iterator[tuple[str, ...]]:
    """Each marker with the bracket that follows it."""
    for markers in (any_of([one for one in fmt.terminals.values() if len(one) > 1]), MARKUP):
        for match in re.finditer(rf"({markers.pattern})\s*([\[{{(])", text):
            yield match.groups()


def _tags(text: str) -> Iterator[tuple[str, ...]]:
    """Each tag with the names of its attributes."""
    return (("<", name, _VALUE.sub("", rest)) for name, rest in _TAG.findall(text))


def _gaps(fmt: Format, text: str, moves: Sequence[Transition]) -> Iterator[tuple[str, ...]]:
    """What stands before each move besides what a model chooses: fixed words, and white space beside values."""
    at, before = 0, ""
    for move in moves:
        state, gap = fmt.states.get(move.from_state), text[at : move.start]
        if state is not None and move.trigger != "END" and not _is_open_text(fmt, move.from_state):
            rest = gap.strip()
            lead, _, trail = gap.partition(rest) if rest and state.text not in _FIXED else (gap, "", gap)
            yield move.from_state, lead
            yield before if state.text in _FIXED else "", move.from_state, trail, move.trigger
        at, before = max(at, move.end), move.trigger


def _way(fmt: Format, move: Transition) -> tuple[str, ...]:
    """A transition; from one state with open text it is the same as from another. () for an end where nothing is
    open."""
    state = fmt.states.get(move.from_state)
    rows = state.rows if state is not None else ()
    if move.trigger == "END" and not any(row.on == "END" and "CallEnd" in row.emit for row in rows):
        return ()
    return "" if _is_open_text(fmt, move.from_state) else move.from_state, move.trigger, move.to_state


def _is_open_text(fmt: Format, name: str) -> bool:
    state = fmt.states.get(name)
    return state is not None and state.codec is None and state.text in ("content", "reasoning")


def _flaws(text: str, events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Diagnostic):
            yield event.code
        if isinstance(event, Dropped) and text[event.start : event.end].strip():
            yield event.reason.cause.value


def _call_flaws(fmt: Format, text: str, events: Sequence[Event], message: Message, context: Context) -> Iterator[str]:
    known = {tool.name for tool in context.tools}
    for call in message.tool_calls:
        if not call.complete:
            yield "incomplete"
        if not is_json(call.arguments):
            yield "no_json"
        if call.arguments.strip()[:1] not in ("", "{"):
            yield "no_object"
        if _EMPTY_KEY.search(call.arguments):
            yield "empty_key"
        if known and call.name not in known:
            yield "unknown_name"
    # A model that writes JSON writes the arguments, be they empty.
    starts = [event.start for event in events if isinstance(event, CallStart)]
    raw = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    yield from ("no_arguments" for part in raw if _NAME_KEY.search(part) and not _ARGUMENTS_KEY.search(part))
    if any(state.codec is not None and state.codec.name == "json_span" for state in fmt.states.values()):
        made_up = (event for event in events if isinstance(event, CallArguments) and event.text == "{}")
        yield from ("no_arguments" for event in made_up if {one.kind for one in event.segments or ()} == {"synthetic"})


def is_sound(message: Message, context: Context) -> bool:
    """Return whether all its calls are complete, their arguments JSON and their names declared."""
    known = {tool.name for tool in context.tools}
    return all(
        call.complete and is_json(call.arguments) and (not known or call.name in known) for call in message.tool_calls
    )


def is_called(replayer: Replayer) -> bool:
    """Return whether the format itself reads whole calls in the output, and nothing wrong with it."""
    own = own_reading(replayer)
    return own is not None and own.clean and bool(own.message.tool_calls) and is_sound(own.message, replayer.context)
