"""What takes more than its budget is stopped between two deltas and reported as slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from parsers.replays.budget import MOST_ENDED, MOST_SLOW, Budget, OverBudgetError, SpentBudgetError
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.replays.tapes import Asked, Played, Tape
from parsers.replays.tapes import Tapes as TapesKept
from parsers.search.search import NOT_OVER, Search
from parsers.search.variants import CountLines
from parsers.selection.registry import build, get_format, maker, policies
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece
from parsers.wire.assemble import Assembler

TOKENS = ("<tool_call>", '{"name": "f", ', '"arguments": {"q":', ' "short"}}', "</tool_call>", "Done.")


class Clocked:
    """A black box around the built-in parser, on a clock of its own: each delta takes as long as all text so far."""

    now = 0.0
    cost: Callable[[int], float] = staticmethod(lambda size: size * size / 1e6)

    def begin(self, context: Context) -> None:
        self.inner, self.assembler, self.size = build(get_format("qwen")), Assembler(), 0
        self.inner.begin(context)

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.size += len(delta.text)
        Clocked.now += self.cost(self.size)
        return self.assembler.add(self.inner.feed(delta))

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.assembler.add(self.inner.finish(reason))


class Rescans(Clocked):
    """It reads all text so far again with each delta, in lines of Python that can be counted."""

    lines = 0

    def feed(self, delta: Delta) -> MessageDelta | None:
        sent = super().feed(delta)
        Rescans.lines += self.size
        return sent


class Steady(Rescans):
    """It reads each delta once."""

    def feed(self, delta: Delta) -> MessageDelta | None:
        sent = Clocked.feed(self, delta)
        Rescans.lines += len(delta.text)
        return sent


@pytest.fixture(autouse=True)
def _start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clocked, "now", 0.0)


def replayer(
    make: type[Clocked] = Clocked,
    budget: Budget | None = None,
    tokens: tuple[str, ...] = TOKENS,
    *,
    assumed: bool = False,
) -> Replayer:
    fmt = get_format("qwen")
    return Replayer(
        lambda: BlackBox("slow", make()),
        tuple(map(Piece, tokens)),
        black_box=True,
        terminals=fmt.terminals,
        format=fmt,
        policy=policies(fmt),
        budget=budget,
        own_tokenizer=not assumed,
    )


def clocked(each: float, total: float = 1e9) -> Budget:
    return Budget(lambda: Clocked.now, each, total)


def lines(work: Callable[[], object]) -> int:
    Rescans.lines = 0
    work()
    return Rescans.lines


def test_a_replay_is_asked_between_deltas() -> None:
    look = clocked(1.0).begin()
    look()
    Clocked.now = 1.5
    with pytest.raises(OverBudgetError, match="stopped, for it had taken more than 1 s"):
        look()


def test_nothing_begins_when_all_is_spent_until_that_is_lifted() -> None:
    budget = clocked(1.0, 2.0)
    Clocked.now = 2.0
    with pytest.raises(SpentBudgetError):
        budget.begin()
    budget.lift()
    budget.begin()()


@pytest.mark.parametrize("chunking", [TRACED, Chunking(by="char", size=8)])
def test_a_slow_replay_counts_as_failed_and_keeps_what_was_made(chunking: Chunking) -> None:
    slow = replayer(budget=clocked(0.005))
    outcome, trace = slow.outcome(chunking), slow.trace(chunking)
    for failure in (outcome.raised, trace.failure):
        assert failure is not None
        assert failure.slow
        assert str(failure) == "TooSlow: stopped, for it had taken more than 0.005 s"
    assert slow.outcome(WHOLE).raised is None


def test_a_builtin_parser_within_its_budget_is_read_as_ever() -> None:
    plain = Replayer(maker(get_format("qwen")), (Piece("".join(TOKENS)),))
    bound = replace(plain, budget=Budget(lambda: 0.0, 1.0))
    assert bound.outcome(TRACED).message == plain.outcome(TRACED).message
    assert bound.trace(TRACED).message == plain.trace(TRACED).message


def search(
    make: type[Clocked], budget: Budget, only: list[str], count: CountLines | None = None, *, assumed: bool = False
) -> Search:
    made = Search(replayer(make, assumed=assumed), only=only, max_replays=60, budget=budget, lines=count)
    assert list(made.run())
    return made


@pytest.mark.parametrize("assumed", [False, True])
def test_a_parser_too_slow_for_the_output_itself_is_reported_and_not_waited_for(assumed: bool) -> None:
    made = search(Clocked, clocked(0.005), ["parser_raised"], assumed=assumed)
    found = made.found()
    said = found.verdict
    assert (said.kind, said.severity, said.about) == ("parser_failed", "error", "parser")
    assert "TooSlow: stopped" in said.headline
    assert not found.complete
    assert found.replays == 2
    assert found.minimized is None


@pytest.mark.parametrize(
    ("cost", "how"),
    [
        (Clocked.cost, "2,000 characters in the argument `q`, 16 at a time"),
        (lambda size: 30.0 * (size > 10_000), "16,000 characters in the argument `q`"),
    ],
)
def test_a_parser_too_slow_for_a_long_argument_is_reported_and_not_asked_again(
    cost: Callable[[int], float], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clocked, "cost", staticmethod(cost))
    found = search(Clocked, clocked(20.0), ["changed_output_raised", "no_length_cap"]).found()
    (finding,) = [one for one in (*found.findings, *found.robustness) if one.check == "changed_output_raised"]
    assert f"with {how}, the parser is too slow: it was stopped, for it had taken more than 20 s" in finding.message
    assert found.variants["padded"] < 6
    assert found.minimized is None


def test_a_spent_budget_ends_a_search_with_what_it_has() -> None:
    found = search(Clocked, clocked(10.0, 0.2), ["chunking"]).found()
    assert not found.complete
    assert found.replays > 2
    assert found.verdict.kind == "all_hold"


@pytest.mark.parametrize("assumed", [False, True])
@pytest.mark.parametrize("check", ["linear_arguments", "linear_time"])
@pytest.mark.replays
def test_work_that_grows_with_the_square_shows_in_lines_without_a_clock(check: str, assumed: bool) -> None:
    found = search(Rescans, clocked(1e9), [check], lines, assumed=assumed).found()
    (finding,) = (*found.findings, *found.robustness)
    assert finding.check == check
    assert "characters the parser executes" in finding.message
    assert search(Steady, clocked(1e9), [check], lines).found().findings == []


@pytest.mark.parametrize("count", [lambda work: None, lambda work: 1 // 0])
@pytest.mark.replays
def test_lines_that_nobody_can_count_blame_nobody(count: CountLines) -> None:
    assert search(Rescans, clocked(1e9), ["linear_time", "linear_arguments"], count).found().findings == []


HUNG = Failure("Hangs", slow=True, ended=True)


@pytest.mark.parametrize(("failure", "times"), [(HUNG, MOST_SLOW), (Failure("Crashed", ended=True), MOST_ENDED)])
def test_a_process_that_does_not_survive_its_replays_is_given_up(failure: Failure, times: int) -> None:
    budget = Budget(lambda: 0.0, 1.0)
    for _ in range(times):
        budget.begin()
        budget.note(failure)
    with pytest.raises(SpentBudgetError):
        budget.begin()
    budget.lift()
    budget.begin()
    assert budget.given_up == failure.kind


@pytest.mark.parametrize("failure", [None, Failure("ValueError"), Failure("TooSlow", slow=True)])
def test_what_a_process_survives_is_tried_on(failure: Failure | None) -> None:
    budget = Budget(lambda: 0.0, 1.0)
    for _ in range(100):
        budget.begin()
        budget.note(failure)
    assert budget.given_up == ""


def test_what_was_not_even_tried_ends_the_search_at_once() -> None:
    budget = Budget(lambda: 0.0, 1.0)
    with pytest.raises(SpentBudgetError):
        budget.note(replace(HUNG, unasked=True))
    budget.lift()
    budget.note(replace(HUNG, unasked=True))


class Tapes:
    """A parser elsewhere: with a process that ends where a cut falls inside a marker."""

    def __init__(self, failure: Failure) -> None:
        self.asked = 0
        self.failure = failure

    def play(self, asked: Sequence[Asked]) -> list[Tape]:
        self.asked += len(asked)
        return [self.tape([delta.text for delta in one.deltas]) for one in asked]

    def tape(self, texts: list[str]) -> Tape:
        if any(text.endswith("<") for text in texts):
            return Tape((), self.failure, 1)
        return Tape((*[MessageDelta(content=text) for text in texts], None))


def played_by(tapes: Tapes) -> Search:
    made = partial(Played, "x", Tape())
    replayer = Replayer(
        made,
        tuple(map(Piece, "ab < cd <e> < f< g<")),
        Context(),
        format=get_format("qwen"),
        tapes=TapesKept(tapes.play),
    )
    return Search(replayer, budget=Budget(lambda: 0.0, 1.0))


@pytest.mark.parametrize(("failure", "most"), [(HUNG, MOST_SLOW), (Failure("Crashed", ended=True), MOST_ENDED)])
def test_a_search_is_ended_early_where_a_process_does_not_survive(failure: Failure, most: int) -> None:
    tapes = Tapes(failure)
    search = played_by(tapes)
    assert [one.stage for one in search.run()][-1] != "done"
    found = search.found()
    assert not found.complete
    assert f"does not survive its replays ({failure.kind})" in " ".join(found.verdict.sentences)


@pytest.mark.replays
def test_a_search_that_its_total_ends_says_that_not_everything_was_tried() -> None:
    called = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    replayer = Replayer(maker(get_format("qwen")), (Piece(called),), Context(), format=get_format("qwen"))
    spent, whole = Search(replayer, budget=Budget(iter(range(10_000)).__next__, 9_000, 3)), Search(replayer)
    for search in (spent, whole):
        assert [*search.run()]
    early, late = spent.found(), whole.found()
    assert (early.verdict.kind, early.complete, late.verdict.kind, late.complete) == (
        "all_hold",
        False,
        "all_hold",
        True,
    )
    assert (NOT_OVER in early.verdict.sentences, NOT_OVER in late.verdict.sentences) == (True, False)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("replays", "said"),
    [
        (20, "other chunkings were tried, no changed outputs, no smaller forms."),
        (190, "changed outputs were tried, no smaller forms."),
        (10_000, ""),
    ],
)
def test_a_search_that_a_clock_ends_says_what_was_not_tried(replays: int, said: str) -> None:
    asked = iter(range(1_000_000))
    budget = Budget(lambda: 0.0, 1.0, late=lambda: next(asked) >= replays)
    called = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    search = Search(
        Replayer(maker(get_format("qwen")), (Piece(called),), Context(), format=get_format("qwen")), budget=budget
    )
    assert [*search.run()]
    found = search.found()
    left = [one for one in found.verdict.sentences if one.startswith("The search was left in the middle: about ")]
    assert (found.complete, [one.endswith(said) for one in left]) == (not said, [True] * bool(said))
    assert (NOT_OVER in found.verdict.sentences) == said.startswith("other chunkings")


@pytest.mark.parametrize("late", [False, True])
def test_whoever_waits_no_longer_does_not_wait_for_how_work_grows(late: bool) -> None:
    replayer = Replayer(lambda: BlackBox("slow", Clocked()), (Piece("ab"),), black_box=True, format=get_format("qwen"))
    budget = Budget(lambda: 0.0, 1e9, late=lambda: late)
    search = Search(replayer, only=["linear_time"], clock=lambda: Clocked.now, budget=budget)
    assert [*search.run()]
    assert ("linear_time" in [name for name, _ in search.found().skipped]) == late


def test_a_search_of_what_hangs_at_once_says_so() -> None:
    search = played_by(AllHang(HUNG))
    assert [*search.run()]
    assert "does not survive its replays (Hangs)" in " ".join(search.found().verdict.sentences)


class AllHang(Tapes):
    """It hangs whatever it is fed."""

    def tape(self, texts: list[str]) -> Tape:
        return Tape((), self.failure, 0)


RAISED = Failure("ValueError", "no key", "feed, line 3 of own.py")


class AllFail(Tapes):
    """It raises whatever it is fed, and lives on."""

    def tape(self, texts: list[str]) -> Tape:
        return Tape((), self.failure, 1)


class FailsOnMarkers(Tapes):
    """It raises on any output that has a marker, however it is cut."""

    def tape(self, texts: list[str]) -> Tape:
        return super().tape(texts) if "<" not in "".join(texts) else Tape((), self.failure, 1)


def test_a_search_of_what_fails_in_one_way_whatever_it_is_fed_ends_and_says_so() -> None:
    search = played_by(AllFail(RAISED))
    assert [one.stage for one in search.run()][-1] != "done"
    found = search.found()
    assert (found.complete, found.replays < 60) == (False, True)
    (said,) = [one for one in found.verdict.sentences if "ended early" in one]
    assert f"failed in the same way in all {found.replays} replays, and does so on the word 'Hello' as well" in said
    assert found.verdict.kind == "parser_failed"


@pytest.mark.replays
def test_a_search_of_what_fails_on_one_output_alone_goes_on() -> None:
    search = played_by(FailsOnMarkers(RAISED))
    assert [one.stage for one in search.run()][-1] == "done"
    found = search.found()
    assert not [one for one in found.verdict.sentences if "ended early" in one]
    assert found.minimized is not None
