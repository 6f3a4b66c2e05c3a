"""A long delta comes to what the machine makes of it in one go, also where parts of it are followed."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from msgspec.structs import replace

from parsers.machine import learnt
from parsers.machine.held_events import _one, joined
from parsers.machine.machine import Machine
from parsers.replays import reading
from parsers.replays import replay as replays
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import Context, Delta, Message, Piece
from tests.amount import every
from tests.corpus import case_named
from tests.parsers.machine.test_learnt import AGAIN
from tests.parsers.machine.test_machine_states import CASES
from tests.parsers.test_case_files import Output, outputs

CALLS = {
    "calls": ("qwen", '<tool_call>\n{"name": "read", "arguments": {"path": "a b c", "n": 7}}\n</tool_call>\n'),
    "two calls in a part": ("qwen", '<tool_call>{"name": "f", "arguments": {}}</tool_call> '),
    "braces": ("json", "{"),
    "half markers": ("qwen", "<tool_call"),
    "markers alone": ("qwen", "<tool_call>"),
    "content and calls": (
        "pythonic",
        'Now, so that only one begins in a part of it: [read(path="a b c d e f g h i j", line=7)]\n',
    ),
}


@pytest.fixture(autouse=True)
def _learns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WORTH", 0)
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    monkeypatch.setattr(learnt, "_CREDIT", 10**9)


def in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "longest", lambda _: math.inf)


def cut(text: str, *at: int) -> list[Delta]:
    places = (0, *at, len(text))
    return [Delta(n, (Piece(text[a:b]),)) for n, (a, b) in enumerate(pairwise(places), 1)]


def parts_followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts were followed, filled in later."""
    found, own = list[int](), learnt.Learner.follow

    def follow(self: learnt.Learner, *args: object) -> list[learnt.Followed]:
        steps = own(self, *args)  # type: ignore[arg-type]
        found.append(len(steps))
        return steps

    monkeypatch.setattr(learnt.Learner, "follow", follow)
    return found


@pytest.mark.parametrize("begins", [0, 3], ids=["from the beginning", "behind a short one"])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.replays(but=("two calls in a part-from the beginning",))
def test_what_is_said_again_is_followed_inside_a_delta(name: str, begins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, said = CALLS[name]
    text = "Hm." * (begins > 0) + said * (96 * (2 + 40 // len(said)))
    deltas, fmt, context = cut(text, *[begins] * (begins > 0)), get_format(parser), Context(id_seed=5)
    with monkeypatch.context() as plain:
        in_one_go(plain)
        message, trace = parse(build(fmt), deltas, context), replay(build(fmt), deltas, context)
    followed = parts_followed(monkeypatch)
    assert parse(build(fmt), deltas, context) == message == trace.message
    found = replay(build(fmt), deltas, context)
    assert said_in(found) == said_in(trace)
    assert sum(followed) > 20


def said_in(trace: Trace) -> tuple[list[Step], object, object]:
    """What a trace has, whichever pieces text came in that goes on in the same place."""
    said = [tuple([_one([event]) for event in joined(step.events)]) for step in trace.steps]
    steps = [replace(step, events=events) for step, events in zip(trace.steps, said, strict=True)]
    return steps, trace.rejected_calls, trace.partition


def told(output: Output, text: str) -> tuple[Message, object]:
    trace = replay(output.make(), cut(text), output.context, markers=output.markers)
    return parse(output.make(), cut(text), output.context, markers=output.markers), said_in(trace)


@pytest.mark.replays
@pytest.mark.parametrize("name", every(100, CASES))
def test_every_case_said_again_in_one_delta(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "stride", 8)
    for output in outputs(case_named(name)):
        once = "".join([piece.text for piece in output.pieces])
        text = (once + " " * (-len(once) % 8)) * AGAIN
        with monkeypatch.context() as plain:
            in_one_go(plain)
            expected = told(output, text)
        assert told(output, text) == expected


def test_a_budget_is_looked_at_inside_a_long_delta() -> None:
    looks = list[int]()
    parse(build(get_format("json")), cut("{" * 960), Context(), look=lambda: looks.append(1))
    replay(build(get_format("json")), cut("{" * 960), Context(), look=lambda: looks.append(1))
    assert len(looks) > 6
