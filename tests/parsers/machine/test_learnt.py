"""Steps that are followed are those that the machine makes."""

from __future__ import annotations

import pytest

from parsers.machine import learnt
from parsers.machine.machine import Machine
from parsers.machine.moved import Move
from parsers.replays import reading
from parsers.replays.chunking import Chunking
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.events import Event, Segment
from parsers.vocabulary.states import NOWHERE, State
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, Message, Piece
from tests.amount import every
from tests.corpus import case_named
from tests.parsers.machine.test_machine_states import CASES
from tests.parsers.test_case_files import Output, outputs

AGAIN = 4  # times each output is said
CHUNKINGS = (Chunking(by="token"), Chunking(by="char", size=3), Chunking(by="random", unit="char", max=7, seed=3))


@pytest.fixture
def _learns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    monkeypatch.setattr(learnt, "_CREDIT", 10**9)


def deltas_of(output: Output, chunking: Chunking) -> list[Delta]:
    """The deltas of an output that is said again and again; each time it is cut in the same places."""
    once = [delta.pieces for delta in output.deltas(chunking)]
    return [Delta(number, pieces) for number, pieces in enumerate(once * AGAIN, 1)]


def told(output: Output, deltas: list[Delta]) -> tuple[Trace, Message]:
    """What replays of an output come to, with every step and without."""
    trace = replay(output.make(), deltas, output.context, mode=output.mode, markers=output.markers)
    return trace, parse(output.make(), deltas, output.context, mode=output.mode, markers=output.markers)


@pytest.mark.replays
@pytest.mark.usefixtures("_learns_at_once")
@pytest.mark.parametrize("name", every(100, CASES))
def test_steps_that_are_known_are_those_that_would_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for output in outputs(case_named(name)):
        for chunking in CHUNKINGS:
            deltas = deltas_of(output, chunking)
            monkeypatch.setattr(reading, "WORTH", 10**9)
            trace, message = told(output, deltas)
            monkeypatch.setattr(reading, "WORTH", 0)
            known, again = told(output, deltas)
            assert again == message == known.message
            for one, two in zip(trace.steps, known.steps, strict=True):
                assert one == two
            assert known.partition == trace.partition
            assert known.rejected_calls == trace.rejected_calls
            assert known.examined == pytest.approx(trace.examined, rel=0.1)  # together or singly, as it comes


CALL = '<tool_call>\n{{"name": "read", "arguments": {{"path": "{}", "line": 7}}}}\n</tool_call>\n'


def cut(text: str, size: int = 4) -> list[Delta]:
    pieces = [Piece(text[at : at + size]) for at in range(0, len(text), size)]
    return [Delta(number, (piece,)) for number, piece in enumerate(pieces, 1)]


def fed_singly(deltas: list[Delta], monkeypatch: pytest.MonkeyPatch, parser: str = "qwen") -> int:
    """How many of the deltas a machine was fed, whose replay comes to what it comes to without a learner."""
    made, fed, own = build(get_format(parser)), list[Delta](), Machine.feed

    def feed(self: Machine, delta: Delta) -> list[Event]:
        fed.append(delta)
        return own(self, delta)

    monkeypatch.setattr(reading, "WORTH", 10**9)
    expected = replay(made, deltas, Context())
    monkeypatch.setattr(reading, "WORTH", 0)
    monkeypatch.setattr(Machine, "feed", feed)
    assert replay(made, deltas, Context()) == expected
    return len(fed)


@pytest.fixture
def _learns_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few calls, as other outputs after thousands of deltas."""
    monkeypatch.setattr(learnt, "_DELTAS", 60)


@pytest.mark.usefixtures("_learns_soon")
def test_calls_that_are_like_others_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    deltas = cut(CALL.format("a.py") * 200)
    assert fed_singly(deltas, monkeypatch) < 150 < len(deltas) / 10


@pytest.mark.replays
@pytest.mark.usefixtures("_learns_soon")
def test_a_string_that_is_new_is_passed_in_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join([CALL.format(f"{number:07}_{number % 10:04}/x.py") for number in range(400)])
    assert fed_singly(cut(text, 5), monkeypatch) < 2_000


@pytest.mark.replays
@pytest.mark.parametrize("name", ["_CREDIT", "_CREDIT_OF_CALLS"])
def test_nothing_is_learnt_where_that_never_pays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, name, 250)
    monkeypatch.setattr(learnt, "_DELTAS", 8 if name == "_CREDIT" else 60)
    monkeypatch.setattr(learnt, "_PAUSE", 10**9)
    text = "".join([f'{chr(0x4E00 + number)}"}}<tool_call>{{"name":"a' for number in range(300)])
    deltas = cut(CALL.format("a") * (0 if name == "_CREDIT" else 2) + text, 3)
    assert 1 < states_taken(deltas, monkeypatch) < 12


@pytest.mark.replays
@pytest.mark.usefixtures("_learns_soon")
def test_calls_of_which_no_two_are_alike_are_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_CREDIT_OF_CALLS", 10**9)
    call = "<|tool_call_begin|>functions.f:{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    text = "<|tool_calls_section_begin|>" + "".join([call.format(number) for number in range(400)])
    assert 1 < states_taken(cut(text, 3), monkeypatch, "kimik2") < 450


def states_taken(deltas: list[Delta], monkeypatch: pytest.MonkeyPatch, parser: str = "qwen") -> int:
    """How many states of a machine are taken down in a replay."""
    taken, own = list[int](), Machine.snapshot

    def snapshot(self: Machine, *, exact: bool = False) -> State | None:
        taken.append(self.examined)
        return own(self, exact=exact)

    monkeypatch.setattr(Machine, "snapshot", snapshot)
    fed_singly(deltas, monkeypatch, parser)
    return len(taken)


@pytest.mark.usefixtures("_learns_soon")
def test_few_states_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_MOST_PLACES", 5)
    fed_singly(cut(CALL.format("a.py") * 40), monkeypatch)


def test_calls_that_are_rejected_are_followed_but_for_one_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    assert fed_singly(cut("{" * 400, 1), monkeypatch, "json") < 60


def test_an_output_of_few_deltas_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made = build(get_format("qwen"))
    made.begin(Context())
    assert reading.Reading(made, cut("Hello"), ["Hell", "o"]).learner is None


def test_a_machine_that_cannot_be_taken_down_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    monkeypatch.setattr(Machine, "snapshot", lambda _self, *, exact=False: None)
    deltas = cut(CALL.format("a.py") * 4)
    assert fed_singly(deltas, monkeypatch) == len(deltas)


def test_nothing_follows_from_a_place_that_is_not_known() -> None:
    made = build(get_format("qwen"))
    made.begin(Context())
    assert isinstance(made, Machine)
    assert learnt.Learner(made).follow(["a"], ["a"], 0, 1) == []


def test_a_segment_alone_is_moved_as_those_in_events_are() -> None:
    assert Move(3, 1)._inside(Segment("a", 1, 2, "copied"), "") == Segment("a", 4, 5, "copied")
    assert Move(3, 1)._inside((True, "a", NOWHERE, 2), "numbers") == (True, "a", NOWHERE, 3)


@pytest.mark.usefixtures("_learns_at_once")
def test_an_id_that_is_held_is_that_of_the_call_and_not_of_the_one_it_was_learnt_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = next(iter(outputs(case_named("qwen/no-arguments-as-text"))))
    once = "".join([piece.text for piece in output.pieces])
    deltas = cut((once + " " * (-len(once) % 8)) * AGAIN, 8)
    monkeypatch.setattr(reading, "WORTH", 10**9)
    trace, message = told(output, deltas)
    monkeypatch.setattr(reading, "WORTH", 0)
    known, again = told(output, deltas)
    assert again == message == known.message
    assert list(known.steps) == list(trace.steps)


def test_a_step_in_which_two_ids_are_made_up_is_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt, "_DELTAS", 0)
    two = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * 2
    assert fed_singly([Delta(n, (Piece(two[:90]),)) for n in range(1, 3)], monkeypatch) == 2
    assert fed_singly(cut("[f(), g()]" * 40, 10), monkeypatch, "pythonic") == 40
