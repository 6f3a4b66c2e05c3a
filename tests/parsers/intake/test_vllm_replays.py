"""What a test of vLLM's says of how its sample is fed, and what is tried of a sample besides."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES
from parsers.cases.io import loads
from parsers.cases.run import run_case
from parsers.cases.tested import as_test
from parsers.intake.suites import suite_in
from parsers.replays.chunking import DEFAULT_COMPARED, Chunking
from parsers.replays.recorded import BlackBox
from parsers.search.sweep import LATE
from parsers.vocabulary.types import Context, Delta, MessageDelta
from tests.parsers.search.faulty import engine

SAMPLE = """
import pytest
from tests.parser.engine.replay_harness import Sample, replay_streaming

HELD = [6, 3]
SAMPLE = Sample(
    id="a", description="", source="", vocab={{"</think>": 2, "<think>": 1}},
    tokens=[(10, "Hm"), (11, "."), (2, "</think>"), (12, " So"), (13, "."), (14, " Yes.")],
    expected_reasoning="Hm.", expected_content=" So. Yes.", expected_tool_calls=[],
)
{0}
"""
TEST = "def test_it(): replay_streaming(SAMPLE)"


def sample(around: str) -> Case:
    """The case of a sample with a test around it."""
    found = suite_in(SAMPLE.format(around).encode(), filename="a.py")
    (body,) = found.cases.values()
    return loads(body)


def cuts(*places: int) -> Chunking:
    return Chunking(by="cuts", cuts=places)


def marked(name: str, values: str) -> str:
    return f'@pytest.mark.parametrize("{name}", {values}, ids=str)\n'


ROWS: dict[str, tuple[str, list[Chunking]]] = {
    "sizes": (marked("chunk_size", "[4, None, 900, True, 0]"), [Chunking(by="token", size=4), cuts()]),
    "text later": (marked("text_delay", "[2]"), [Chunking(by="token", text_delay=2)]),
    "text later, as its own tests call it": (marked("delay", "[1, 'a']"), [Chunking(by="token", text_delay=1)]),
    "held back": (marked("holdback", "HELD") + marked("chunk_size", "[2]"), [
        Chunking(by="token", size=2), cuts(3), cuts(11),
    ]),
    "held back, all at once": (marked("holdback_chars", "(3,)") + marked("chunk_size", "[None]"), [cuts()]),
    "held back, token by token": (marked("holdback_chars", "(3,)"), [cuts(3, 11)]),
    "of a class": ("class TestIt:\n    " + marked("chunk_size", "[3]") + "    ", [Chunking(by="token", size=3)]),
    "of names that are not told": (marked("chunk_size", "SIZES") + marked("x", "[1]") + "@pytest.mark.slow()\n", []),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_the_chunkings_of_a_test_come_before_the_usual_ones(name: str) -> None:
    marks, first = ROWS[name]
    replay = sample(f"{marks}{TEST}").replay
    assert list(replay[: len(first)]) == first
    later = {one for one in LATE if one.text_delay}
    assert {*replay} >= {*DEFAULT_COMPARED, *later, Chunking(by="token", size=23)}
    assert len({*replay}) == len(replay)


def test_a_test_of_an_output_that_does_not_stream_is_replayed_whole() -> None:
    assert sample("def test_it(): parse_non_streaming(SAMPLE)").replay[0] == Chunking(by="whole")
    assert sample("def test_it(): replay_x(parse_non_streaming(SAMPLE))").replay[0] == Chunking(by="token")


DELTAS: list[tuple[str, list[int] | None]] = [
    ('[("Hm.", [10, 11]), ("</think> So.", [2, 12, 13]), (" Yes.", [14])]', [2, 3, 1]),
    ('[("", [10]), ("Hm.</th", [11, 2]), ("ink> So. Yes.", [12, 13, 14])]', [1, 2, 3]),
    ('[("Hm.", [10, 11])]', None),
    ('["Hm.</think> So. Yes."]', None),
    ("7", None),
]


@pytest.mark.parametrize(("given", "ids"), DELTAS)
def test_the_deltas_of_a_test_are_those_of_its_case(given: str, ids: list[int] | None) -> None:
    case = sample(f"DELTAS = {given}\n{TEST}")
    assert (case.input.deltas is None, case.replay[0].by) == (ids is None, "token" if ids is None else "recorded")
    assert [len(delta.ids or ()) for delta in case.input.deltas or ()] == (ids or [])


@pytest.mark.parametrize(
    ("around", "why"),
    [
        ("ORDER = [1]", ""),
        ("ORDER = [('call', 'f')]", "/expect/events/0"),
        ("ARGUMENTS = []", ""),
        ("ARGUMENTS = 7", ""),
        ("SAMPLE = Sample('b', '', '', [1], [(1, 'a')], None, 'a', None)", "its vocabulary is no dict"),
        (
            "SAMPLE = Sample('b', '', '', {}, [(1, 'a')], None, 'a', [7])\nARGUMENTS = ['{}']",
            "/expect/tool_calls/0/name",
        ),
    ],
)
def test_what_no_test_of_ours_says_is_told_or_as_if_it_were_not_there(around: str, why: str) -> None:
    found = suite_in(SAMPLE.format(around).encode(), filename="a.py")
    assert [one.why[: len(why)] for one in found.skipped] == [why] * bool(why)


FIXTURE = """
TOKENS = [(10, "a"), (11, "b"), (12, "c")]
GROUPING = {0}
FIXTURE = FormatFixture(family="x", parser="hermes", raw_output="abc", expected=())
def test_it():
    assert content == "abc"
    assert got == 3
"""


@pytest.mark.parametrize(
    ("grouping", "texts"), [("[2, 0, 1]", ["ab", "", "c"]), ("[2]", []), ("['a']", []), ("None", [])]
)
def test_the_grouping_of_a_fixture_is_that_of_its_case(grouping: str, texts: list[str]) -> None:
    (body,) = suite_in(FIXTURE.format(grouping).encode(), filename="a.py").cases.values()
    case = loads(body)
    assert [delta.text for delta in case.input.deltas or ()] == texts
    assert (case.mode(), case.expect and case.expect.content) == ("ids", "abc")


class OnePiece:
    """A parser of somebody that finds the marker where one delta has all of its text."""

    def begin(self, context: Context) -> None:
        self.thinks = True

    def feed(self, delta: Delta) -> MessageDelta | None:
        before, marker, after = delta.text.partition("</think>")
        sent = MessageDelta(content=after or None)
        if not self.thinks:
            return MessageDelta(content=delta.text or None)
        sent.reasoning, self.thinks = before or None, not marker
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


def test_a_fault_that_only_text_held_back_shows_fails_where_that_is_asked_for() -> None:
    case = sample(TEST)
    case = case.model_copy(update={"parser": case.parser.model_copy(update={"engine": "theirs"})})
    theirs: Any = engine(lambda name: BlackBox(name, OnePiece()), black_box=True)
    engines = {**ENGINES, "theirs": theirs}
    assert as_test(run_case(case, engines=engines)).outcome == "ok"  # no test of its suite cuts a marker
    asked = case.model_copy(update={"replay": (*case.replay, *LATE)})
    found = as_test(run_case(asked, engines=engines))
    assert found.outcome == "FAIL"
    assert {one.chunking for one in found.failing} == {
        one for one in LATE if 0 < one.holdback_chars < 12
    }  # the others hold all of it back


@pytest.mark.parametrize("held", [1, 4, 6])
def test_text_that_is_late_ends_inside_a_marker_where_the_parser_is_not_ours(held: int) -> None:
    case = sample(TEST).model_copy(update={"replay": (Chunking(by="token", holdback_chars=held),)})
    theirs: Any = engine(lambda name: BlackBox(name, OnePiece()), black_box=True)
    other = case.model_copy(update={"parser": case.parser.model_copy(update={"engine": "theirs"})})
    inside = {*range(4, 11)}
    for one, split in ((case, False), (other, True)):
        trace = run_case(one, engines={**ENGINES, "theirs": theirs}).trace
        ends = {*accumulate([step.span.end - step.span.start for step in trace.steps])}
        assert bool(ends & inside) is split
        ids = [number for step in trace.steps for number in step.ids]
        assert ids == [10, 11, 2, 12, 13, 14]
