"""The first step at which two replays send something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.compare.delta_parting import StepSent, delta_parting, step_sent
from parsers.compare.divergence import ANY_ID, EXACT
from parsers.replays.chunking import Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, ToolCallDelta

TEXT = "abc"
Says = Callable[[str], MessageDelta | None]


class Saying:
    """It sends for each delta, and at the end for "", what it is told."""

    def __init__(self, said: Says) -> None:
        self._said = said

    def begin(self, context: Context) -> None:
        """Nothing has to be known."""

    def feed(self, delta: Delta) -> MessageDelta | None:
        return self._said(delta.text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self._said("")


def replay(said: Says) -> Trace:
    pieces = tuple([Piece(char) for char in TEXT])
    return Replayer(lambda: BlackBox("x", Saying(said)), pieces, black_box=True).trace(Chunking(by="char"))


def content(text: str) -> MessageDelta | None:
    return MessageDelta(content=text)


def called(call_id: str) -> MessageDelta:
    return MessageDelta(tool_calls=[ToolCallDelta(0, call_id, "f", "{}")])


def fails(text: str) -> MessageDelta | None:
    if text == "c":
        raise ValueError(text)
    return content(text)


@pytest.mark.parametrize(
    ("other", "index", "fed", "end"),
    [
        (lambda text: content(text.upper()), 1, "a", False),
        (lambda text: content(text if text != "b" else ""), 2, "b", False),
        (lambda text: content(text or "."), 4, "", True),
        (fails, 3, "c", False),
    ],
)
def test_the_first_step_is_named_with_what_it_was_fed(other: Says, index: int, fed: str, end: bool) -> None:
    found = delta_parting(replay(content), replay(other))
    assert found is not None
    assert (found.index, found.fed, found.end) == (index, fed, end)
    assert found.sent[0].delta == (content(fed) if fed else content("")) or end


def test_absent_text_is_empty_text_and_a_call_without_any_is_none() -> None:
    bare = MessageDelta(content="", tool_calls=[ToolCallDelta(0)])
    assert delta_parting(replay(lambda _: None), replay(lambda _: bare)) is None


def test_ids_count_where_the_rules_say_so() -> None:
    one, other = replay(lambda text: called("x") if text == "b" else None), None
    other = replay(lambda text: called("y") if text == "b" else None)
    assert delta_parting(one, other, ANY_ID) is None
    found = delta_parting(one, other, EXACT)
    assert found is not None
    assert found.index == 2


def test_a_failure_is_what_was_done_at_its_step() -> None:
    found = step_sent(replay(fails), 3)
    assert found.failure is not None
    assert found.failure.kind == "ValueError"
    assert step_sent(replay(content), 9) == step_sent(replay(content), 0) == StepSent()


def test_a_replay_that_has_fewer_steps_parts_where_it_ends() -> None:
    short = replay(lambda text: None)
    short.steps = list(short.steps)[:2]
    found = delta_parting(short, replay(lambda text: content("x") if not text else None))
    assert found is not None
    assert (found.index, found.sent[0]) == (4, StepSent())
