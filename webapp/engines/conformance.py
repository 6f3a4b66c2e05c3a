"""Whether a worker keeps the protocol: a script of requests, and in words what it does wrong.

Nothing here is about what a parser reads: only about what any engine answers, whatever its parsers are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children.child import ChildError
from webapp.engines.engine_host import EngineHost
from webapp.engines.protocol import Card, Progress, ProtocolError, Replayed, read, read_replays

_PIECES = ["The ", "answer ", "is ", "4", "2."]
_TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


@dataclass(slots=True, frozen=True)
class Kept:
    """One rule of the protocol, and what is wrong; "" where it is kept."""

    rule: str
    wrong: str = ""


def conformance(host: EngineHost) -> Iterator[Kept]:
    """Every rule in its order. Without an answer to hello there are no more."""
    try:
        card = host.card()
    except UsageError as error:
        yield Kept("It starts, says hello, and speaks this protocol.", str(error))
        return
    yield Kept("It starts, says hello, and speaks this protocol.")
    for rule, test in _RULES:
        try:
            wrong = test(host, card)
        except ProtocolError as error:
            wrong = f"its answer is none: {error}"
        except ChildError as error:
            wrong = f"there is no answer: {error.message or error.ending.value}"
        yield Kept(rule, wrong)


def _replays(host: EngineHost, card: Card, replays: list[list[str]], **more: Any) -> list[Replayed]:
    """Raises ChildError and ProtocolError."""
    whole = more.setdefault("path", "stream" if card.streams else "whole") == "whole"
    answer = host.raw("run", _run(card, replays, **more))
    return read_replays(answer, [1 if whole else len(one) + 1 for one in replays])


def _run(card: Card, replays: list[list[str]], **more: Any) -> dict[str, Any]:
    ids = {text: number for number, text in enumerate(_PIECES, 10)}
    fed = [[[text, [ids.get(text, 9)]] for text in one] for one in replays]
    run = {"parser": card.parsers[0].name, "request": {"tools": _TOOLS, "tool_choice": "auto"}, "replays": fed}
    known = {"vocabulary": {}, "tokens": [[number, text] for text, number in ids.items()], "path": "stream"}
    return {**run, **known, "finish_reason": "stop", "seconds": 10, **more}


def _many(host: EngineHost, card: Card) -> str:
    _replays(host, card, [_PIECES, ["".join(_PIECES)], []])
    return ""


def _alike(host: EngineHost, card: Card) -> str:
    first, *_, last = _replays(host, card, [_PIECES, ["<", "x"], _PIECES])
    return "" if _said(first) == _said(last) else f"at first it sent {_said(first)}, later {_said(last)}"


def _said(one: Replayed) -> list[Any]:
    """What was sent but for ids, which may be made up."""
    return [
        None if sent is None else (sent.reasoning, sent.content, [call.function for call in sent.tool_calls or ()])
        for sent in one.sent
    ]


def _unknown_keys(host: EngineHost, card: Card) -> str:
    _replays(host, card, [_PIECES], no_such_key={"a": [1]})
    return ""


def _steps(host: EngineHost, card: Card) -> str:
    if not card.streams:
        return ""
    told: list[int] = []

    def note(said: dict[str, Any]) -> None:
        told.append(read(Progress, said).step)

    read_replays(host.raw("run", _run(card, [_PIECES], report="steps"), note), [len(_PIECES) + 1])
    wanted = [*range(1, len(_PIECES) + 2)]
    return "" if told == wanted else f"steps {wanted} were to be told, {told} were"


def _unknown_parser(host: EngineHost, card: Card) -> str:
    before = host.pid
    try:
        (one,) = _replays(host, card, [["x"]], parser="no_such_parser")
    except ChildError as error:
        return "" if error.message and host.pid == before else "its process ended"
    return "" if one.raised is not None else "it replayed as if there were one"


def _whole(host: EngineHost, card: Card) -> str:
    if card.whole:
        _replays(host, card, [["".join(_PIECES)]], path="whole")
    return ""


_RULES: tuple[tuple[str, Callable[[EngineHost, Card], str]], ...] = (
    ("It answers every replay of a message with a step for each delta and one for the end.", _many),
    ("A replay is the same whatever was replayed before it.", _alike),
    ("It passes over keys that it does not know.", _unknown_keys),
    ("With report steps it says each step before it takes it.", _steps),
    ("A parser that it does not have is a failure, and not its end.", _unknown_parser),
    ("The path for whole outputs gives one message, where it says that it has one.", _whole),
)
