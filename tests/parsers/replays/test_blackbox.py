"""A parser that shows its deltas only: what it sends is kept as sent, and what it raises is a finding."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from parsers.replays.chunking import Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, ToolCall, ToolCallDelta

WHOLE = Chunking(by="whole")


@dataclass
class Scripted:
    """Sends what it was told to, whatever it is fed."""

    sends: list[MessageDelta | Exception | None]
    last: MessageDelta | None = None
    fed: list[str] = field(default_factory=list)

    def begin(self, context: Context) -> None:
        self.fed = []

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.fed.append(delta.text)
        sent = self.sends[len(self.fed) - 1]
        if isinstance(sent, Exception):
            raise sent
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.last


def replayer(*sends: MessageDelta | Exception | None, last: MessageDelta | None = None) -> Replayer:
    pieces = tuple([Piece("ab") for _ in sends])
    return Replayer(lambda: BlackBox("foreign", Scripted(list(sends), last)), pieces, black_box=True)


def call(index: int = 0, **parts: str) -> MessageDelta:
    return MessageDelta(tool_calls=[ToolCallDelta(index, **parts)])


def test_what_is_sent_builds_the_message_and_nothing_is_known_of_places() -> None:
    sends = (
        MessageDelta(reasoning="Hm"), None, MessageDelta(content="Hi"),
        call(id="a", name="f"), call(arguments='{"x"'), call(arguments=": 1}"), call(1, name="g", arguments="{"),
    )  # fmt: skip
    trace = replayer(*sends, last=MessageDelta(content="!")).trace(Chunking(by="token"))
    assert (trace.message.reasoning, trace.message.content) == ("Hm", "Hi!")
    assert trace.message.tool_calls == [ToolCall("a", "f", '{"x": 1}'), ToolCall(None, "g", "{", complete=False)]
    assert (trace.partition, trace.steps[0].state, trace.steps[2].delta) == ([], "UNKNOWN", sends[2])
    assert replayer(*sends, last=MessageDelta(content="!")).outcome(Chunking(by="token")).message == trace.message


@pytest.mark.parametrize("arguments", ["", "[1]", "{", '{"a": 1} {', "[" * 100_000])
def test_a_call_is_complete_where_its_arguments_are_one_object(arguments: str) -> None:
    (made,) = replayer(call(name="f", arguments=arguments)).trace(WHOLE).message.tool_calls
    assert not made.complete


def test_arguments_before_a_name_are_kept_in_both_ways_of_replaying() -> None:
    early = replayer(call(arguments="{}"), call(name="f"))
    assert early.outcome(Chunking(by="token")).message == early.trace(Chunking(by="token")).message
    assert early.outcome(Chunking(by="token")).raised is None


def test_what_it_raises_is_told_with_its_place_and_the_rest_is_not_fed() -> None:
    broken = replayer(MessageDelta(content="a"), ValueError("no such\nthing"), MessageDelta(content="b"))
    outcome = broken.outcome(Chunking(by="token"))
    assert outcome.message.content == "a"
    assert outcome.raised is not None
    assert str(outcome.raised).startswith("ValueError: no such thing (in Scripted.feed")
