"""An argument parser is the reader of a call's arguments inside one state (or a run of states) of the machine.

The machine hands it text up to the next terminal that it is willing to see, and it hands what it found back through an
Output. Which terminals are visible is its `scope`:

* OPEN: the terminals of the state, and the parser's own literals for `open`;
* any other name: only the parser's own literals of that name;
* None: nothing can match. This is how a parser inside a JSON string wins over markers, however they are given.

Text that ends before the buffer does ends at a terminal of the scope, or at the beginning of one: a parser whose scope
changes before that must stop. Text that ends with the buffer was searched for the scope of its beginning only: a parser
that begins OPEN may read through strings to its end, and one that begins with None must stop where that is over.

A parser may always stop early (it queued a trigger, it needs more text to decide). It never raises on model output and
never looks at a character twice.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import Segment, Severity
from parsers.vocabulary.seen import FED, Reason, Standing, Waits
from parsers.vocabulary.states import NOWHERE, Part
from parsers.vocabulary.trace import CodecState, Retelling, Tail

OPEN = "open"
READ_ALONG = "(?s:.)"  # any text may matter
READ_ON = frozenset({"DONE", "ITEM_END"})  # without a row on it a parser reads on in the same state
STRAY = frozenset({"OTHER", "REJECT", "MALFORMED"})  # without one text is stray until the state is left
_UNTOLD = CodecState("")
_WORD = re.compile(r"\S+")
_SURPLUS = re.compile(r"[}\]]+")
ESCAPED = r'["\\\x00-\x1f]'  # what is written otherwise inside a JSON string


def is_quoted(text: str) -> bool:
    """Return whether a pair of matching quotes stands around a text."""
    return len(text) > 1 and text[0] == text[-1] and text[0] in "'\""


class ValueOutput(Protocol):
    """The part of an `Output` that a single value needs."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON Schema of the open call's arguments, when its tool is declared and named."""

    @property
    def closes(self) -> bool:
        """Return whether cut-off arguments are to be closed by appending (policy truncated_call: close)."""

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The next piece of the arguments' JSON text."""

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """Characters that reach nobody."""


class Output(ValueOutput, Protocol):
    """An argument parser puts what it found here. All positions are raw offsets in the output text."""

    keeps: bool  # whether all that is read waits already, with a call that does not stand
    quiet: bool  # whether the call is not wanted: its text goes where a policy says, as it comes

    def knows(self, name: str) -> bool:
        """Return whether a tool of that name is declared, or none are."""

    @property
    def only_mentions(self) -> bool:
        """Return whether the call was opened inside reasoning and has no arguments so far: a word that is none of it
        shows that reasoning only mentions it."""

    def quoted_name_fits(self, text: str) -> int:
        """Return how many characters of a text may stand in a name between quotes; all where it does not matter."""

    @property
    def policy(self) -> Mapping[str, str]:
        """The policies in force."""

    @property
    def named_tool(self) -> str | None:
        """The tool that the request names, if it names one."""

    def marker(self, start: int, end: int, terminal: str = "structure") -> None:
        """Characters that are structure."""

    def skip_space(self, buffer: str, pos: int, end: int, base: int) -> int:
        """White space from `pos` on is structure; returns where it ends. `base` is the raw offset of buffer[0]."""

    def diagnostic(self, code: str, message: str, start: int, end: int, severity: Severity = "warning") -> None:
        """Something the user should know."""

    def call_id(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The id the model gave the call; before its name."""

    def name(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The call's whole name. This is what commits a tentative call."""

    def bracketed(self) -> None:
        """The brackets of the arguments stand in the output, whatever is between them."""


class ArgumentParser(Part, ABC):
    """Base of all argument parsers. One instance reads one visit to a state; with `spans_states` a run of states.

    `options` are the options with their defaults, `choices` the values of those that are words, `settings` the values
    in force. `complete` says whether the arguments are whole; `over` is set before finish() when it is the output that
    ends, `cut` besides when it was cut off. `queue` holds the triggers that are due, first one first; the machine fires
    them before it hands over more text.
    """

    APART: ClassVar[frozenset[str]] = frozenset({"out", "settings"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_at"})
    triggers: ClassVar[tuple[str, ...]] = ("DONE",)
    awaits: ClassVar[str] = "An escape sequence is sent whole."  # why text may be left with the machine
    spans_states: ClassVar[bool] = False
    strings: ClassVar[frozenset[str | None]] = frozenset({None})  # scopes in a string that only its own end closes
    options: ClassVar[Mapping[str, Any]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        self.out = out
        self.settings = {**self.options, **options}
        self.queue: list[str] = []
        self.scope: str | None = OPEN
        self.complete = False
        self.over = self.cut = False
        self._told_surplus = False
        self._at = NOWHERE

    # what a format may say about it

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(JSON pointer inside the options, what is wrong) for every option that does not fit its default's type, is
        empty where its default is not, or is none of its choices."""
        wrong = []
        for key, value in options.items():
            default, choices = cls.options.get(key), cls.choices.get(key)
            if key not in cls.options:
                known = ", ".join(sorted(cls.options)) or "none"
                wrong.append((f"/{key}", f"unknown option {key!r}; this codec has: {known}"))
            elif not isinstance(value, type(default)):
                wrong.append((f"/{key}", f"option {key!r} must be {type(default).__name__}"))
            elif choices is not None and value not in choices:
                wrong.append((f"/{key}", f"option {key!r} must be one of: {', '.join(choices)}"))
            elif value == "" and default:
                wrong.append((f"/{key}", "must be a text that is not empty"))
            elif isinstance(value, list):
                texts = [isinstance(item, str) and item != "" for item in value]
                wrong += [
                    (f"/{key}/{n}", "must be a text that is not empty") for n, fits in enumerate(texts) if not fits
                ]
        return wrong

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        """Its own literals by scope name."""
        return {}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts that end a string value wherever they stand in it; none where strings are quoted and escaped."""
        return ()

    @classmethod
    def due(cls, last: str, options: Mapping[str, Any], policy: Mapping[str, str]) -> tuple[str, ...] | None:
        """The triggers that may fire next once a row on `last`, a terminal or a trigger, has led on to where it reads;
        '' where it begins. Of STRAY, which may fire anywhere, there are none; None where `last` changes nothing."""
        return tuple([trigger for trigger in cls.triggers if trigger not in STRAY]) if not last else None

    # what the machine asks of it

    @abstractmethod
    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read buffer[pos:end]; `base` is the raw offset of buffer[0]. Returns where reading stopped."""

    def literal(self, name: str, start: int, end: int) -> int:
        """One of its own literals stands at raw [start, end). Returns up to where (raw) it was read."""
        return end

    def closed(self, at: int) -> None:
        """A terminal of the state, by its id, stands at raw offset `at` and ends the value that is being read."""

    def terminal(self, name: str, end: int) -> None:
        """A terminal of the machine moved it to another state that this parser goes on reading."""

    def settle(self) -> None:
        """The last literal was a marker by its id, or the turn ends here: nothing that follows says it was text."""

    @property
    def closing(self) -> bool:
        """Return whether what was read is over unless text follows that is none of the terminals in sight."""
        return False

    @property
    def doubts(self) -> bool:
        """Return whether the call may have ended in a value already: what begins the next one says that it did."""
        return False

    def unread(self) -> str:
        """No more text comes that could say where a value ended. Returns what was read and stands behind its end,
        to be read again."""
        return ""

    def finish(self, at: int) -> None:
        """The value is over, by a terminal or the end of the output, at raw offset `at`."""

    def passes(self) -> str | None:
        """Return a regular expression for what matters where the parser stands, if it would write all other text there
        as it is, in the same place and one piece a delta, or would only keep it with what it keeps (see `collects`);
        None where it would not, or keeps anything else. The expression is empty where nothing does. Where its scope
        is OPEN only READ_ALONG counts: that text may be of this kind is found by `pass_on`."""

    def tail(self) -> Tail | None:
        """Return what end of a text that passes is kept back, until more of it or `keep` comes; None where none is."""
        return None

    def collects(self) -> Tail | None:
        """Return why all text that passes is kept until what is read is over, given to `collect`; None where it is
        not."""
        return None

    def collect(self, text: str, at: int) -> None:
        """Text at raw offset `at` passed, and is kept (see `collects`)."""

    def keep(self, text: str, at: int) -> None:
        """The end of the text that passed was kept back (see `tail`): this, at raw offset `at`."""

    def pass_on(self, text: str) -> str | None:
        """Read text that holds no terminal, if all of it is to be written as it is. Returns what `passes` would say
        then; None where nothing was read."""
        return None

    def retelling(self) -> Retelling | None:
        """Return what tells later where it would stand after each of the texts that are passed on from here."""
        return None

    def passed(self, at: int) -> None:
        """Text up to raw offset `at` was written as it is, without `text` being asked (see `passes`)."""
        self._at = at

    def look(self, fed: int) -> Standing:
        """Return where it stands, and what was read and not passed on yet, where so many characters were fed. This is
        asked after every delta."""
        return _UNTOLD, None

    def _waits(self, why: Reason, start: int, fed: int) -> Waits:
        """What was read from `start` on and not passed on yet."""
        return "codec", why, start, FED if self._at == fed else self._at

    # text that is no value

    def drop_words(self, buffer: str, pos: int, end: int, base: int, reason: DropReason) -> int:
        """Between tags there is only white space, which is structure; anything else reaches nobody, or shows that there
        is no call. Returns where reading stopped."""
        while pos < end:
            after = self.out.skip_space(buffer, pos, end, base)
            if after == pos and (word := _WORD.match(buffer, pos, end)) is not None:
                if self.out.only_mentions:
                    self.queue.append("REJECT")
                    break
                after = word.end()
                self.out.drop(base + pos, base + after, reason)
            pos = after
        return pos

    def after_value(self, buffer: str, pos: int, end: int, base: int) -> int:
        """Text after a whole value: space is structure, surplus closers are dropped, the rest is the OTHER trigger."""
        pos = self.out.skip_space(buffer, pos, end, base)
        if pos == end:
            return pos
        stop = self.drop_surplus(_SURPLUS, buffer, pos, end, base)
        if stop == pos:
            self.queue.append("OTHER")
        return stop

    def drop_surplus(self, pattern: re.Pattern[str], buffer: str, pos: int, end: int, base: int) -> int:
        """Drop closing brackets that close nothing; returns where they end. One diagnostic is enough for a call."""
        match = pattern.match(buffer, pos, end)
        if match is None:
            return pos
        self.surplus("surplus_closer", DropReason(Cause.SURPLUS_CLOSER), base + pos, base + match.end())
        return match.end()

    def surplus(self, code: str, reason: DropReason, start: int, end: int) -> None:
        """Drop brackets that are too many. One diagnostic is enough for a call."""
        self.out.drop(start, end, reason)
        if not self._told_surplus:
            self.out.diagnostic(code, f"There is a {reason.words}.", start, start + 1)
        self._told_surplus = True

    def synthetic(self, text: str, at: int) -> None:
        """Write a part of the arguments that stands nowhere in the output."""
        self.out.arguments(text, at, at, (Segment(text, at, at, "synthetic"),))


# Text that waits, with the places it came from: a token that was left out in between makes a gap.


class Waiting(Part):
    """Texts in the order of their places in the output."""

    __slots__ = ("_reached", "_runs")
    APART: ClassVar[frozenset[str]] = frozenset(__slots__)
    INSTEAD: ClassVar[tuple[str, ...]] = ("_said",)
    PLACES: ClassVar[frozenset[str]] = frozenset({"_said"})

    def __init__(self) -> None:
        self._runs: list[tuple[int, list[str]]] = []
        self._reached = 0

    def __bool__(self) -> bool:
        return bool(self._runs)

    def add(self, text: str, at: int) -> None:
        """More text, which stands at `at` in the output."""
        if not text:
            return
        if not self._runs or at != self._reached:
            self._runs.append((at, []))
        self._runs[-1][1].append(text)
        self._reached = at + len(text)

    def text(self) -> str:
        """All of it."""
        return "".join([run.text for run in self.runs()])

    def runs(self) -> list[Segment]:
        """Return what stands together, one segment each. Joined once: a long text is not copied again."""
        for _, texts in self._runs:
            texts[:] = ["".join(texts)]
        return [Segment(text, at, at + len(text)) for at, (text,) in self._runs]

    def trimmed(self) -> list[Segment]:
        """The same runs, without the white space around the text."""
        runs = self.runs()
        words = [at for at, run in enumerate(runs) if run.text.strip()]
        kept = runs[words[0] : words[-1] + 1] if words else []
        if kept:
            text, end = kept[0].text.lstrip(), kept[0].end
            kept[0] = Segment(text, end - len(text), end)
            text, start = kept[-1].text.rstrip(), kept[-1].start
            kept[-1] = Segment(text, start, start + len(text))
        return kept

    @property
    def _said(self) -> tuple[tuple[str, int], ...]:
        return tuple([(run.text, run.start) for run in self.runs()])

    @_said.setter
    def _said(self, said: tuple[tuple[str, int], ...]) -> None:
        self._runs = [(at, [text]) for text, at in said]
        self._reached = said[-1][1] + len(said[-1][0]) if said else 0

    def spelled(self, text: str) -> tuple[Segment, ...] | None:
        """The segments of an event that sends it as `text`; None where that is the text itself, all in one place."""
        runs = self.runs()
        if text == self.text():
            return tuple(runs) if len(runs) > 1 else None
        first = (text, *[""] * len(runs))
        return tuple([Segment(said, run.start, run.end, "converted") for said, run in zip(first, runs, strict=False)])
