"""Whether a worker keeps the protocol: a script of requests, and in words what it does wrong.

Nothing here is about what a parser reads: only about what any engine answers, whatever its parsers are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children.endings import ChildError
from webapp.engines.engine_host import EngineHost
from webapp.engines.foreign import no_parser
from webapp.engines.protocol import Answers, Card, Fault, Progress, ProtocolError, Replayed, read, read_replays

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
        try:
            wrong = test(asked)
        except ProtocolError as error:
            wrong = f"its answer is none: {error}"
        except ChildError as error:
            wrong = f"there is no answer: {error.message or error.ending.value}"
        yield Kept(rule, wrong)
    if asked.faults:
        yield Kept("", note=asked.faults[0])


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
        if sorted(came) != sorted(steps):
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
    told: list[int] = []

    def note(said: dict[str, Any]) -> None:
        told.append(read(Progress, said).step)

    answer = asked.host.raw("run", asked.run([_PIECES], report="steps"), note)
    (found,) = read_replays(answer, [len(_PIECES) + 1])
    last = len(_PIECES) + 1
    if found.raised is not None:  # it takes no further step
        asked.faults.append(f"The parser fails on a plain sentence, {_fault(found.raised)}")
        last = found.raised.step
    wanted = [*range(1, last + 1)]
    return "" if told == wanted else f"steps {wanted} were to be told, {told} were"


def _fault(raised: Fault) -> str:
    place = f" (in {raised.place})" * bool(raised.place)
    return f"at step {raised.step}: {raised.kind}: {raised.message}{place}"


def _unknown_parser(asked: _Asked) -> str:
    before = asked.host.pid
    try:
        (one,) = asked.replays([["x"]], parser="no_such_parser")
    except ChildError as error:
        return "" if error.message and asked.host.pid == before else "its process ended"
    return "" if one.raised is not None else "it replayed as if there were one"


def _whole(asked: _Asked) -> str:
    if asked.card.whole:
        asked.replays([["".join(_PIECES)]], path="whole")
    return ""


_RULES: tuple[tuple[str, Callable[[_Asked], str]], ...] = (
    ("It answers every replay of a message with a step for each delta and one for the end.", _many),
    ("It answers in the order of the replays.", _in_order),
    ("A replay is the same whatever was replayed before it.", _alike),
    ("It passes over keys that it does not know.", _unknown_keys),
    ("With report steps it says each step before it takes it.", _steps),
    ("A parser that it does not have is a failure, and not its end.", _unknown_parser),
    ("The path for whole outputs gives one message, where it says that it has one.", _whole),
)
