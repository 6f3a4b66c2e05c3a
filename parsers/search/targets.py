"""What must stay true of an output while it is made smaller: that it still shows the same finding.

An output that was well formed stays so: where all calls of a message were complete, with JSON for arguments and names
that are declared, those of a smaller output are. Otherwise one flaw would turn into another on the way.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from parsers.checks import CHECKS, run_checks
from parsers.chunking import WHOLE, Chunking
from parsers.compare import Rules, grade, message_key
from parsers.replayer import Outcome, Replayer
from parsers.search.outcomes import outcome_key
from parsers.search.subject import subject_of
from parsers.search.variants import needed
from parsers.trace import Finding
from parsers.types import Context, Message

CHEAPER = 8  # so many changed outputs, of which only the message is asked, count as one replay


class Target(Protocol):
    """What is asked of every smaller form. `replays` counts what the answers cost."""

    replays: int

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """Whether this output under this chunking still shows it."""


@dataclass(slots=True)
class Differs:
    """A chunking gives another message than the whole output does, in the same way."""

    rules: Rules
    kind: Hashable
    sound: tuple[bool, bool]
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules) -> Differs | None:
        """The difference at this chunking, or None where there is none."""
        one, other = replayer.outcome(chunking), replayer.outcome(WHOLE)
        if one.raised or other.raised or message_key(one.message, rules) == message_key(other.message, rules):
            return None
        sound = is_sound(one.message, replayer.context), is_sound(other.message, replayer.context)
        return cls(rules, _kind(one.message, other.message, rules), sound)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Differs.at(replayer, chunking, self.rules)
        return found is not None and found.kind == self.kind and all(map(operator.ge, found.sound, self.sound))


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
    """A check of one replay finds the same."""

    finding: Finding
    rules: Rules
    sound: bool
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, finding: Finding, rules: Rules) -> Finds | None:
        """The finding at this chunking, or None where the traced replay does not show it."""
        outcome = replayer.outcome(chunking)
        target = cls(finding, rules, is_sound(outcome.message, replayer.context))
        return target if target.holds(replayer, chunking) else None

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        trace = replayer.trace(chunking)
        check = CHECKS.get(self.finding.check)
        if self.sound > is_sound(trace.message, replayer.context):
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


def is_json(text: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _kind(a: Message, b: Message, rules: Rules) -> Hashable:
    """What differs: the grade, more or fewer calls, and else the first part of a call that does."""
    level = grade(a, b, rules)
    (ones, a_order), (others, b_order) = message_key(a, rules)[2], message_key(b, rules)[2]
    if level != "calls" or len(ones) != len(others):
        return level, (len(ones) > len(others)) - (len(ones) < len(others))
    if ones == others:
        return level, (a_order, b_order)
    a_call, b_call = next(pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1])
    return level, list(map(operator.ne, a_call, b_call)).index(True)


def _same_kind(one: Finding, other: Finding) -> bool:
    return (one.severity, one.about, one.grade, one.policy) == (other.severity, other.about, other.grade, other.policy)
