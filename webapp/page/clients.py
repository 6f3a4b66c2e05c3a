"""What clients make of a stream: the calls as each of three models of a client builds them, beside each other.

The models are those of the check deltas_build_message (`parsers.checks.deltas`); here they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.checks.deltas import EVERY_CHUNK, ClientResult, clients
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall
from webapp.page.glyphs import count, shorten

SHOWN = 300
CALLS_SHOWN = 40
STRICT = "The OpenAI API sends arguments in pieces without them, so that this client breaks on every such stream."
TITLES = ("by index", "by id", "id and name in every chunk")


@dataclass(slots=True)
class ClientCall:
    """A call as a client has it at the end. `differs`: the message has no such call."""

    name: str
    arguments: str
    differs: bool


@dataclass(slots=True)
class ClientView:
    """One client. `outcome` in a few words, with its severity; `broke` and `step` say what stopped it, and where."""

    title: str
    about: str
    severity: str
    outcome: str
    broke: str
    step: int | None
    note: str
    calls: list[ClientCall]
    more: int


def client_views(trace: Trace) -> list[ClientView]:
    """The three clients on the deltas of a replay."""
    wanted = trace.message.tool_calls
    return [_view(number, result, wanted) for number, result in enumerate(clients(trace))]


def _view(number: int, result: ClientResult, wanted: list[ToolCall]) -> ClientView:
    right = [(call.name, call.arguments) for call in wanted]
    same = result.calls == right and not result.broke
    usual = number == EVERY_CHUNK
    severity = "pass" if same else "info" if usual else "error"
    outcome = f"gets {count(len(result.calls), 'call')}" + (", as the message has" if same else "")
    calls = [
        ClientCall(shorten(name, SHOWN), shorten(arguments, SHOWN), right[at : at + 1] != [(name, arguments)])
        for at, (name, arguments) in enumerate(result.calls[:CALLS_SHOWN])
    ]
    return ClientView(
        title=TITLES[number],
        about=result.words,
        severity=severity,
        outcome=outcome if same or not result.broke else f"breaks, {outcome}",
        broke=result.broke,
        step=result.step,
        note=STRICT if usual and not same else "",
        calls=calls,
        more=max(0, len(result.calls) - CALLS_SHOWN),
    )
