"""Order where a delta of a foreign parser brings several parts at once: it is held to what the deltas state of it."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.case import Compare, Expect
from parsers.cases.expect import trace_differences
from parsers.replays.recorded import BlackBox
from parsers.replays.replay import replay
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, ToolCallDelta

EXACT, SOFT = Compare(), Compare(whitespace="soft")
A, B = ({"kind": "tool_call", "name": name, "raw": "{}"} for name in "ab")
R, Hi, Bye = ({"kind": kind, "text": text} for kind, text in (("reasoning", "r"), ("text", "Hi"), ("text", "Bye")))


class Tape:
    """It sends the deltas that it was given."""

    def __init__(self, sent: list[MessageDelta]) -> None:
        self.sent = iter(sent)

    def begin(self, context: Context) -> None:
        pass

    def feed(self, delta: Delta) -> MessageDelta | None:
        return next(self.sent)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


def sent(content: str | None = None, calls: str = "", reasoning: str | None = None, rest: str = "") -> MessageDelta:
    """A delta: it begins calls, each of one letter, and `rest` is more of the arguments of the first one."""
    parts = [ToolCallDelta("ab".index(name), None, name, "{}"[: 2 - len(rest)]) for name in calls]
    more = [ToolCallDelta(0, None, None, rest)] if rest and not calls else []
    return MessageDelta(reasoning, content, [*more, *parts])


def trace_of(*deltas: MessageDelta) -> Trace:
    """The replay of a parser that sends these."""
    fed = [Delta(number, (Piece("x"),)) for number in range(1, len(deltas) + 1)]
    return replay(BlackBox("tape", Tape([*deltas])), fed, Context())


@pytest.mark.parametrize(
    ("deltas", "events", "compare"),
    [
        ([sent("Bye", "a")], [A, Bye], EXACT),
        ([sent("Bye", "a")], [Bye, A], EXACT),
        ([sent("HiBye", "a")], [Hi, A, Bye], EXACT),
        ([sent("Hi"), sent("Bye", "ab", "r")], [Hi, A, R, Bye, B], EXACT),
        ([sent("H"), sent("iBye", "a"), sent(None, "b")], [Hi, A, Bye, B], EXACT),
        ([sent(None, "a", rest="}"), sent("Bye", rest="}")], [A, Bye], EXACT),
        ([sent("Hi \n", "a"), sent(" Bye\n")], [Hi, A, {"kind": "text", "text": "  Bye"}], SOFT),
        ([sent(" \n", "a"), sent("a"), sent(" "), sent("b")], [A, {"kind": "text", "text": "a b"}], SOFT),
        ([sent("\n", "ab", "r")], [A, R, B], SOFT),
    ],
)  # fmt: skip
def test_an_order_that_the_deltas_allow_is_right(
    deltas: list[MessageDelta], events: list[dict[str, Any]], compare: Compare
) -> None:
    assert trace_differences(Expect.model_validate({"events": events}), trace_of(*deltas), compare) == []


@pytest.mark.parametrize(
    ("deltas", "events", "compare", "fields"),
    [
        ([sent("Bye"), sent(None, "a")], [A, Bye], EXACT, ["events"]),
        ([sent(None, "a"), sent("Bye")], [Bye, A], EXACT, ["events"]),
        ([sent("Hi", "a"), sent("Bye", "b")], [Hi, Bye, A, B], EXACT, ["events"]),
        ([sent("Ho", "a")], [A, Hi], EXACT, ["events[1]"]),
        ([sent("Hi!", "a")], [Hi, A], EXACT, ["events[0]"]),
        ([sent("Bye", "ab")], [A, Bye], EXACT, ["events"]),
        ([sent("Bye", "ab"), sent("Hi", "", "r")], [A, Bye, R, Hi], EXACT, ["events"]),
        ([sent("Bye\n!", "a")], [A, Bye], SOFT, ["events"]),
        ([sent("Bye", "a")], [], EXACT, ["events"]),
    ],
)  # fmt: skip
def test_what_the_deltas_state_is_compared(
    deltas: list[MessageDelta], events: list[dict[str, Any]], compare: Compare, fields: list[str]
) -> None:
    found = trace_differences(Expect.model_validate({"events": events}), trace_of(*deltas), compare)
    assert [one.field for one in found] == fields
