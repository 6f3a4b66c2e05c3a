"""What one format makes of an output: a trial parse of the whole text, and how well it went, as numbers and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from parsers.assemble import Assembler
from parsers.checks.json_prefix import is_whole_object
from parsers.events import Diagnostic, Event, Marker
from parsers.formats.model import Format
from parsers.machine import Machine
from parsers.replay import partition
from parsers.search.guess_markup import LEFT_OVER, is_bare, telling_of
from parsers.trace import Ownership, RejectedCall, Transition
from parsers.types import Context, Delta, Message, Piece, ToolCall

BARE_COSTS = 500  # a format without markers of its own is the last guess where markup is left over
NAME = re.compile(r"[\w.$:/@-]{1,128}")


@dataclass(slots=True)
class Reading:
    """One format's reading of `text`. `good` calls are whole, with an argument object and a name that is known.

    `left`: where markup is left in the content; `strange` without that of calls the format began and gave back.
    """

    fmt: Format
    text: str
    context: Context
    message: Message
    events: list[Event]
    moves: list[Transition]
    rejected: list[RejectedCall]
    runs: list[Ownership]
    good: int = 0
    score: int = 0
    left: list[int] = field(default_factory=list)
    markers: tuple[str, ...] = ()
    dropped: int = 0
    strange: list[int] = field(default_factory=list)

    @property
    def complete(self) -> int:
        """Calls that end where their grammar ends them."""
        return sum([call.complete for call in self.message.tool_calls])

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the parser found worth a warning."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity != "info"]

    @property
    def notes(self) -> list[Diagnostic]:
        """What it put right by itself."""
        return [e for e in self.events if isinstance(e, Diagnostic) and e.severity == "info"]


def read(fmt: Format, text: str, context: Context) -> Reading:
    """Parse the whole text with the format under its own policies."""
    asked = replace(context, tool_choice="auto")
    machine = Machine(fmt, fmt.policy.model_dump())
    moves: list[Transition] = []
    machine.transitions = moves
    machine.begin(asked)
    events = machine.feed(Delta(1, (Piece(text),))) + machine.finish(context.finish_reason)
    assembler = Assembler()
    assembler.add(events)
    runs = partition(events, len(text))
    reading = Reading(fmt, text, asked, assembler.message(), events, moves, machine.rejected, runs)
    reading.good = sum([is_good(call, context) for call in reading.message.tool_calls])
    reading.left = left_over(text, runs)
    reading.strange = _strange(reading)
    reading.markers = _markers(fmt, text, events)
    lost = [text[run.start : run.end] for run in runs if run.owner == "dropped"]
    reading.dropped = sum([char.isalnum() for part in lost for char in part])
    reading.score = _score(reading)
    return reading


def is_good(call: ToolCall, context: Context) -> bool:
    """Whether a call is whole, its arguments are an object, and its name is a name and known where names are."""
    known = not context.tools or context.tool(call.name) is not None
    return call.complete and known and NAME.fullmatch(call.name) is not None and is_whole_object(call.arguments)


def left_over(text: str, runs: Sequence[Ownership]) -> list[int]:
    """Where text that went to content looks like markup."""
    return [
        match.start()
        for run in runs
        if run.owner == "content"
        for match in LEFT_OVER.finditer(text, run.start, run.end)
    ]


def _strange(reading: Reading) -> list[int]:
    """Markup left over that is not the format's own, given back with a call that was none."""
    if not reading.rejected or is_bare(reading.fmt):
        return reading.left
    first, own = reading.rejected[0].start, (*telling_of(reading.fmt), "{")
    return [at for at in reading.left if at < first or not reading.text.startswith(own, at)]


def _markers(fmt: Format, text: str, events: Sequence[Event]) -> tuple[str, ...]:
    """The telling markers that were recognised, in order of their first place."""
    own = frozenset(telling_of(fmt))
    seen = [text[event.start : event.end] for event in events if isinstance(event, Marker)]
    return tuple(dict.fromkeys([marker for marker in seen if marker in own]))


def _score(reading: Reading) -> int:
    """One number to rank readings by. A good call outweighs everything that may be said against a reading."""
    calls, fmt = reading.message.tool_calls, reading.fmt
    whole = sum([call.complete and NAME.fullmatch(call.name) is not None for call in calls]) - reading.good
    score = 1000 * reading.good + 250 * max(whole, 0) + 100 * (len(calls) - reading.complete)
    own = len(reading.left) - len(reading.strange)
    score -= 120 * min(len(reading.strange), 5) + 20 * min(own, 5)
    score -= 200 * bool(reading.dropped) + 10 * min(reading.dropped, 50)
    score -= 60 * min(len(reading.warnings), 5) + 20 * min(len(reading.notes), 3)
    score += 30 * min(len(reading.markers), 5) + 40 * any(hint in reading.text for hint in fmt.models.text)
    if is_bare(fmt) and (reading.left or not calls):
        score -= BARE_COSTS
    unused = len([literal for literal in fmt.terminals.values() if literal not in reading.text])
    said = len((reading.message.content or "").strip())
    return score - min(unused, 19) - min(said // 2, 15) - 10 * is_bare(fmt)
