"""Whether a worker keeps the protocol: a script of requests, and in words what it does wrong.

Nothing here is about what a parser reads: only about what any engine answers, whatever its parsers are for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from parsers.formats.contracts import builtin_contracts
from parsers.vocabulary.types import UsageError
from webapp.children.endings import ChildError, Ending
from webapp.engines.engine_host import EngineHost
from webapp.engines.foreign import no_parser
from webapp.engines.lines import read_lines
from webapp.engines.protocol import (
    Answers,
    Card,
    EngineError,
    Fault,
    Progress,
    ProtocolError,
    Replayed,
    read,
    read_replays,
)

_PIECES = ["The ", "answer ", "is ", "4", "2."]
_TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


@dataclass(slots=True, frozen=True)
class Kept:
    """One rule of the protocol, and what is wrong; "" where it is kept. A `note` is of no rule: what else was seen."""

    rule: str
    wrong: str = ""
    note: str = ""


def conformance(host: EngineHost, parser: str = "", *, told: Callable[[str], object] = str) -> Iterator[Kept]:
    """Every rule in its order, by a parser of the engine, else by its first: that is `told`. Without an answer to hello
    there are no more. A parser that fails keeps the protocol, and a note says so. Raises UsageError for a parser that
    it does not have."""
    try:
        card = host.card()
    except UsageError as error:
        yield Kept("It starts, says hello, and speaks this protocol.", str(error))
        return
    yield Kept("It starts, says hello, and speaks this protocol.")
    known = [one.name for one in card.parsers]
    if parser and parser not in known:
        raise UsageError(no_parser(card.name, parser, known))
    asked = _Asked(host, card, parser or known[0])
    told(asked.parser)
    for rule, test in _RULES:
        yield Kept(rule, _wrong(asked, test))
    yield Kept("It leaves no process behind.", _left(asked))
    yield Kept("It does nothing while it is asked nothing.", host.idle())
    if asked.faults:
        yield Kept("", note=asked.faults[0])


def _left(asked: _Asked) -> str:
    """What ran on after an answer."""
    return next((one.words for one in asked.host.noticed() if one.left), "")


def _wrong(asked: _Asked, test: Callable[[_Asked], str]) -> str:
    """What is wrong by a rule. A process that was ended at the rule before is started and greeted first."""
    try:
        asked.host.begun()
        return test(asked)
    except ProtocolError as error:
        return f"its answer is none: {error}"
    except ChildError as error:
        return f"there is no answer: {asked.host.words(error)}"
    except EngineError as error:
        return f"it does not come up again: {error}"


@dataclass(slots=True, frozen=True)
class _Asked:
    """Who is asked. `faults`: how its parser failed, in words."""

    host: EngineHost
    card: Card
    parser: str
    faults: list[str] = field(default_factory=list)

    def replays(self, replays: list[list[str]], **more: Any) -> list[Replayed]:
        """Raises ChildError and ProtocolError."""
        return read_replays(self.answer(replays, **more), self.steps(replays, **more))

    def answer(self, replays: list[list[str]], **more: Any) -> dict[str, Any]:
        """What it says, whatever that is. Raises ChildError."""
        return self.host.raw("run", self.run(replays, **more))

    def steps(self, replays: list[list[str]], **more: Any) -> list[int]:
        """How many each of them has."""
        return [1 if more.get("path", self._path) == "whole" else len(one) + 1 for one in replays]

    @property
    def _path(self) -> str:
        return "stream" if self.card.streams else "whole"

    def run(self, replays: list[list[str]], **more: Any) -> dict[str, Any]:
        """What is asked for."""
        ids = {text: number for number, text in enumerate(_PIECES, 10)}
        fed = [[[text, [ids.get(text, 9)]] for text in one] for one in replays]
        run = {"parser": self.parser, "request": {"tools": _TOOLS, "tool_choice": "auto"}, "replays": fed}
        known = {"vocabulary": {}, "tokens": [[number, text] for text, number in ids.items()], "path": self._path}
        return {**run, **known, "finish_reason": "stop", "seconds": 10, **more}


def _many(asked: _Asked) -> str:
    fed = [_PIECES, ["".join(_PIECES)], []]
    answer, steps = asked.answer(fed), asked.steps(fed)
    try:
        read_replays(answer, steps)
    except ProtocolError:
        came = [len(one.sent) for one in read(Answers, answer).replays]
        if came == steps or sorted(came) != sorted(steps):
            raise
        return f"its answers are not in the order of the replays: those have {steps} steps, the answers {came}"
    return ""


def _in_order(asked: _Asked) -> str:
    """Replays of one length, each of another text, so that an answer in the place of another one is of its form."""
    others = [["1 ", "one "], ["2 ", "two "], ["3 ", "three "]]
    alone = [_said(asked.replays([one])[0]) for one in others]
    together = [_said(one) for one in asked.replays(others)]
    wrong = next((at for at, (one, two) in enumerate(zip(alone, together, strict=True)) if one != two), None)
    if wrong is None or sorted(map(repr, alone)) != sorted(map(repr, together)):
        return ""
    return f"answer {wrong + 1} of a message is that of replay {alone.index(together[wrong]) + 1}"


def _alike(asked: _Asked) -> str:
    other = [*_PIECES[1:], "x"]
    first, *_, last = [_said(one) for one in asked.replays([_PIECES, other, _PIECES])]
    alone, (_, behind) = _said(asked.replays([_PIECES])[0]), map(_said, asked.replays([other, _PIECES]))
    later = next((one for one in (last, alone, behind) if one != first), None)
    return "" if later is None else f"at first it sent {first}, later {later}"


def _said(one: Replayed) -> list[Any]:
    """What was sent but for ids, which may be made up."""
    return [
        None if sent is None else (sent.reasoning, sent.content, [call.function for call in sent.tool_calls or ()])
        for sent in one.sent
    ]


def _unknown_keys(asked: _Asked) -> str:
    asked.replays([_PIECES], no_such_key={"a": [1]})
    return ""


def _steps(asked: _Asked) -> str:
    if not asked.card.streams:
        return ""
    told: list[Progress] = []

    def note(said: dict[str, Any]) -> None:
        told.append(read(Progress, said))

    answer = asked.host.raw("run", asked.run([_PIECES], report="steps"), note)
    (found,) = read_replays(answer, [len(_PIECES) + 1])
    last = len(_PIECES) + 1
    if found.raised is not None:  # it takes no further step
        asked.faults.append(f"The parser fails on a plain sentence, {_fault(found.raised)}")
        last = found.raised.step
    wanted, steps = [*range(1, last + 1)], [one.step for one in told]
    if steps != wanted:
        return f"steps {wanted} were to be told, {steps} were"
    return _sent_before(told, found)


def _sent_before(told: list[Progress], found: Replayed) -> str:
    """Whether each step is told with what the one before it sent, which is also in the answer."""
    for said, before in zip(told[1:], found.sent, strict=False):
        if said.sent != before:
            words = [_short(None if one is None else one.model_dump(exclude_none=True)) for one in (said.sent, before)]
            return f"it says at step {said.step} that the one before it sent {words[0]}, and in its answer {words[1]}"
    return "" if told[0].sent is None else "it says at step 1 that a step before it sent something"


def _short(value: Any) -> str:
    return "nothing" if value is None else str(value)[:100]


def _named(asked: _Asked) -> str:
    many = Counter([(one.name, one.kind) for one in asked.card.parsers])
    ((name, _), times), *_ = many.most_common(1)
    return "" if times == 1 else f"it names {name} {times} times"


def _contract(asked: _Asked) -> str:
    contract, known = asked.card.contract, builtin_contracts()
    return (
        "" if not contract or contract in known else f"there is no contract {contract!r}; there are {', '.join(known)}"
    )


def _state(asked: _Asked) -> str:
    (found,) = asked.replays([_PIECES], observe="state")
    if found.states is None:
        return ""
    most = len(found.sent) + (found.raised is not None)
    if len(found.sent) <= len(found.states) <= most:
        return ""
    return f"{len(found.sent)} steps were taken, and {len(found.states)} have a state"


def _lines(asked: _Asked) -> str:
    answer = asked.answer([_PIECES], observe="lines", step=2, sought=_PIECES[1], where=None)
    (found,) = read_replays(answer, asked.steps([_PIECES]))
    lines = read_lines(answer, 2)
    if lines is None:
        return ""
    beyond = next((step for step in lines.steps if not 1 <= step <= len(found.sent) + 1), None)
    if beyond is not None:
        return f"it says that step {beyond} ran a line, of {len(found.sent)} that there are"
    return ""


def _counted(asked: _Asked) -> str:
    for observe in ("costs", "cover"):
        asked.replays([_PIECES], observe=observe)
    return ""


def _fault(raised: Fault) -> str:
    place = f" (in {raised.place})" * bool(raised.place)
    return f"at step {raised.step}: {raised.kind}: {raised.message}{place}"


def _unknown_parser(asked: _Asked) -> str:
    try:
        (one,) = asked.replays([["x"]], parser="no_such_parser")
    except ChildError as error:
        if error.ending is Ending.ENDED:
            return "its process ended"
        if error.ending is not Ending.REFUSED:
            raise
        return "" if error.message else "it says nothing of why"
    return "" if one.raised is not None else "it replayed as if there were one"


def _whole(asked: _Asked) -> str:
    if asked.card.whole:
        asked.replays([["".join(_PIECES)]], path="whole")
    return ""


_RULES: tuple[tuple[str, Callable[[_Asked], str]], ...] = (
    ("It names each of its parsers once.", _named),
    ("It names a contract that there is, or none.", _contract),
    ("It answers every replay of a message with a step for each delta and one for the end.", _many),
    ("It answers in the order of the replays.", _in_order),
    ("A replay is the same whatever was replayed before it.", _alike),
    ("It passes over keys that it does not know.", _unknown_keys),
    ("With report steps it says each step before it takes it, and what the one before it sent.", _steps),
    ("With observe state it says of every step what that changed, or of none.", _state),
    ("With observe lines it says which lines a step ran, or nothing of lines.", _lines),
    ("With observe costs and cover it says what was executed, or nothing of it.", _counted),
    ("A parser that it does not have is a failure, and not its end.", _unknown_parser),
    ("The path for whole outputs gives one message, where it says that it has one.", _whole),
)
