"""Conditions on steps, as somebody types them: where to stop, and which events to list.

`held > 20 state:TOOL_CALL -sent:content text:"</tool"`: every word has to hold, one with a minus must not; `gap > 60ms`
asks when the chunks of a recorded stream came. A word without a colon is looked for in what happened. A condition holds
at a step if it holds for all that happened there, and for a line of the events if it holds for that line. What is no
condition is said in one sentence and holds nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import eq, ge, gt, le, lt

from parsers.formats.diagram import rows_table
from parsers.formats.model import Format
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    Raised,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Step
from webapp.page.inspect.index import TraceIndex


@dataclass(slots=True, frozen=True)
class Look:
    """What a condition looks at: events of a step, all of them or the one of a line; none where it only held text."""

    index: TraceIndex
    step: Step
    events: Sequence[Event]


Holds = Callable[[Look], bool]
Where = Callable[[TraceIndex], Iterable[int]]

_STOPS_LISTED = 5_000
_SIGNS: Mapping[str, Callable[[float, int], bool]] = {">": gt, "<": lt, ">=": ge, "<=": le, "=": eq, ":": eq}
_NUMBERS = ("held", "step", "gap")
_SENT: Mapping[str, tuple[type[Event], ...]] = {
    "content": (ContentText,),
    "reasoning": (ReasoningText,),
    "name": (CallName,),
    "id": (CallId,),
    "args": (CallArguments,),
    "call": (CallStart, CallName, CallId, CallArguments, CallEnd),
}
_EVENTS: Mapping[str | None, type[Event]] = {
    "raised": Raised,
    "commit": CallStart,
    "json": CallEnd,
    "err": Diagnostic,
    "dropped": Dropped,
}
_UNTIMED = {"gap": "gap asks when the chunks of a recording came, and no times of them are known here."}
_UNSAID = {"held": "held asks what a parser kept back, and a recording does not tell that."}
_OLD = {"arguments": "args", "tool": "call"}  # as addresses that were shared have them
_OfCall = CallStart | CallName | CallId | CallArguments | CallEnd
_DIGITS = 9  # of a number that is compared
_TERM = re.compile(
    rf"(?P<minus>-?)(?:(?P<compared>(?i:held|step|gap))\s*(?P<sign>>=|<=|[><=:])\s*(?P<number>\d{{1,{_DIGITS}}})(?:ms)?(?!\S)"
    r"|(?P<wrong>(?i:held|step|gap))\s*[><=:]+\s*(?:(?P<large>\d+)(?:ms)?(?!\S)|\S*)"
    r"|(?P<unknown>[^\W\d]\w*)(?P<than>\s*[><]=?\s*\d+(?:ms)?(?!\S)|\s+[><=]+(?:\s+\S+)?(?!\S))"
    r'|(?P<key>\w+):(?:"(?P<quoted>[^"]*)"|(?P<plain>\S*))|"(?P<phrase>[^"]*)"|(?P<word>\S+))'
)
# What other languages of conditions have: signs, brackets around words, and words that join them.
_NO_WORD = re.compile(r"[<>=!&|]+|\(.*|.*\)|(?i:or|and|not)")


@dataclass(slots=True)
class Names:
    """The states and the rows that conditions can name, with what is said of each row; empty: any."""

    states: Sequence[str] = ()
    rows: Mapping[str, str] = field(default_factory=dict)
    of_chunks: bool = False  # steps are the chunks of a recorded stream
    unknown: Mapping[str, str] = field(default_factory=dict)  # what nothing is known of here, and why


def names_of(fmt: Format, index: TraceIndex) -> Names:
    """The names of a format and of a replay, whose parser may say others."""
    seen = {name for pair in index.fired for name in pair} | {index.step(1).state}
    rows = {row.id: f"{row.state} on {row.text or row.trigger} to {row.to}" for row in rows_table(fmt)}
    rows |= dict.fromkeys(index.times.keys() - rows, "")
    untimed = {} if index.is_timed else _UNTIMED
    return Names(list(dict.fromkeys([*fmt.states, *sorted(seen)])), rows, unknown=untimed)


def names_of_chunks(index: TraceIndex) -> Names:
    """What can be named of a recorded stream."""
    untimed = {} if index.is_timed else _UNTIMED
    return Names(of_chunks=True, unknown={**untimed, **_UNSAID})


@dataclass(slots=True, frozen=True)
class Condition:
    """When it holds, and where that may be: at no other steps. Without `where` it may hold at any."""

    holds: Holds
    where: Where | None = None


@dataclass(slots=True)
class Conditions:
    """Those that some words name. `problem` says in a sentence what the first of them is that is none."""

    all: list[Condition] = field(default_factory=list)
    problem: str = ""

    def hold(self, look: Look) -> bool:
        """Return whether every one holds; none where nothing was asked, or something that is no condition."""
        return bool(self.all) and not self.problem and all(one.holds(look) for one in self.all)

    def places(self, index: TraceIndex) -> Sequence[int]:
        """The steps at which all may hold, in order, as the columns of a trace know them. To make a step takes far
        longer."""
        found = [set(one.where(index)) for one in self.all if one.where is not None]
        every = range(1, index.total + 1)
        return sorted(set.intersection(*found).intersection(every)) if found else every


@dataclass(slots=True)
class Stops:
    """The steps at which all conditions of `words` hold; `more` are not listed. `problem` says what is no condition."""

    words: str = ""
    steps: list[int] = field(default_factory=list)
    more: int = 0
    problem: str = ""


class _WrongError(Exception):
    """A word that is no condition; says what could stand there."""


def stops(index: TraceIndex, words: str, names: Names | None = None) -> Stops:
    """Every step of a trace at which the conditions hold; linear in the steps."""
    conditions = read_conditions(words, names)
    found = Stops(words, problem=conditions.problem)
    if not conditions.all or found.problem:
        return found
    for number in conditions.places(index):
        step = index.step(number)
        if conditions.hold(Look(index, step, step.events)):
            if len(found.steps) < _STOPS_LISTED:
                found.steps.append(number)
            else:
                found.more += 1
    return found


def read_conditions(words: str, names: Names | None = None) -> Conditions:
    """The conditions that the words name."""
    found = Conditions()
    try:
        found.all = list(_read(words, names or Names()))
    except _WrongError as wrong:
        found.problem = str(wrong)
    return found


def _read(words: str, names: Names) -> Iterator[Condition]:
    for term in _TERM.finditer(words):
        holds = _term(term, names)
        yield Condition(_but_not(holds)) if term["minus"] else Condition(holds, _where(term))


def _but_not(holds: Holds) -> Holds:
    return lambda look: not holds(look)


def _term(term: re.Match[str], names: Names) -> Holds:
    compared = _compared_of(term)
    if term["wrong"]:
        wrong = term["wrong"].lower()
        limit = f" of {_DIGITS} digits at most" if term["large"] else ""
        raise _WrongError(f"{wrong} is compared with a number{limit}, as in {wrong} > 20.")
    if term["unknown"]:
        raise _WrongError(_not_compared(term["unknown"], term["than"]))
    if (why := names.unknown.get(compared)) is not None:
        raise _WrongError(why)
    if compared:
        return _compared(compared, term["sign"], int(term["number"]))
    if (term["plain"] or term["word"] or "").startswith('"'):
        raise _WrongError(f"The quotation mark before {(term['plain'] or term['word'])[1:]} is not closed.")
    if term["word"] and _NO_WORD.fullmatch(term["word"]):
        words = f"{term['word']} is no condition: every word has to hold, one with a minus must not"
        raise _WrongError(f'{words}; text with signs stands in quotation marks, as in "{term["word"]}".')
    if term["key"] is None:
        return _WORDS.get(term["word"] or "") or _mentioned(term["phrase"] or term["word"] or "")
    if (make := _KEYS.get(term["key"])) is None:
        near = get_close_matches(term["key"], _KEYS, n=1)
        hint = f"is {near[0]}: meant?" if near else f"try {_LISTED} or words."
        raise _WrongError(f"There is no condition {term['key']}: – {hint}")
    return make(term["plain"] if term["quoted"] is None else term["quoted"], names)


def _not_compared(name: str, than: str) -> str:
    """What is said of a name that is no number of a step; with the one that it is nearly."""
    if near := get_close_matches(name.lower(), _NUMBERS, n=1):
        return f"{name} is no condition – is {near[0]} {than.strip()} meant?"
    known = "held, step and gap are compared with a number, as in held > 20"
    return f"{name} is nothing to compare: {known}; text with signs stands in quotation marks."


def _compared_of(term: re.Match[str]) -> str:
    return (term["compared"] or "").lower()


def _where(term: re.Match[str]) -> Where | None:
    """Where a condition may hold, if the columns of a trace can tell."""
    if _compared_of(term) == "step":
        compare, number = _SIGNS[term["sign"]], int(term["number"])
        return lambda index: [step for step in range(1, index.total + 1) if compare(step, number)]
    if _compared_of(term) == "held" and not _SIGNS[term["sign"]](0, int(term["number"])):
        return lambda index: [step for step, _, _ in index.trace.columns.held()]
    if term["key"] is None:
        kind = _EVENTS.get(term["word"])
        return None if kind is None else _told(kind)
    value = term["plain"] if term["quoted"] is None else term["quoted"]
    if term["key"] in ("sent", "emit"):
        kinds = _SENT.get(_OLD.get(value, value))
        return None if kinds is None else _told(*kinds)
    if term["key"] == "text":
        return lambda index: _ends_of(value, index)
    if term["key"] == "row":
        return lambda index: [step for step, fired in index.trace.columns.fired() if fired[3] == value]
    kind = _EVENTS.get(term["key"])
    return None if kind is None else _told(kind)


def _told(*kinds: type[Event]) -> Where:
    """The steps that told events of these types."""

    def steps(index: TraceIndex) -> Iterator[int]:
        for first, last, _ in index.trace.columns.event_runs(*kinds):
            yield from range(first, last + 1)

    return steps


def _ends_of(text: str, index: TraceIndex) -> Iterator[int]:
    """The steps that fed the last character of a text."""
    at = index.trace.text.find(text)
    while at >= 0:
        yield index.step_at(at + len(text) - 1)
        at = index.trace.text.find(text, at + 1)


def _compared(what: str, sign: str, value: int) -> Holds:
    compare = _SIGNS[sign]
    if what == "step":
        return lambda look: compare(look.step.index, value)
    if what == "gap":
        return lambda look: (gap := _gap(look)) is not None and compare(gap, value)
    return lambda look: compare(sum([hold.end - hold.start for hold in look.step.holds]), value)


def _raised(look: Look) -> bool:
    return any(isinstance(event, Raised) for event in look.events)


def _commits(look: Look) -> bool:
    """A call stands from here on: its beginning goes out, and nothing takes it back."""
    return any(isinstance(event, CallStart) for event in look.events)


_WORDS: Mapping[str, Holds] = {"raised": _raised, "commit": _commits}


def _gap(look: Look) -> float | None:
    """How many milliseconds after the one before a step came."""
    known, number = look.index.arrivals, look.step.index
    return known.gaps[number - 1] if known is not None and number <= len(known.gaps) else None


def _mentioned(word: str) -> Holds:
    """In what happened: the events, their texts, the state, and why something is held."""
    wanted = word.lower()

    def holds(look: Look) -> bool:
        said = [*[_words(look.index, event) for event in look.events], look.step.state]
        if len(look.events) == len(look.step.events):
            said += [f"held {hold.reason}" for hold in look.step.holds]
        return wanted in " ".join(said).lower()

    return holds


def _words(index: TraceIndex, event: Event) -> str:
    if isinstance(event, TextEvent):
        return f"{event.kind} {event.text}"
    if isinstance(event, Diagnostic):
        return f"{event.kind} {event.code} {event.message}"
    if isinstance(event, Marker | Dropped):
        more = event.terminal if isinstance(event, Marker) else event.reason.words
        return f"{event.kind} {more} {index.trace.text[event.start : event.end]}"
    return event.kind


def _in_state(value: str, names: Names) -> Holds:
    _among("state", value, names.states, lower=True)
    return lambda look: look.step.state.lower() == value.lower()


def _sends(value: str, names: Names) -> Holds:
    value = _OLD.get(value, value)
    if value in ("", "anything"):
        return lambda look: look.step.delta is not None
    if value == "nothing":
        return lambda look: look.step.delta is None
    _among("sent", value, [*_SENT, "anything", "nothing"])
    return lambda look: any(isinstance(event, _SENT[value]) for event in look.events)


def _of_call(value: str, names: Names) -> Holds:
    if not value.isdecimal():
        raise _WrongError("call: takes the number of a call, as in call:0.")
    return lambda look: any(isinstance(event, _OfCall) and event.call == int(value) for event in look.events)


def _by_row(value: str, names: Names) -> Holds:
    _among("row", value, list(names.rows))
    return lambda look: any(move.row == value for move in look.step.transitions)


def _with_text(value: str, names: Names) -> Holds:
    """A text that comes to its end with a step."""
    if not value:
        raise _WrongError('text: takes what comes to its end there, as in text:"</tool".')

    def holds(look: Look) -> bool:
        start = max(0, look.step.span.start - len(value) + 1)
        return look.index.trace.text.find(value, start, look.step.span.end) >= 0

    return holds


def _with_json(value: str, names: Names) -> Holds:
    """Arguments that end with a step: `whole` is JSON, `broken` is not."""
    _among("json", value, ["whole", "broken"])

    def holds(look: Look) -> bool:
        calls = look.index.trace.message.tool_calls
        ended = [event.call for event in look.events if isinstance(event, CallEnd) and event.call < len(calls)]
        return any(is_json(calls[call].arguments) == (value == "whole") for call in ended)

    return holds


def _said(value: str, names: Names) -> Holds:
    def holds(look: Look) -> bool:
        found = [event for event in look.events if isinstance(event, Diagnostic)]
        return any(value in ("", event.severity, event.code) for event in found)

    return holds


def _drops(value: str, names: Names) -> Holds:
    return lambda look: any(isinstance(event, Dropped) and value in event.reason.words for event in look.events)


def _among(key: str, value: str, known: Sequence[str], *, lower: bool = False) -> None:
    """Refuse a value that is not known, where any is. Raises _WrongError."""
    if known and value not in known and not (lower and value.lower() in [name.lower() for name in known]):
        listed = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        raise _WrongError(f"{key}:{value} is none of this run: there are {listed}.")


_KEYS: Mapping[str, Callable[[str, Names], Holds]] = {
    "state": _in_state,
    "sent": _sends,
    "call": _of_call,
    "row": _by_row,
    "text": _with_text,
    "json": _with_json,
    "err": _said,
    "dropped": _drops,
    "emit": _sends,
}
_LISTED = ", ".join(["held > 20", "step > 9", "gap > 60ms", *[f"{key}:" for key in _KEYS if key != "emit"]])
_GAP = ("gap > 60ms", "so long after the one before")
_SENT_CHUNKS = ("sent:content", "sent:reasoning", "sent:args", "sent:nothing")
_OF_CHUNKS = frozenset(("step > 9", *_SENT_CHUNKS, "call:0", "commit", "json:broken", "err:"))
_EXAMPLES = (
    ("held > 20", "more characters are held"),
    ("step > 9", "by its number"),
    ("sent:content", "content goes out"),
    ("sent:reasoning", "reasoning goes out"),
    ("sent:name", "the name of a call goes out"),
    ("sent:id", "the id of a call goes out"),
    ("sent:args", "arguments go out"),
    ("sent:call", "anything of a call goes out"),
    ("commit", "a call stands: its beginning goes out"),
    ("sent:nothing", "nothing goes out"),
    ("call:0", "of the first call"),
    ('text:"</tool"', "this text comes to its end"),
    ("json:broken", "arguments end that are no JSON"),
    ("json:whole", "arguments end that are JSON"),
    ("raised", "the parser raised"),
    ("err:", "a diagnostic; err:warning, or its code"),
    ("dropped:", "characters are dropped; part of the reason"),
)


def completions(names: Names) -> list[tuple[str, str]]:
    """What can be asked for, and what it means, in the order in which it is offered."""
    timed = [] if "gap" in names.unknown else [_GAP]
    if names.of_chunks:
        return [*timed, *[one for one in _EXAMPLES if one[0] in _OF_CHUNKS]]
    states = [(f"state:{name}", "after the step") for name in names.states]
    rows = [(f"row:{name}", about) for name, about in names.rows.items()]
    return [*_EXAMPLES[:1], *timed, *states, *_EXAMPLES[1:], *rows]
