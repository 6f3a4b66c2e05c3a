"""What must stay true of an output while it is made smaller: that it still shows the same finding.

An output that was well formed stays so: where all calls of a message were complete, with JSON for arguments and names
that are declared, those of a smaller output are. Otherwise one flaw would turn into another on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Protocol

from parsers.checks import CHECKS, run_checks
from parsers.compare.divergence import ANY_ID, Rules, grade, message_key
from parsers.replays.chunking import WHOLE, Chunking, apply
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.outcomes import outcome_key
from parsers.search.subject import subject_of
from parsers.search.sweep import cut_at
from parsers.search.variants import needed
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message
from parsers.wire.assemble import Assembler

LOSING = ("all_output_lost", "tool_call_dropped")  # what is lost must stay a call
PLAIN = "w"
CHEAPER = 8  # so many changed outputs, of which only the message is asked, count as one replay


class Target(Protocol):
    """What is asked of every smaller form. `replays` counts what the answers cost."""

    replays: int

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """Whether this output under this chunking still shows it."""


@dataclass(slots=True)
class Differs:
    """A chunking gives another message than `other` does, in the same way.

    `sound`: whether the calls of both are whole, whether the other one's message is what the format itself reads, and,
    where calls differ, whether that reads calls without a flaw.
    """

    rules: Rules
    kind: Hashable
    sound: tuple[bool, bool, bool, bool]
    other: Chunking = WHOLE
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, other: Chunking = WHOLE) -> Differs | None:
        """The difference at this chunking, or None where there is none."""
        one, beside = replayer.outcome(chunking), replayer.outcome(other)
        if one.raised or beside.raised or message_key(one.message, rules) == message_key(beside.message, rules):
            return None
        sound = is_sound(one.message, replayer.context), is_sound(beside.message, replayer.context)
        kind, read = _kind(one.message, beside.message, rules), is_read(replayer, beside.message)
        return cls(rules, kind, (*sound, read, isinstance(kind, tuple) and is_called(replayer)), other)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Differs.at(replayer, chunking, self.rules, self.other)
        return found is not None and found.kind == self.kind and all(map(operator.ge, found.sound, self.sound))


@dataclass(slots=True)
class Misreads:
    """The parser gives another message than the format itself reads, in the same way.

    `shape`: the kind of difference, whether there are calls, and whether these are sound and their names known.
    `plant`: what must stand in the output; with a plain word in its place the parser reads the output rightly.
    """

    rules: Rules
    shape: Hashable
    plant: str = ""
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, plant: str = "") -> Misreads | None:
        """What is read wrongly under this chunking, or None."""
        read, outcome = own_reading(replayer), replayer.outcome(chunking)
        if read is None or outcome.raised:
            return None
        own, loose = read.message, replace(rules, arguments="json", whitespace="soft", ids=False)
        if message_key(outcome.message, loose) == message_key(own, loose):
            return None
        context = replayer.context
        sound = is_sound(own, replace(context, tools=())), is_sound(own, context)
        return cls(rules, (_kind(outcome.message, own, loose), bool(own.tool_calls), *sound, read.clean), plant)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Misreads.at(replayer, chunking, self.rules)
        return found is not None and found.shape == self.shape and self._plain(replayer, chunking)

    def _plain(self, replayer: Replayer, chunking: Chunking) -> bool:
        """Whether the output is read rightly without the plant."""
        if not self.plant:
            return True
        at = replayer.text.find(self.plant)
        if at < 0:
            return False
        without = replayer.changed(((at, at + len(self.plant), PLAIN),))
        by = chunking if chunking == WHOLE or chunking.by == "token" else cut_at(())
        return Misreads.at(without, by, self.rules) is None


@dataclass(slots=True)
class Raises:
    """The parser fails in the same way."""

    key: Hashable
    rules: Rules
    replays: int = 0

    @classmethod
    def at(cls, outcome: Outcome, rules: Rules) -> Raises | None:
        """The failure of a replay, or None where the parser did not fail."""
        return None if outcome.raised is None else cls(outcome_key(outcome, rules), rules)

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

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, finding: Finding, rules: Rules) -> Finds | None:
        """The finding at this chunking, or None where the traced replay does not show it."""
        outcome = replayer.outcome(chunking)
        called = finding.check in LOSING and is_called(replayer)
        target = cls(finding, rules, is_sound(outcome.message, replayer.context), called)
        return target if target.holds(replayer, chunking) else None

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        trace = replayer.trace(chunking)
        check = CHECKS.get(self.finding.check)
        if self.sound > is_sound(trace.message, replayer.context) or (self.called and not is_called(replayer)):
            return False
        made = () if check is None else needed(check, replayer, trace)
        self.replays += len(made) // CHEAPER
        subject = subject_of(replayer, trace, replayer.trace(WHOLE), [], rules=self.rules, variants=made)
        found = [] if check is None else run_checks(subject, [check.name]).findings
        return any(_same_kind(one, self.finding) for one in found)


def is_sound(message: Message, context: Context) -> bool:
    """Whether all its calls are complete, their arguments JSON and their names declared."""
    known = {tool.name for tool in context.tools}
    return all(
        call.complete and is_json(call.arguments) and (not known or call.name in known) for call in message.tool_calls
    )


def is_called(replayer: Replayer) -> bool:
    """Whether the format itself reads whole calls in the output, and nothing wrong with it."""
    own = own_reading(replayer)
    called = own is not None and own.clean and bool(own.message.tool_calls)
    return own is not None and called and is_sound(own.message, replayer.context)


def is_read(replayer: Replayer, message: Message) -> bool:
    """Whether a message is what the format itself reads in the output without a flaw; false where none is known."""
    own = own_reading(replayer)
    return own is not None and own.clean and message_key(own.message, ANY_ID) == message_key(message, ANY_ID)


@dataclass(slots=True, frozen=True)
class Own:
    """What the format itself reads in an output. `clean`: it found nothing wrong with it."""

    message: Message
    clean: bool


def own_reading(replayer: Replayer) -> Own | None:
    """What the format itself reads in the output, None where it is not known."""
    grammar = replayer.by_format()
    if grammar is None:
        return None
    parser, assembler = grammar.make(), Assembler()
    parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
    events = [event for delta in apply(WHOLE, replayer.pieces, replayer.mode) for event in parser.feed(delta)]
    events += parser.finish(replayer.context.finish_reason)
    assembler.absorb(events)
    clean = not any(isinstance(event, Diagnostic) and event.severity != "info" for event in events)
    return Own(assembler.message(), clean)


def _kind(a: Message, b: Message, rules: Rules) -> Hashable:
    """What differs: the grade, more or fewer calls, and else the first part of a call that does."""
    level = grade(a, b, rules)
    (ones, a_order), (others, b_order) = message_key(a, rules)[2], message_key(b, rules)[2]
    if level != "calls":
        return level
    if len(ones) != len(others):
        return level, "number", (len(ones) > len(others)) - (len(ones) < len(others)), bool(ones), bool(others)
    if ones == others:
        return level, (a_order, b_order)
    a_call, b_call = next(pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1])
    return level, "part", list(map(operator.ne, a_call, b_call)).index(True)


def _same_kind(one: Finding, other: Finding) -> bool:
    return (one.severity, one.about, one.grade, one.policy) == (other.severity, other.about, other.grade, other.policy)
