"""The service under the command line and the API: what is kept, what is refused, what is written."""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import count
from time import thread_time
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.io import load_case
from parsers.machine.machine import Machine
from parsers.replays.chunking import DEFAULT_COMPARED, WHOLE, Chunking
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import FormatError, UsageError
from tests.webapp.interrupts import Rung, turns
from webapp.runs.exports import exported
from webapp.runs.prepare import error_place, stored_form, with_defaults
from webapp.runs.runner import ChecksGoOn, Run, Runner, collector_paused
from webapp.security import TooLarge
from webapp.settings import PATIENCE, get_settings

Again = Callable[[Runner, Case], Case]
POLICY = {"recovery": "content"}
TEXT = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def case_of(**keys: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": TEXT}, **keys})


def test_a_chunking_of_more_deltas_than_a_case_may_have_tokens_is_refused_before_anything_is_cut() -> None:
    runner = Runner(get_settings().model_copy(update={"max_tokens": 100}))
    assert len(runner.run(case_of(), Chunking(by="cuts", cuts=(1,) * 100)).trace.steps) == 102
    with pytest.raises(TooLarge, match="has 101 deltas; the limit is 100 deltas"):
        runner.run(case_of(), Chunking(by="cuts", cuts=(1,) * 101))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parsers that were started."""
    seen: list[str] = []
    begin = Machine.begin

    def counted(machine: Machine, *args: Any, **options: Any) -> None:
        seen.append(machine.name)
        begin(machine, *args, **options)

    monkeypatch.setattr(Machine, "begin", counted)
    return seen


def test_a_parser_starts_once_for_each_chunking_and_once_for_the_output_twice_over(begun: list[str]) -> None:
    Runner(get_settings()).run_checked(case_of())
    assert len(begun) == len(DEFAULT_COMPARED) + 1


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(lambda runner, case: case, id="the same"),
        pytest.param(lambda runner, case: case.model_copy(update={"title": "Another"}), id="a title"),
        pytest.param(lambda runner, case: case_of(parser={"name": "qwen"}), id="the parser that was chosen"),
        pytest.param(lambda runner, case: stored_form(runner.run_checked(case)), id="as it is saved"),
    ],
)
def test_cases_that_are_replayed_alike_are_replayed_once(begun: list[str], again: Again) -> None:
    kept = Runner(get_settings())
    first = kept.run_checked(case_of())
    made = len(begun)
    found = kept.run_checked(again(kept, case_of()))
    assert len(begun) == made
    assert (found.trace.message, found.trace.steps) == (first.trace.message, first.trace.steps)


def test_a_run_says_why_its_own_parser_was_chosen() -> None:
    kept = Runner(get_settings())
    auto, named = kept.run(case_of(parser={"name": "auto"})), kept.run(case_of())
    assert auto.trace.reasons == auto.selection.reasons != named.trace.reasons == named.selection.reasons


@pytest.mark.parametrize(
    "other", [{"context": {"id_seed": 3}}, {"tools": [{"name": "f"}]}, {"parser": {"name": "qwen", "policy": POLICY}}]
)
def test_another_request_or_policy_is_another_replay(begun: list[str], other: dict[str, Any]) -> None:
    kept = Runner(get_settings())
    kept.run(case_of())
    kept.run(case_of(**other))
    assert len(begun) == 2


def test_a_run_is_kept_and_never_changed() -> None:
    kept = Runner(get_settings())
    run = kept.run(case_of())
    assert run.known_checks is None
    assert kept.checked(run) is kept.checked(kept.run(case_of()))
    assert kept.run(case_of()) is run
    assert run.known_checks is kept.checked(run)
    with pytest.raises(AttributeError):
        run.trace = run.trace  # type: ignore[misc]


@pytest.mark.parametrize(("keep", "size"), [(False, 256_000_000), (True, 0), (True, 10)])
def test_nothing_is_kept_where_nothing_may_be(begun: list[str], keep: bool, size: int) -> None:
    kept = Runner(get_settings(trace_cache_bytes=size), keep=keep)
    assert kept.run_checked(case_of()) is not kept.run_checked(case_of())
    assert len(begun) == 2 * (len(DEFAULT_COMPARED) + 1)


def test_another_chunking_of_a_run_is_a_run_beside_it() -> None:
    kept = Runner(get_settings())
    run, whole = kept.run(case_of()), kept.run(case_of(), WHOLE)
    assert (run.trace.message, len(whole.trace.steps)) == (whole.trace.message, 2)
    assert kept.run(case_of(), WHOLE) is whole
    assert kept.run(case_of(), run.chunking) is run
    assert run.key != whole.key


def test_checks_may_be_made_in_parts() -> None:
    kept, case = Runner(get_settings()), case_of()
    run = kept.run(case)
    shares = [kept.check_some(run, 0)]
    while shares[-1] < 1:
        assert run.known_checks is None
        shares.append(kept.check_some(run, 0))
    assert shares == sorted(shares)
    found = kept.checked(run)
    assert (found.findings, found.holding) == (Runner(get_settings()).run_checked(case).findings, found.holding)
    assert kept.check_some(run, 0) == 1
    assert kept.checked(run) is found


def test_an_interrupt_takes_no_replay_from_checks_that_go_on(begun: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Runner(get_settings()).run_checked(case_of())
    needed, kept = len(begun), Runner(get_settings())
    begun.clear()
    run = kept.run(case_of())
    while (done := kept.check_some(run, 0)) < 0.8:
        pass

    ticks = iter((0.0,))

    def ring() -> float:
        for tick in ticks:
            return tick
        raise Rung

    with monkeypatch.context() as broken:
        broken.setattr("webapp.runs.runner.monotonic", ring)
        with pytest.raises(Rung):
            kept.check_some(run, 0)
    kept.mend()
    assert kept.check_some(run, 0) >= done
    kept.checked(run)
    assert len(begun) <= needed + 1  # it was at one


def test_checks_on_a_busy_machine_are_kept_before_the_clock_ends_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, clock = Runner(get_settings()), count(0, PATIENCE * get_settings().replay_seconds)
    run, done = kept.run(case_of()), list[float]()
    with monkeypatch.context() as busy:
        busy.setattr("webapp.runs.time_left.monotonic", lambda: next(clock))
        while run.known_checks is None:
            try:
                kept.checked_in_time(run, thread_time())
            except ChecksGoOn as on:
                done.append(on.done)
    assert (done == sorted(done), len(done) > 3) == (True, True)


def test_checks_are_made_at_once_where_nothing_is_kept() -> None:
    kept = Runner(get_settings(), keep=False)
    assert kept.check_some(kept.run(case_of()), 0) == 1


def test_checks_that_failed_on_their_way_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Runner(get_settings())
    run = kept.run(case_of())
    with monkeypatch.context() as broken:
        broken.setattr("parsers.cases.run.compare_chunking", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kept.check_some(run, 60)
    assert kept.check_some(run, 60) == 1
    assert kept.checked(run).findings == Runner(get_settings()).run_checked(case_of()).findings


@pytest.mark.replays
def test_the_budget_of_memory_holds_for_all_that_is_kept() -> None:
    kept = Runner(get_settings(trace_cache_bytes=1_000_000))
    for seed in range(40):
        kept.run_checked(case_of(context={"id_seed": seed}))
    assert 0 < kept.used <= 1_000_000


def alive() -> int:
    """How many bytes all traces take that are alive."""
    gc.collect()
    columns = {id(one.columns): one for one in gc.get_objects() if type(one) is Trace}
    return sum([trace.nbytes for trace in columns.values()])


@pytest.mark.replays
def test_traces_that_went_out_of_the_budget_are_held_by_nothing_else() -> None:
    """Though the run that they are beside is asked for all the time."""
    before, budget = alive(), 400_000
    kept, case = Runner(get_settings(trace_cache_bytes=budget)), case_of(input={"text": TEXT * 10})
    kept.run_checked(case)
    for seed in range(30):
        kept.run(case, Chunking(by="random", seed=seed))
        kept.run(case)
    assert alive() - before <= kept.used <= budget


@pytest.mark.replays
def test_checks_that_are_begun_are_weighed_with_their_replays() -> None:
    kept = Runner(get_settings())
    run = kept.run(case_of(input={"text": TEXT * 50}))
    before, counted = alive(), kept.used
    while kept.check_some(run, 0) < 0.9:
        pass
    added = kept.used - counted
    assert added > alive() - before
    found = kept.checked(run)
    assert kept.used < counted + 2 * added
    del found
    kept.keep_within(0)
    assert kept.used == 0


@pytest.mark.replays
@pytest.mark.parametrize(
    ("parser", "text"),
    [
        ("qwen", '<tool_call>{"name":"f","arguments":{}}</tool_call>'),
        ("qwen", "<tool_call"),
        ("qwen", '{"<|[]>:t\\,\nca'),
        ("harmony", "<|channel|>commentary to=functions.f<|message|>{}<|call|>"),
    ],
)
def test_four_of_the_longest_runs_stay_within_the_budget(parser: str, text: str) -> None:
    kept, size = Runner(get_settings()), 5_000
    output = (text * size)[:size]
    run = kept.run(case_of(parser={"name": parser}, input={"text": output}, tokenizer={"name": "characters"}))
    assert len(run.trace.steps) >= size
    longest = kept.used * kept.settings.max_tokens / size
    assert 4 * longest < kept.settings.trace_cache_bytes


def parts(runner: Runner, run: Run) -> int:
    """In how many parts the checks of a run are made."""
    return 1 + sum(1 for _ in iter(lambda: runner.check_some(run, 0), 1.0))


@pytest.mark.replays
def test_checks_that_grow_over_the_budget_are_made_at_once() -> None:
    """They would begin anew with every part of them."""
    case = case_of(input={"text": TEXT * 100})
    alone = Runner(get_settings())
    first = alone.run(case)
    kept = Runner(get_settings(trace_cache_bytes=alone.used + 20_000))
    run = kept.run(case)
    many = parts(alone, first)
    assert any(kept.check_some(run, 0) == 1 for _ in range(many - 2))
    assert kept.checked(run).findings == alone.checked(first).findings


def test_the_budget_may_change_while_runs_are_kept() -> None:
    kept = Runner(get_settings())
    run = kept.run(case_of())
    kept.keep_within(0)
    assert kept.used == 0
    assert kept.run(case_of()) is not run


@pytest.mark.replays
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # hypothesis listens to the collector
def test_an_interrupt_at_any_moment_leaves_a_runner_that_can_be_mended() -> None:
    """Where it becomes another exception on its way, as in pydantic's serializer, nobody goes on with the runner."""
    fresh = Runner(get_settings(), keep=False).run_checked(case_of())
    kept = Runner(get_settings())
    held = kept.run(case_of(title="held"))
    interrupts = 0
    for seed, bell in enumerate(turns(2, longest=0.02)):
        try:
            with bell:
                kept.run_checked(case_of(context={"id_seed": seed}))
                kept.checked(held)
        except Rung:
            interrupts += 1
            kept.mend()
        except Exception:
            kept.mend()  # for this process, which goes on where a child would end
            kept = Runner(get_settings())
            held = kept.run(case_of(title="held"))
        assert gc.isenabled()
    again = kept.run_checked(case_of())
    assert interrupts > 20
    assert kept.run(case_of(title="held")) is held
    assert (again.trace.message, again.trace.steps, again.findings) == (
        fresh.trace.message,
        fresh.trace.steps,
        fresh.findings,
    )
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_environment_decides_only_what_the_case_leaves_open() -> None:
    strict, open_ = get_settings(strict=True), get_settings()
    assert with_defaults(case_of(), strict).context.strict is True
    assert with_defaults(case_of(context={"strict": False}), strict).context.strict is False
    assert with_defaults(case_of(), open_).context.strict is None


def test_a_stored_case_needs_no_tokenizer_and_no_choice() -> None:
    kept = Runner(get_settings(), keep=False)
    stored = stored_form(kept.run_checked(case_of()))
    assert stored.parser.name == "qwen"
    assert stored.tokenizer is not None
    assert (stored.tokenizer.name, len(stored.tokenizer.fingerprint or "")) == ("embedded", 64)
    assert stored_form(kept.run_checked(stored)) == stored


def test_a_case_keeps_the_name_it_asked_for() -> None:
    run = Runner(get_settings(), keep=False).run_checked(case_of(parser={"name": "hermes"}))
    assert stored_form(run).parser.name == "hermes"


def test_an_unknown_export_is_refused_with_those_there_are() -> None:
    run = Runner(get_settings(), keep=False).run_checked(case_of())
    with pytest.raises(UsageError, match="choose one of: case, pytest, markdown, html, jsonl"):
        exported(run, "har")


@pytest.mark.parametrize(
    ("error", "pointer", "message"),
    [
        (UsageError("no such thing"), "/here", "no such thing"),
        (CaseError("wrong", "/there"), "/there", "wrong"),
        (FormatError("wrong row", "/states/A"), "/parser/format/states/A", "wrong row"),
    ],
)
def test_an_error_learns_its_place_in_the_case(error: Exception, pointer: str, message: str) -> None:
    with pytest.raises(CaseError) as caught, error_place("/here"):
        raise error
    assert (caught.value.pointer, caught.value.message) == (pointer, message)


def test_garbage_is_collected_again_after_the_last_run_is_over() -> None:
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_pause_that_ends_after_it_was_forgotten_leaves_later_ones_their_end() -> None:
    left = collector_paused()
    left.__enter__()
    Runner(get_settings()).mend()
    left.__exit__(None, None, None)
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
