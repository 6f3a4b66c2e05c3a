"""The search over a long output: every cut where the parser can resume, else a sample, and that is said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.find import CaseSearch, find_json
from parsers.checks import CHECKS
from parsers.checks.metamorphic_output import made_up_call
from parsers.checks.subject import Variant
from parsers.machine.calls import Calls
from parsers.replays.chunking import TRACED
from parsers.replays.replayer import Replayer
from parsers.search.found import Found, Sample
from parsers.search.search import Search
from parsers.search.variants import KINDS, Bounds
from parsers.search.variants.ground import Ground
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Piece
from tests.growth import assert_linear, seconds
from tests.parsers.search.faulty import Faulty, case_of, engines

SENTENCE = "A sentence of some words, and <b>another</b>. "
CALL = '<tool_call>\n{"name": "f", "arguments": {"city": "Paris", "days": [1, 2]}}\n</tool_call>\n'
LONG = (SENTENCE * 5 + CALL) * 3
QUICK = tuple(check.name for check in CHECKS.values() if not any(need.is_metamorphic for need in check.needs))
UNCHANGED = engines(lambda events, _: events)


@pytest.fixture
def short_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """LONG is a long output: no more than the least number of replays are made of it in full."""
    monkeypatch.setattr("parsers.search.sweep.MAX_CHARACTERS", 1)


def tokens(text: str = LONG) -> tuple[Piece, ...]:
    return tuple([Piece(text[at : at + 4]) for at in range(0, len(text), 4)])


def builtin(text: str = LONG) -> Case:
    return Case.model_validate(
        {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": [text]}, "checks": list(QUICK)}
    )


def searched(made: CaseSearch) -> Found:
    for _ in made.run():
        pass
    return made.result().found


@pytest.mark.replays
@pytest.mark.usefixtures("short_budget")
def test_every_place_is_cut_where_the_parser_can_resume() -> None:
    found = searched(CaseSearch(builtin(), pieces=tokens()))
    assert (found.complete, found.samples) == (True, ())
    assert found.cuts == [0] * (len(LONG) - 1)
    halves = [sum(group.counts.values()) for group in found.groups if group.name.startswith("cuts_")]
    assert (len(halves), sum(halves)) == (3, len(LONG) - 1)
    assert found.replays > len(LONG)


@pytest.mark.replays
@pytest.mark.usefixtures("short_budget")
def test_a_parser_that_cannot_is_cut_at_a_sample_and_the_answer_says_so() -> None:
    case = case_of(LONG, checks=QUICK)
    made = CaseSearch(case, pieces=tokens(), engines=UNCHANGED)
    found = searched(made)
    assert not found.complete
    honest, hostile = found.samples
    assert (honest.name, honest.of) == ("cuts_honest", len(tokens()) - 1)
    assert (hostile.name, hostile.of) == ("cuts_hostile", len(LONG) - len(tokens()))
    assert honest.tried + hostile.tried == sum(number >= 0 for number in found.cuts) < 300
    assert honest.words == f"cut in two between tokens ({honest.tried} of {honest.of})"
    said = find_json(made.result())
    assert said["complete"] is False
    assert said["samples"][0] == {
        "name": "cuts_honest",
        "label": "cut in two between tokens",
        "tried": honest.tried,
        "of": honest.of,
    }


@pytest.mark.usefixtures("short_budget")
def test_what_is_over_the_budget_of_cuts_is_a_sample_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.search.search.MAX_CHARACTERS", 90_000)
    found = searched(CaseSearch(builtin(), pieces=tokens()))
    assert not found.complete
    assert 300 < sum(sample.tried for sample in found.samples) < len(LONG) - 1


def test_a_search_that_was_stopped_says_what_it_did_not_try() -> None:
    made = CaseSearch(builtin(), pieces=tokens())
    assert len(list(islice(made.run(), 3))) == 3
    found = made.result().found
    assert not found.complete
    assert [sample.tried for sample in found.samples] == [0, 0, 0]


@pytest.mark.replays
def test_a_cut_inside_a_token_that_breaks_the_parser_is_found_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine itself is broken, so that it resumes: what a cut before `words` leads to is lost."""
    read = Calls.read
    monkeypatch.setattr(
        Calls, "read", lambda self, kind, text, at: read(self, kind, text[text.startswith("words") :], at)
    )
    found = searched(CaseSearch(builtin(), pieces=tokens()))
    assert len(found.outcomes) > 1
    cut = LONG.index("words")
    assert found.cuts[cut - 1] > 0
    assert found.cuts[cut] == 0
    assert found.verdict.kind == "chunk_boundary"


# the output cut off


def replayer(text: str = LONG) -> Replayer:
    return Replayer(maker(get_format("qwen")), tokens(text), format=get_format("qwen"))


def ground(of: Replayer, bounds: Bounds) -> Ground:
    return Ground(of, of.trace(TRACED), bounds=bounds)


def test_a_long_output_is_cut_off_everywhere_and_what_says_something_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    end = Calls.end

    def whole(self: Calls, start: int, stop: int, *, complete: bool, **how: bool) -> None:
        end(self, start, stop, complete=True, **how)

    monkeypatch.setattr(Calls, "end", whole)
    few = ground(replayer(), Bounds(cut=4_000, streamed=0, every=False))
    many = ground(replayer(), Bounds(cut=400_000, streamed=0))
    sample, every = ([one.proof.edits[0][0] for one in KINDS["truncated"](of)] for of in (few, many))
    assert len(sample) < 30
    inside = range(LONG.rindex('"city": "') + 9, LONG.rindex("}}"))
    assert set(inside) <= set(every)
    assert many.samples == []
    assert all(made_up_call(one.message, one.base) is not None for one in KINDS["truncated"](many)
               if one.proof.edits[0][0] in inside)  # fmt: skip


def test_where_not_every_place_was_cut_off_that_is_said() -> None:
    bounds = Bounds(cut=4_000, streamed=0)
    foreign = replayer().with_parser(lambda: Faulty("qwen", lambda events, _: events))
    for of in (foreign, replayer(LONG * 5)):
        made = ground(of, bounds)
        tried = {one.proof.edits for one in KINDS["truncated"](made)}
        (sample,) = made.samples
        assert (sample.name, sample.of) == ("truncated", len(of.text) - 1)
        assert len(tried) <= sample.tried < sample.of
    assert Sample("truncated", "cut off after a character", 3, 9).words == "cut off after a character (3 of 9)"


def test_the_search_says_which_changed_outputs_were_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample("truncated", "cut off after a character", 3, 9)

    def none(of: Replayer, trace: Trace, *, samples: list[Sample], **more: Any) -> Iterator[Variant]:
        samples.append(sample)
        yield from ()

    monkeypatch.setattr("parsers.search.search.variants", none)
    found = searched(CaseSearch(builtin("Hello.").model_copy(update={"checks": ("truncation",)})))
    assert (found.samples, found.complete) == ((sample,), False)


@pytest.mark.linear
def test_the_sweep_of_twice_the_output_takes_twice_as_long() -> None:
    def timed(times: int) -> float:
        made = Search(replayer(LONG * times), only=QUICK)
        return seconds(lambda: list(made._swept()))

    assert_linear(timed, (3, 6, 12))
