"""What must stay true of an output while it is made smaller: what is looked for in it, and what is kept besides.

A target holds while the finding is the same: the same kind of difference, gained or lost in the same channel. Whatever
the target, a smaller form keeps what makes an owner accept it (`Kept`): cuts that a server could make stay such cuts,
and special tokens stay whole; the format's own grammar finds no flaw in it that it did not find before, and goes no
other way through its states; and what the parser reads rightly under some chunking, it still does. Otherwise one flaw
would turn into another on the way.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from parsers.checks import CHECKS, run_checks
from parsers.checks.check import any_of
from parsers.checks.subject import subject_of
from parsers.compare.allowed import allowed_by, content_around
from parsers.compare.divergence import ANY_ID, Rules, grade, message_key, same_message, shared_prefix
from parsers.formats.model import Format
from parsers.replays.chunking import WHOLE, Chunking, Unit, apply, resolved
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.search.outcomes import outcome_key
from parsers.search.shrink import Target
from parsers.search.sweep import MARKUP, cut_at, one_delta
from parsers.search.variants import needed
from parsers.vocabulary.events import CallArguments, CallStart, Diagnostic, Event
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Finding, Transition
from parsers.vocabulary.types import Context, Message
from parsers.wire.assemble import Assembler

LOOSE = Rules(arguments="json", whitespace="soft", ids=False)
_SIZES = (1, 2, 3)
_MORE_SIZES = (4, 5, 8, 12)
_MOST_CUTS = 200  # so many cuts in two are tried for one that is read rightly
_CHEAPER = 8  # so many changed outputs, of which only the message is asked, count as one replay
_NAME_KEY = re.compile(r'"(?:name|tool_name)"\s*:')
_ARGUMENTS_KEY = re.compile(r'"(?:arguments|parameters)"\s*:')


# What the format itself reads.


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
    flaws = Counter([*_flaws(events), *_call_flaws(fmt, replayer.text, events, message, replayer.context)])
    ways = {*_joints(fmt, replayer.text), *[_way(fmt, move) for move in moves]}
    return OwnReading(message, flaws, frozenset(ways), "" if _is_open_text(fmt, end) else end, tuple(events))


def _joints(fmt: Format, text: str) -> Iterator[tuple[str, ...]]:
    """Each marker with the bracket that follows it."""
    for markers in (any_of([one for one in fmt.terminals.values() if len(one) > 1]), MARKUP):
        for match in re.finditer(rf"({markers.pattern})\s*([\[{{(])", text):
            yield match.groups()


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


def _flaws(events: Iterable[Event]) -> Iterable[str]:
    return [event.code for event in events if isinstance(event, Diagnostic)]


def _call_flaws(fmt: Format, text: str, events: Sequence[Event], message: Message, context: Context) -> Iterator[str]:
    known = {tool.name for tool in context.tools}
    for call in message.tool_calls:
        if not call.complete:
            yield "incomplete"
        if not is_json(call.arguments):
            yield "no_json"
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


# What is kept whatever is looked for.


def plain_chunkings(replayer: Replayer) -> list[Chunking]:
    """The chunkings that say the same of every smaller output: those that stream, then the one for whole outputs."""
    apart = replayer.one_shot is not None
    units: tuple[Unit, ...] = ("token", "char") if replayer.mode == "ids" or replayer.black_box else ("char", "token")
    streamed = [Chunking(by=unit, size=size) for unit in units for size in _SIZES]
    return [one_delta(apart), *streamed, *([WHOLE] if apart else [])]


def rightly_read(
    replayer: Replayer, own: OwnReading | None, among: Iterable[Chunking], *, lenient: bool = False
) -> Chunking | None:
    """The first of these chunkings under which the parser gives what the format itself reads, or, where that is asked
    leniently, what the contract allows in its place."""
    if own is None:
        return None
    known: dict[Hashable, bool] = {}
    chunkings = list(among)
    for number, chunking in enumerate(chunkings):
        if number == 1:
            replayer.foresee(chunkings[1:])
        outcome = replayer.outcome(chunking)
        if outcome.raised is not None:
            continue
        key = message_key(outcome.message, LOOSE)
        if key not in known:
            same = same_message(outcome.message, own.message, LOOSE)
            known[key] = same or (lenient and is_allowed(replayer, own, outcome.message))
        if known[key]:
            return chunking
    return None


def is_allowed(replayer: Replayer, own: OwnReading, message: Message) -> bool:
    """Return whether the contract allows a foreign parser to give this where the format reads something else."""
    if not replayer.black_box:
        return False
    around, text, context = content_around(own.events), replayer.text, replayer.context
    return allowed_by(replayer.contract, own.message, message, text=text, context=context, around=around) is not None


def every_chunking(replayer: Replayer) -> list[Chunking]:
    """Many chunkings of a small output: the plain ones, larger deltas, and cuts in two."""
    units: tuple[Unit, ...] = ("token", "char")
    larger = [Chunking(by=unit, size=size) for size in _MORE_SIZES for unit in units]
    cuts = [cut_at((cut,)) for cut in range(1, min(len(replayer.text), _MOST_CUTS))]
    return [*plain_chunkings(replayer), *larger, *cuts]


@dataclass(slots=True)
class Kept:
    """A target with what every smaller form keeps besides.

    `cuts`: how far a server can make them, the best highest, and whether they leave special tokens whole. `own`: what
    the format reads in the first form. `reads`: a chunking under which the parser reads the form rightly. Where there
    was none, it is looked for in every form that is taken; from then on there always is one. `lenient`: none gives what
    the format reads in the first form, but one gives what the contract allows.
    """

    target: Target
    cuts: tuple[int, bool]
    own: OwnReading | None
    reads: Chunking | None = None
    wide: bool = False
    lenient: bool = False
    _asked: int = 0

    @classmethod
    def of(cls, target: Target, replayer: Replayer, chunking: Chunking, known: Sequence[Chunking] = ()) -> Kept:
        """What is kept of this output under this chunking. `known`: chunkings besides that may read it rightly."""
        own = own_reading(replayer)
        reads = rightly_read(replayer, own, plain_chunkings(replayer))
        wide = reads is None and rightly_read(replayer, own, known) is not None
        if reads is None and not wide:
            reads = rightly_read(replayer, own, plain_chunkings(replayer), lenient=True)
            return cls(target, _cut_quality(replayer, chunking), own, reads, lenient=reads is not None)
        return cls(target, _cut_quality(replayer, chunking), own, reads, wide)

    @property
    def replays(self) -> int:
        """Replays run to answer."""
        return self.target.replays + self._asked

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        if not all(map(operator.ge, _cut_quality(replayer, chunking), self.cuts)):
            return False
        if not self.target.holds(replayer, chunking):
            return False
        own = own_reading(replayer)
        if self.own is None or own is None:
            return True
        return self.own.covers(own) and self._is_read(replayer, own)

    def _is_read(self, replayer: Replayer, own: OwnReading) -> bool:
        """Return whether the parser reads a form rightly, if it must."""
        chunkings = every_chunking(replayer) if self.wide else plain_chunkings(replayer)
        tried = [*([self.reads] if self.reads is not None else []), *[one for one in chunkings if one != self.reads]]
        found = rightly_read(replayer, own, tried, lenient=self.lenient)
        self._asked += len(tried) if found is None else tried.index(found) + 1
        if found is not None:
            self.reads = found
        return found is not None or (self.reads is None and not self.wide)


def _cut_quality(replayer: Replayer, chunking: Chunking) -> tuple[int, bool]:
    grade = Grader(replayer).chunking(chunking)
    return -grade.rank, grade is not CutGrade.HOSTILE or not _cuts_marker(replayer, chunking)


def _cuts_marker(replayer: Replayer, chunking: Chunking) -> bool:
    """Return whether a cut falls inside a marker."""
    patterns = (any_of(replayer.terminals.values()), MARKUP)
    spans = [match.span() for pattern in patterns for match in pattern.finditer(replayer.text)]
    cuts = resolved(replayer.deltas(chunking)) if chunking.cuts is None else chunking.cuts
    return any(start < cut < end for cut in cuts for start, end in spans)


# What is looked for.


@dataclass(slots=True)
class Differs:
    """A chunking gives another message than `other` does, in the same way.

    `sound`: whether the calls of both are whole, whether the other one's message is what the format itself reads, and,
    where calls differ, whether that reads calls without a flaw. `harm`: what becomes of the calls that the format
    reads; it may be another in a form that the other chunking reads rightly (`met`), where it did not before.
    """

    rules: Rules
    kind: frozenset[Hashable]
    sound: tuple[bool, bool, bool, bool]
    other: Chunking = WHOLE
    harm: frozenset[Hashable] = frozenset()
    met: bool = False
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, other: Chunking = WHOLE) -> Differs | None:
        """The difference at this chunking, or None where there is none."""
        one, beside = replayer.outcome(chunking), replayer.outcome(other)
        if one.raised or beside.raised or same_message(one.message, beside.message, rules):
            return None
        sound = is_sound(one.message, replayer.context), is_sound(beside.message, replayer.context)
        kind, own = kind_of(one.message, beside.message, rules), own_reading(replayer)
        read = own is not None and own.clean and same_message(own.message, beside.message, ANY_ID)
        called = bool(_of_calls(kind)) and is_called(replayer)
        harm = frozenset() if own is None else _of_calls(kind_of(one.message, own.message, LOOSE))
        met = own is not None and same_message(own.message, beside.message, LOOSE)
        return cls(rules, kind, (*sound, read, called), other, harm, met)

    @property
    def worth(self) -> tuple[bool, bool]:
        """Return whether the other message is the right one, and whether calls differ."""
        return self.sound[2], bool(_of_calls(self.kind))

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Differs.at(replayer, chunking, self.rules, self.other)
        if found is None or found.kind != self.kind:
            return False
        alike = found.harm == self.harm or found.met > self.met
        return alike and all(map(operator.ge, found.sound, self.sound))


@dataclass(slots=True)
class Raises:
    """The parser fails for the same cause."""

    key: Hashable
    rules: Rules
    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 1
        outcome = replayer.outcome(chunking)
        return outcome.raised is not None and outcome_key(outcome, self.rules) == self.key


@dataclass(slots=True)
class Finds:
    """A check of one replay finds the same. `called`: the format itself reads whole calls, and no flaw."""

    finding: Finding
    rules: Rules
    sound: bool
    called: bool = False
    replays: int = 0
    harms: frozenset[Hashable] | None = field(default=None, init=False)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target. What is gained or lost beside the format's own reading in the first form may be, nothing else."""
        self.replays += 2
        trace, check = replayer.trace(chunking), CHECKS.get(self.finding.check)
        unsound = self.sound > is_sound(trace.message, replayer.context)
        if check is None or unsound or (self.called and not is_called(replayer)):
            return False
        made = needed(check, replayer, trace)
        self.replays += len(made) // _CHEAPER
        subject = subject_of(replayer, trace, replayer.trace(WHOLE), [], rules=self.rules, variants=made)
        if all(_sort(one) != _sort(self.finding) for one in run_checks(subject, [check.name]).findings):
            return False
        own = own_reading(replayer)
        harms = frozenset() if own is None else kind_of(trace.message, own.message, LOOSE)
        if self.harms is None:
            self.harms = harms
        return harms <= self.harms


def _sort(one: Finding) -> tuple[object, ...]:
    return one.topic, one.severity, one.about, one.grade, one.policy


# How two messages differ.


def kind_of(wrong: Message, right: Message, rules: Rules) -> frozenset[Hashable]:
    """Return what differs: whether calls are more or fewer, or which part of the first one that is another, and of each
    text whether it gained or lost something, and what."""
    if grade(wrong, right, rules) is None:
        return frozenset()
    found: set[Hashable] = {_call_kind(wrong, right, rules)}
    found |= {
        (name, *change)
        for name, a, b in (("content", wrong.content, right.content), ("reasoning", wrong.reasoning, right.reasoning))
        if (change := _change("".join((b or "").split()), "".join((a or "").split()))) is not None
    }
    return frozenset(found)


def _of_calls(kind: frozenset[Hashable]) -> frozenset[Hashable]:
    return frozenset(part for part in kind if isinstance(part, tuple) and part[0] == "calls")


def _call_kind(wrong: Message, right: Message, rules: Rules) -> Hashable:
    level = grade(wrong, right, rules)
    (ones, a_order), (others, b_order) = message_key(wrong, rules)[2], message_key(right, rules)[2]
    if level != "calls":
        return level
    if len(ones) != len(others):
        return level, "number", (len(ones) > len(others)) - (len(ones) < len(others)), bool(ones), bool(others)
    if ones == others:
        return level, (a_order, b_order)
    a_call, b_call = next(pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1])
    part = list(map(operator.ne, a_call, b_call)).index(True)
    return level, "part", part, _change(str(b_call[part]), str(a_call[part]))


def _change(right: str, wrong: str) -> tuple[str, str] | None:
    """Return whether a text gained or lost something, and of what sort that begins: markup, a word or a sign."""
    if right == wrong:
        return None
    new, gone = Counter(wrong) - Counter(right), Counter(right) - Counter(wrong)
    how = "changed" if bool(new) == bool(gone) else "gained" if new else "lost"
    at = shared_prefix(right, wrong)
    rest = (wrong if new and not gone else right)[at:]
    sort = "markup" if MARKUP.match(rest) else "word" if rest[:1].isalnum() else "sign"
    return how, sort
