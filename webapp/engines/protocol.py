"""What an engine says, as docs/engine-protocol.md has it: models that believe nothing of it.

An engine is somebody else's program. Every answer is bounded by the wire in bytes and here in numbers, before a model
is made of any part of it; what is of another type or too much is refused with one sentence, for the first thing that is
wrong: a list of errors takes a thousand times the bytes of what is wrong. Texts may hold half a surrogate pair, as
parsers do send them, so they are checked by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from parsers.replays.covered import CoveredFunction
from parsers.replays.tapes import Tape
from parsers.vocabulary.events import Failure
from parsers.vocabulary.observed import Attribute, Move, Observed, ObservedStep, Table
from parsers.vocabulary.types import MessageDelta, ToolCallDelta, UsageError
from parsers.wire.read import MOST_CALLS
from webapp.engines.wrong_values import first_wrong, matching

PROTOCOL = 1
MOST_TEXT = 10_000_000  # characters of one text of a delta
MOST_STEPS = 1_000_002
MOST_REPLAYS = 10_000
MOST_PARSERS = 1_000
MOST_PRINTED = 100  # steps of a replay
MOST_SOURCES = 100
MOST_ATTRIBUTES = 1_000
MOST_ROWS = 2_000  # of a table of transitions, and transitions of one step
MOST_SHOWN = 2_000_000  # characters that one replay shows of its parser
LEAST_SHOWN = 20  # characters that an attribute, a transition or a share of a call counts for at least
MOST_OBSERVED = 4  # replays of a message that show so much
MOST_SENT = 20_000_000  # characters that one replay sends
FREE_SENT = 1_000_000  # characters that it sends whatever it was fed; else all of that at each step is the most
ESCAPED = 12  # times what it was fed, however few its steps are: JSON may write a character as two escapes
MOST_FUNCTIONS = 1_000  # of a parser's files
MOST_COVERED = 20_000  # lines of all of them
MOST_SHARES = 50_000  # of calls that the replays of a message send, and two more for each step
_SMALL_THINGS = MOST_SHOWN // LEAST_SHOWN
_OF_STEPS = ("sent", "micros", "states")  # of a replay: lists with something for each step


class EngineError(UsageError):
    """An entered engine cannot be asked: it does not start, or does not know what it was asked for."""


class ProtocolError(Exception):
    """An engine said what the protocol does not allow. One sentence."""


def _at_most(most: int) -> BeforeValidator:
    def checked(value: Any) -> Any:
        if value is not None and (not isinstance(value, str) or len(value) > most):
            raise ValueError(f"must be a string of at most {most:,} characters, or null")
        return value

    return BeforeValidator(checked)


def _few(most: int) -> BeforeValidator:
    """A mapping of so many: pydantic looks at their number last."""

    def checked(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > most:
            raise ValueError(f"must have at most {most:,} entries")
        return value

    return BeforeValidator(checked)


_Long = Annotated[Any, _at_most(MOST_TEXT)]
Short = Annotated[Any, _at_most(200)]
Count = Annotated[int, Field(ge=0, le=2**53)]  # more is no number of anything, and cannot be reckoned with
Sentence = Annotated[Any, _at_most(2_000)]


_Path = Annotated[str, Field(max_length=1_000), matching(r"[^\x00]+", "must have characters, and no NUL among them")]
Sources = Annotated[list[_Path], Field(max_length=MOST_SOURCES)]


class Said(BaseModel):
    """A part of an answer. Keys that nobody knows are passed over: a later engine may say more."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class Function(Said):
    """The share of a call: its name, and arguments as JSON text."""

    name: _Long = None
    arguments: _Long = None


class Call(Said):
    """A call in a delta. SGLang sends -1 for a tool that was not declared: that is for checks to tell."""

    index: int = Field(ge=-MOST_CALLS, le=MOST_CALLS)
    id: Short = None
    function: Function = Function()


class Sent(Said):
    """What is sent at one step, in the words of a chat completion's delta."""

    reasoning: _Long = None
    content: _Long = None
    tool_calls: Annotated[list[Call], Field(fail_fast=True, max_length=MOST_SHARES)] | None = None

    @property
    def size(self) -> int:
        """About how many characters it sends."""
        found = len(self.content or "") + len(self.reasoning or "")
        for one in self.tool_calls or ():
            texts = one.id, one.function.name, one.function.arguments
            found += max(sum([len(text or "") for text in texts]), LEAST_SHOWN)
        return found

    def delta(self) -> MessageDelta | None:
        """The same as parsers of ours have it; None where it says nothing."""
        calls = [
            ToolCallDelta(one.index, one.id, one.function.name, one.function.arguments) for one in self.tool_calls or ()
        ]
        found = MessageDelta(self.reasoning or None, self.content or None, calls)
        return found if found.reasoning or found.content or calls else None


class Fault(Said):
    """What a parser failed with at a step; 0: before the first, or where nobody knows (`ended`). `slow`: it was ended
    for the time that it took; `ended`: with its process; `unasked`: it was not tried, for what it did before; `rests`:
    nor would any other."""

    step: int = Field(ge=0, le=MOST_STEPS)
    kind: Short = "Exception"
    message: Sentence = ""
    place: Sentence = ""
    slow: bool = False
    ended: bool = False
    unasked: bool = False
    rests: bool = False

    def told(self) -> Fault:
        """The same without what is for nobody to say of himself: whoever answers was asked, and lives."""
        return self.model_copy(update={"ended": False, "unasked": False, "rests": False})


_Attribute = Annotated[tuple[Short, Sentence, Sentence, Sentence], Field(strict=False)]
_Move = Annotated[tuple[Short, Short, Short], Field(strict=False)]


class State(Said):
    """What a step changed: [name, before, after, added] of attributes; the state it left, and transitions it made."""

    changed: Annotated[list[_Attribute], Field(fail_fast=True, max_length=MOST_ATTRIBUTES)] = []
    state: Short = ""
    moves: Annotated[list[_Move], Field(fail_fast=True, max_length=MOST_ROWS)] = []

    @property
    def size(self) -> int:
        """About how many characters it shows."""
        texts = [*self.changed, *self.moves]
        return sum([max(sum([len(text or "") for text in one]), LEAST_SHOWN) for one in texts])

    def step(self) -> ObservedStep:
        """The same without what it was read with."""
        changed = tuple(
            [Attribute(name or "", before, after or "", grown) for name, before, after, grown in self.changed]
        )
        return ObservedStep(changed, self.state or "", tuple([Move(*map(str, one)) for one in self.moves]))


class Transitions(Said):
    """The table of transitions that a parser declares: rows of state, terminal, state."""

    initial: Short = ""
    rows: Annotated[list[_Move], Field(fail_fast=True, min_length=1, max_length=MOST_ROWS)]
    terminals: Annotated[dict[str, Short], _few(MOST_ROWS)] = {}

    def table(self) -> Table:
        """The same without what it was read with, rows of one state together."""
        texts = {name: str(text) for name, text in self.terminals.items() if text}
        rows = [Move(*map(str, row)) for row in self.rows]
        made = Table(self.initial or rows[0].state, tuple(rows), texts)
        places = {state: at for at, state in enumerate(made.states)}
        return replace(made, rows=tuple(sorted(dict.fromkeys(rows), key=lambda row: places[row.state])))


_Line = Annotated[Count, Field(ge=1)]


class Covered(Said):
    """A function of a parser's files: the lines of its body, and those that ran."""

    name: Short
    module: Short = ""
    first: _Line
    lines: Annotated[list[_Line], Field(fail_fast=True)]
    ran: Annotated[list[_Line], Field(fail_fast=True)]

    def function(self) -> CoveredFunction:
        """The same without what it was read with."""
        ran = {*self.ran} & {*self.lines}
        return CoveredFunction(
            self.name or "", self.module or "", self.first, tuple(sorted({*self.lines})), tuple(sorted(ran))
        )


class Replayed(Said):
    """One replay: what was sent at each step, the end of the output being the last one. `executed` (lines of
    Python), `covered`, `attributes`, `table` and `states` are there where they were asked for. `noticed` is no part of
    an answer: what else the engine did by then, which the host says."""

    sent: Annotated[list[Sent | None], Field(fail_fast=True)]
    raised: Fault | None = None
    micros: Annotated[list[Count], Field(fail_fast=True)] = []
    executed: Count | None = None
    covered: Annotated[list[Covered], Field(fail_fast=True, max_length=MOST_FUNCTIONS)] | None = None
    printed: Annotated[
        list[Annotated[tuple[Count, Sentence], Field(strict=False)]], BeforeValidator(lambda given: _first_of(given))
    ] = []
    attributes: Annotated[dict[str, Sentence], _few(MOST_ATTRIBUTES)] = {}
    table: Transitions | None = None
    states: Annotated[list[State], Field(fail_fast=True)] | None = None
    noticed: list[str] = []

    @property
    def sends(self) -> int:
        """About how many characters it sends."""
        return sum([one.size for one in self.sent if one is not None])

    @property
    def size(self) -> int:
        """About how many characters it has in all."""
        return self.sends + sum([one.size for one in self.states or ()])

    def tape(self) -> Tape:
        """The same as it is played."""
        sent = tuple([None if one is None else one.delta() for one in self.sent])
        failure, printed = self.raised, {step: str(text) for step, text in self.printed}
        observed = self._observed()
        covered = None if self.covered is None else tuple([one.function() for one in self.covered])
        spent = sum(self.micros), self.executed, covered, tuple(self.noticed)
        if failure is None:
            return Tape(sent, None, 0, printed, observed, *spent)
        words = failure.kind or "Exception", failure.message or "", failure.place or ""
        before = not (failure.step or failure.ended or failure.unasked)
        unplaced = failure.ended and not (failure.step or failure.unasked)
        told = Failure(*words, failure.slow, failure.ended, failure.unasked, before, failure.rests, unplaced)
        return Tape(sent, told, failure.step, printed, observed, *spent)

    def bounded(self) -> Replayed:
        """The same with no more of what the parser shows of itself than may be shown; what was left out is said."""
        left = MOST_SHOWN - sum([len(name) + len(value or "") for name, value in self.attributes.items()])
        states: list[State] = []
        for number, one in enumerate(self.states or ()):
            left -= one.size
            if left < 0:
                rest = [State(state=later.state) for later in (self.states or ())[number + 1 :]]
                cut = one.model_copy(update={"changed": _CUT, "moves": []})
                return self.model_copy(update={"states": [*states, cut, *rest]})
            states.append(one)
        return self

    def _observed(self) -> Observed | None:
        if not self.states:
            return None
        begun = {name: value or "" for name, value in self.attributes.items()}
        table = None if self.table is None else self.table.table()
        return Observed(begun, tuple([one.step() for one in self.states]), table, tuple(self.micros))


def _first_of(printed: Any) -> Any:
    """What is printed at the first steps: more of it is left out, and refused is none of it."""
    return printed[:MOST_PRINTED] if isinstance(printed, list) else printed


_CUT = [("(left out)", None, f"it shows more than {MOST_SHOWN:,} characters: from here on they are left out", None)]


class Answers(Said):
    """Every replay of a message."""

    replays: Annotated[list[Replayed], Field(fail_fast=True, max_length=MOST_REPLAYS)]


class Imported(Said):
    """Where all modules lie, in an answer to replays that imported some; None where they did not."""

    sources: Sources | None = None


class Progress(Said):
    """The step that is begun now, and what the one before it sent."""

    step: int = Field(ge=0, le=MOST_STEPS)
    sent: Sent | None = None


class ParserCard(Said):
    """A parser of an engine: for tool calls, which may stand behind one for reasoning, or for reasoning alone.
    `plugin`: that of the entry registers it."""

    name: Annotated[str, Field(max_length=100), matching(r"[^\s:,]+", "must be a word without a colon and a comma")]
    kind: Literal["tool", "reasoning"] = "tool"
    plugin: bool = False


HoldsText = Literal["unknown", "sent", "stop_strings"]
ManyTokens = Literal["unknown", "sent", "never"]
EmptyDeltas = Literal["unknown", "sent"]


class Server(Said):
    """What the engine's server does to the deltas that its parsers are fed."""

    holds_text: HoldsText = "unknown"
    many_tokens: ManyTokens = "unknown"
    empty_deltas: EmptyDeltas = "unknown"


class Card(Said):
    """Who an engine is: what it says to hello."""

    protocol: int
    name: Annotated[str, Field(min_length=1, max_length=100)]
    version: Annotated[str, Field(max_length=100)] = ""
    parsers: Annotated[list[ParserCard], Field(min_length=1, max_length=MOST_PARSERS)]
    wants: Literal["text", "ids"] = "text"
    streams: bool = True
    whole: bool = False
    tokenizer: Literal["none", "needed"] = "none"
    contract: Annotated[str, Field(max_length=100)] = ""
    server: Server = Server()
    sources: Sources = []

    def names(self, kind: str) -> list[str]:
        """Its parsers of a kind."""
        return [one.name for one in self.parsers if one.kind == kind]

    @property
    def plugged(self) -> list[str]:
        """Those that its plugin registers."""
        return [one.name for one in self.parsers if one.plugin]


_Model = TypeVar("_Model", bound=Said)


def read(kind: type[_Model], answer: Any) -> _Model:
    """What an engine said, as a model. Raises ProtocolError."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        place, words = first_wrong(error, [kind, *Said.__subclasses__()])
        raise ProtocolError(f"{place or '/'}: {words}") from None
    except RecursionError:
        raise ProtocolError("/: it is nested too deeply") from None


def read_card(answer: Any) -> Card:
    """Who an engine is. Raises ProtocolError, also for another protocol than ours."""
    if isinstance(answer, dict) and answer.get("protocol") != PROTOCOL:
        raise ProtocolError(f"/protocol: this program speaks {PROTOCOL}, the engine {str(answer.get('protocol'))[:20]}")
    return read(Card, answer)


def read_replays(answer: Any, steps: list[int], fed: Sequence[int] = ()) -> list[Replayed]:
    """The replays that were asked for, which have so many steps each, and were `fed` so many characters, as far as that
    is known. Raises ProtocolError."""
    _bound(answer, steps)
    found = read(Answers, answer).replays
    for number, words in _wrong(found, steps):
        raise ProtocolError(f"/replays/{number}: {words}")
    for number, one in enumerate(found):
        told = FREE_SENT + max(steps[number], ESCAPED) * fed[number] if number < len(fed) else MOST_SENT
        if one.sends > (most := min(MOST_SENT, told)):
            raise ProtocolError(f"/replays/{number}/sent: it sends more than {most:,} characters")
    return [one if one.raised is None else one.model_copy(update={"raised": one.raised.told()}) for one in found]


def _bound(answer: Any, steps: list[int]) -> None:
    """Leave out what a worker shows of itself beyond all that may be shown, before anything of it is read: to read a
    million of small things takes long. Raises ProtocolError where a replay has more steps than were asked for, or more
    shares of calls than any parser sends."""
    replays = answer.get("replays") if isinstance(answer, dict) else None
    if isinstance(replays, list) and len(replays) != len(steps):
        raise ProtocolError(f"/replays: {len(steps):,} were asked for, {len(replays):,} came")
    most = left = MOST_SHARES + 2 * sum(steps)
    shown = MOST_OBSERVED * _SMALL_THINGS
    for number, (one, many) in enumerate(zip(_listed(replays), steps, strict=False)):
        if not isinstance(one, dict):
            continue
        one.pop("noticed", None)  # that is for the host to say
        for key in _OF_STEPS:
            if (told := len(_listed(one.get(key)))) > many:
                words = f"it has {many:,} steps, its end among them, and {told:,} were answered"
                raise ProtocolError(f"/replays/{number}/{key}: {words}")
        left -= sum([len(_listed(step.get("tool_calls"))) for step in _dicts(one.get("sent"))])
        if left < 0:
            raise ProtocolError(f"/replays/{number}/sent: it sends more than {most:,} shares of calls")
        covered = [*map(_covered_lines, _dicts(one.get("covered")))]
        if sum(covered) > 2 * MOST_COVERED:
            raise ProtocolError(f"/replays/{number}/covered: it tells of more than {MOST_COVERED:,} lines")
        shown -= _bound_states(_dicts(one.get("states")))
        if shown < 0:
            raise ProtocolError(f"/replays/{number}/states: all replays show too much")


def _covered_lines(function: dict[str, Any]) -> int:
    return len(_listed(function.get("lines"))) + len(_listed(function.get("ran")))


def _bound_states(states: list[dict[str, Any]]) -> int:
    """How many attributes and transitions are left of them."""
    left = _SMALL_THINGS
    for state in states:
        if left > 0:
            left -= len(_listed(state.get("changed"))) + len(_listed(state.get("moves")))
        else:
            state.update(changed=[], moves=[])
    return _SMALL_THINGS - left


def _listed(value: Any) -> list[Any]:
    """A list; of what is none, nothing."""
    return value if isinstance(value, list) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    """Those of a list that are mappings."""
    return [one for one in _listed(value) if isinstance(one, dict)]


def _wrong(found: list[Replayed], steps: list[int]) -> Iterator[tuple[int, str]]:
    for number, (one, many) in enumerate(zip(found, steps, strict=True)):
        if one.raised is None and len(one.sent) != many:
            yield number, f"it has {many:,} steps, its end among them, and {len(one.sent):,} were answered"
        elif one.raised is not None and not len(one.sent) <= one.raised.step <= many:
            yield number, f"it has {many:,} steps, and is said to have failed at step {one.raised.step:,}"
