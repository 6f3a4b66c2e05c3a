"""Two parsers of one output beside each other: where they differ, under what, and the smallest form of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from parsers.compare.divergence import EXACT, Rules
from parsers.replays.budget import Budget
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.cut_grades import CutGrade
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.replays.tapes import Asked, Tape, Tapes
from parsers.search.parted import PartingFound
from parsers.search.parting import Parting, shared_rules
from parsers.search.sweep import cut_at
from parsers.selection.registry import build, get_format, maker, policies
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import Context, MessageDelta, Piece, Tool
from tests.parsers.search.spoilt import EndsTwice, LosesTail, NamesAnew, Spoilt
from tests.parsers.search.test_unseen_faults import ONE, TOKEN, call

Make = Callable[[], Any]
PROSE = "Hello you, it is\nsunny and warm here."


class LosesCut(Spoilt):
    """A delta that is the line end alone is lost."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return None if text == "\n" else sent


class LosesUncalled(Spoilt):
    """An output that ends inside a call has lost what was content before."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        rest = super().finish(reason)
        return MessageDelta(content="?") if "<tool_call>" in self.text and "</tool_call>" not in self.text else rest


class Fails(Spoilt):
    """It fails at `!`."""

    kind: type[Exception] = ValueError

    def on(self, text: str) -> MessageDelta | None:
        if "!" in text:
            raise self.kind("no")
        return super().on(text)


class FailsOtherwise(Fails):
    """It fails with another exception."""

    kind = KeyError


class Slow(Spoilt):
    """As one that took too long."""


class Chance(Spoilt):
    """Every other one of it says more."""

    made = count()

    def finish(self, reason: str | None) -> MessageDelta | None:
        return MessageDelta(content="!") if next(Chance.made) == 0 else super().finish(reason)


def side(make: Make | None, text: str, **more: Any) -> Replayer:
    """A black box around a class, or the built-in parser."""
    fmt, pieces = get_format("qwen"), tuple([Piece(token) for token in TOKEN.findall(text)])
    known = {"terminals": fmt.terminals, "format": fmt, "policy": policies(fmt), **more}
    made = maker(fmt, policies(fmt)) if make is None else lambda: BlackBox("mine", make())
    return Replayer(made, pieces, black_box=make is not None, **known)


def search(first: Make | None, second: Make | None, text: str, **more: Any) -> PartingFound:
    made = Parting(side(first, text), side(second, text), **more)
    assert [one.stage for one in made.run()][-1] == "done"
    return made.found()


@pytest.mark.replays
def test_parsers_that_agree_have_no_difference() -> None:
    found = search(Spoilt, None, ONE)
    assert (found.first, found.smallest, found.complete) == (None, None, True)
    assert (found.replays > 500, found.changed > 50) == (True, True)


def test_a_difference_of_one_chunking_is_found_and_made_small() -> None:
    found = search(Spoilt, LosesCut, PROSE)
    assert found.first is not None
    assert found.smallest is not None
    assert (found.first.text, found.first.change, found.first.grade) == (PROSE, "", CutGrade.ASSUMED)
    small = found.smallest
    assert (len(small.text) < 6, small.chunking.by, small.grade) == (True, "cuts", CutGrade.ASSUMED)
    assert small.step is not None
    assert small.step.fed == "\n"
    first, second = small.step.sent
    assert (first.delta, second.delta) == (MessageDelta(content="\n"), None)
    assert small.message is not None
    assert small.message.channel.part == "content"
    assert [one.message.content == small.text for one in small.sides] == [True, False]


@pytest.mark.replays
def test_the_side_that_is_right_stays_right_whichever_it_is() -> None:
    text = ONE + "\nDone."
    one, other = search(None, LosesTail, text).smallest, search(LosesTail, None, text).smallest
    assert one is not None
    assert other is not None
    assert one.text == other.text
    assert [side.message for side in one.sides] == [side.message for side in other.sides][::-1]
    right, wrong = [side.message.tool_calls[0].arguments for side in one.sides]
    assert (right in one.text, len(wrong) < len(right)) == (True, True)


@pytest.mark.replays
def test_a_difference_that_only_changed_outputs_show_says_the_change() -> None:
    found = search(Spoilt, LosesUncalled, ONE)
    assert found.first is not None
    assert found.smallest is not None
    assert found.first.change.startswith(("without the `</tool_call>`", "cut off after character"))
    assert found.first.text != ONE
    assert ("</tool_call>" in found.smallest.text, found.changed > 0) == (False, True)


@pytest.mark.parametrize(
    ("first", "second", "differ"), [(Fails, Spoilt, True), (Fails, Fails, False), (Fails, FailsOtherwise, True)]
)
@pytest.mark.replays
def test_failures_of_one_kind_are_no_difference(first: Make, second: Make, differ: bool) -> None:
    found = search(first, second, "Well done! Bye.")
    assert (found.first is not None) == differ
    if found.smallest is not None:
        assert (found.smallest.text, found.smallest.message) == ("!", None)
        assert found.smallest.step is not None
        assert found.smallest.step.sent[0].failure is not None


def test_the_cuts_a_server_is_surest_of_are_preferred() -> None:
    found = search(EndsTwice, Spoilt, PROSE)
    assert found.first is not None
    assert (found.first.grade, found.first.chunking) == (CutGrade.HONEST, WHOLE)


def test_only_honest_cuts_are_tried_where_that_is_asked() -> None:
    found = search(Spoilt, LosesCut, PROSE, honest_only=True)
    assert (found.first, found.complete) == (None, True)


@pytest.mark.replays
def test_tools_that_the_smallest_output_does_not_name_are_left_out() -> None:
    context = Context(tools=(Tool("get_weather", {}), Tool("get_time", {})))
    made = Parting(side(None, ONE, context=context), side(LosesTail, ONE, context=context))
    _ = [*made.run()]
    small = made.found().smallest
    assert small is not None
    assert small.context.tools == (Tool("get_weather", {}),)


@pytest.mark.replays
def test_a_second_code_path_is_compared_with_one_that_has_none() -> None:
    fmt = get_format("qwen")
    whole = side(Spoilt, ONE, one_shot=lambda: BlackBox("mine", EndsTwice()))
    made = Parting(side(None, ONE + "Bye"), replace(whole, pieces=side(None, ONE + "Bye").pieces))
    _ = [*made.run()]
    found = made.found()
    assert (fmt.name, found.first is not None and found.first.chunking) == ("qwen", WHOLE)


def test_what_differs_by_chance_is_not_made_small() -> None:
    Chance.made = count()
    made = Parting(side(Chance, PROSE), side(Spoilt, PROSE))
    _ = [*made.run()]
    found = made.found()
    assert (found.first is not None, found.smallest) == (True, None)


def test_a_search_that_is_left_or_spent_says_so() -> None:
    made = Parting(side(Spoilt, PROSE), side(Spoilt, PROSE))
    next(made.run())
    assert (made.found().complete, bool(made.found().samples)) == (False, True)
    spent = Parting(
        side(Spoilt, PROSE), side(Spoilt, PROSE), budget=Budget(iter(range(10_000)).__next__, 1_000_000, 100)
    )
    assert [one.stage for one in spent.run()][-1] != "done"
    assert (spent.found().complete, spent.found().first) == (False, None)


class Elsewhere:
    """Replays that somebody else makes, in batches that are counted."""

    def __init__(self, make: Make, failure: Failure | None = None) -> None:
        self._make = make
        self._failure = failure
        self.batches: list[int] = []

    def play(self, asked: Sequence[Asked]) -> list[Tape]:
        self.batches.append(len(asked))
        return [self._tape(one) for one in asked]

    def _tape(self, asked: Asked) -> Tape:
        parser = self._make()
        parser.begin(asked.context)
        sent = [parser.feed(delta) for delta in asked.deltas]
        return Tape((*sent, parser.finish(None)), self._failure, len(sent))


def test_both_are_asked_for_many_replays_at_a_time() -> None:
    players = Elsewhere(Spoilt), Elsewhere(LosesCut)
    first, second = [side(Spoilt, PROSE, tapes=Tapes(player.play)) for player in players]
    made = Parting(first, second)
    _ = [*made.run()]
    assert made.found().smallest is not None
    assert all(max(player.batches) > 8 for player in players)


def test_what_took_too_long_is_not_made_small() -> None:
    slow = Elsewhere(Spoilt, Failure("Hangs", "no answer", slow=True))
    made = Parting(side(Spoilt, PROSE, tapes=Tapes(slow.play)), side(Spoilt, PROSE))
    _ = [*made.run()]
    found = made.found()
    assert (found.first is not None, found.smallest) == (True, None)


def test_one_that_is_asked_no_more_is_told_and_not_taken_for_the_same() -> None:
    gone = Elsewhere(Spoilt, Failure("Hangs", "not asked again", slow=True, ended=True, unasked=True))
    budget = Budget(iter(range(1_000_000)).__next__, 1_000_000)
    made = Parting(side(Spoilt, PROSE, tapes=Tapes(gone.play)), side(Spoilt, PROSE), budget=budget)
    _ = [*made.run()]
    found = made.found()
    assert (found.first, found.complete, found.given_up) == (None, False, "Hangs")


def test_ids_count_within_one_format_where_contracts_say_so() -> None:
    one = side(None, ONE)
    other = replace(one, format=get_format("llama"))
    assert (shared_rules(one, one, EXACT).ids, shared_rules(one, other, EXACT).ids) == (True, False)
    assert shared_rules(one, side(NamesAnew, ONE), Rules()).ids is False
    assert shared_rules(one, replace(one, format=None), EXACT).ids is False


def test_parsers_of_two_formats_are_compared() -> None:
    text = call("get_weather", city="Paris")
    mistral = Replayer(lambda: build(get_format("mistral")), side(None, text).pieces, format=get_format("mistral"))
    foreign = Parting(side(Spoilt, text), mistral, asked=(Chunking(by="token"),))
    _ = [*foreign.run()]
    assert (foreign.found().first is not None, foreign.found().allowed) == (True, 0)
    made = Parting(side(None, text), mistral, asked=(Chunking(by="token"),))
    _ = [*made.run()]
    small = made.found().smallest
    assert small is not None
    assert [len(one.message.tool_calls) for one in small.sides] == [1, 0]
    assert small.chunking in (cut_at(()), WHOLE)
