"""Replays that somebody else makes: asked for many at a time, used once, played like any black box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import ENGINES, Choice, Declared, builtin
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.formats.contracts import contract_named
from parsers.replays import replayer as replayer_module
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer, Replays
from parsers.replays.tapes import MOST_KEPT, Asked, Played, Tape, Tapes
from parsers.search.found import Found
from parsers.selection.registry import Evidence
from parsers.vocabulary.events import Diagnostic, Failure, Raised
from parsers.vocabulary.observed import Move, Observed, ObservedStep, Table
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece, UsageError
from tests.parsers.search.spoilt import CountsOn, LosesTail, Spoilt
from tests.parsers.search.test_unseen_faults import TOKEN, TOOLS, call
from tests.parsers.search.test_unseen_faults import engines as feeding

NONE = contract_named(None)
CALL = call("get_time", zip="00134")


def fed(*texts: str) -> list[Delta]:
    return [Delta(number, (Piece(text),)) for number, text in enumerate(texts, 1)]


class Elsewhere:
    """Plays a foreign parser somewhere else: how many replays came in each message."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.sizes: list[int] = []
        self._make = make

    def __call__(self, asked: Sequence[Asked]) -> list[Tape]:
        self.sizes.append(len(asked))
        return [self._tape(one) for one in asked]

    def _tape(self, one: Asked) -> Tape:
        parser, sent = self._make(), list[MessageDelta | None]()
        parser.begin(one.context)
        for delta in one.deltas:
            sent.append(parser.feed(delta))
        return Tape((*sent, parser.finish(one.context.finish_reason)))


def tapes(elsewhere: Elsewhere) -> Any:
    def run(case: Case, evidence: Evidence) -> Choice:
        plain = case.model_copy(update={"parser": ParserRef(name=case.parser.name)})
        make = lambda: Played("mine", Tape())  # noqa: E731
        return replace(builtin(plain, evidence), make=make, black_box=True, replays=elsewhere)

    return {**ENGINES, "mine": run}


def searched(text: str, engines: Any, *, shrinks: bool = True, **more: Any) -> Found:
    body = {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": [text]}, "tools": TOOLS}
    made = CaseSearch(load_case(body), pieces=[Piece(one) for one in TOKEN.findall(text)], engines=engines, **more)
    for progress in made.run():
        if progress.stage == "shrink" and not shrinks:
            break
    return made.result().found


def test_a_search_by_tapes_finds_what_one_finds_that_feeds() -> None:
    elsewhere = Elsewhere(LosesTail)
    found = searched(CALL, tapes(elsewhere), max_replays=120)
    other = searched(CALL, feeding(LosesTail), max_replays=120)
    assert (found.verdict.kind, found.verdict.about) == (other.verdict.kind, other.verdict.about)
    assert [one.check for one in found.findings] == [one.check for one in other.findings]
    small, known = found.minimized, other.minimized
    assert (small and (small.text, small.chunking)) == (known and (known.text, known.chunking))
    assert max(elsewhere.sizes) > 20


@pytest.mark.replays
def test_an_instance_is_not_used_twice_where_each_replay_has_its_own() -> None:
    assert "reused" not in searched(CALL, tapes(Elsewhere(Spoilt)), shrinks=False, max_replays=20).variants
    assert "reused" in searched(CALL, feeding(Spoilt), shrinks=False, max_replays=20).variants


def test_what_one_request_leaves_for_the_next_is_seen_all_the_same() -> None:
    CountsOn.before = 0
    found = searched(CALL, tapes(Elsewhere(CountsOn)), shrinks=False, max_replays=20)
    assert "reused" in found.variants


def replayer(tapes: Tapes | None, **more: Any) -> Replayer:
    return Replayer(lambda: BlackBox("mine", Spoilt()), (Piece("ab"), Piece("c")), black_box=True, tapes=tapes, **more)


def test_what_is_foreseen_is_asked_for_in_one_message_and_used_once() -> None:
    elsewhere = Elsewhere(Spoilt)
    given = replayer(Tapes(elsewhere))
    chunkings = [WHOLE, Chunking(by="char"), Chunking(by="token")]
    given.foresee(chunkings)
    assert [given.outcome(one).message.content for one in chunkings] == ["abc"] * 3
    assert elsewhere.sizes == [3]
    given.outcome(WHOLE)
    given.foresee([WHOLE])
    assert elsewhere.sizes == [3, 1]


def test_what_is_known_is_not_foreseen_and_what_feeds_foresees_nothing() -> None:
    elsewhere = Elsewhere(Spoilt)
    given = replayer(Tapes(elsewhere), known=Replays())
    given.trace(WHOLE)
    given.foresee([WHOLE, Chunking(by="char"), Chunking(by="token")])
    given.foresee([Chunking(by="char"), Chunking(by="token")])
    assert elsewhere.sizes == [1, 2]
    replayer(None).foresee([WHOLE, Chunking(by="char")])


def test_what_is_foreseen_with_its_steps_is_asked_for_once_and_what_has_no_steps_is_asked_again() -> None:
    elsewhere = Elsewhere(Spoilt)
    given, chunkings = replayer(Tapes(elsewhere), known=Replays()), [WHOLE, Chunking(by="char")]
    given.outcome(WHOLE)
    given.foresee(chunkings, traced=True)
    assert [given.trace(one).message.content for one in chunkings] == ["abc"] * 2
    given.foresee(chunkings, traced=True)
    assert elsewhere.sizes == [1, 2]


def test_no_more_is_kept_than_may_be() -> None:
    elsewhere = Elsewhere(Spoilt)
    found, context = Tapes(elsewhere), Context()
    found.foresee([Asked(fed(str(number)), context, ()) for number in range(MOST_KEPT)])
    found.foresee([Asked(fed("x"), context, ()), Asked(fed("y"), context, ())])
    found.tape(Asked(fed("0"), context, ()))
    found.tape(Asked(fed("x"), context, ()))
    assert elsewhere.sizes == [MOST_KEPT, 2, 1]


def test_the_path_for_whole_outputs_is_asked_for_by_itself() -> None:
    asked: list[bool] = []

    def play(wanted: Sequence[Asked]) -> list[Tape]:
        asked.extend(one.whole for one in wanted)
        return [Tape() for _ in wanted]

    given = replayer(Tapes(play), one_shot=lambda: BlackBox("mine", Spoilt()))
    given.outcome(WHOLE)
    given.outcome(Chunking(by="char"))
    assert asked == [True, False]


@pytest.mark.parametrize(("failed_at", "step", "sent"), [(0, 1, ""), (2, 2, "a"), (3, 3, "ab")])
def test_what_it_failed_with_is_told_at_its_step(failed_at: int, step: int, sent: str) -> None:
    failure = Failure("Hangs", "it did not return", slow=True)
    tape = Tape((MessageDelta(None, "a"), MessageDelta(None, "b")), failure, failed_at)
    given = Replayer(
        lambda: Played("mine", Tape()), (Piece("a"), Piece("b")), black_box=True, tapes=Tapes(lambda _: [tape])
    )
    trace = given.trace(Chunking(by="token"))
    assert (trace.failure, trace.message.content or "") == (failure, sent)
    assert [one.index for one in trace.steps if any(isinstance(event, Raised) for event in one.events)] == [step]
    assert given.outcome(Chunking(by="token")).raised == failure


def test_what_it_printed_is_a_remark_at_its_step() -> None:
    parser = Played("mine", Tape((None, None), printed={1: "hello", 2: "bye"}))
    parser.begin(Context())
    (first,) = parser.feed(fed("ab")[0])
    (last,) = parser.finish()
    assert isinstance(first, Diagnostic)
    assert isinstance(last, Diagnostic)
    assert (first.start, first.end, first.severity, first.message) == (0, 2, "info", "The parser printed: hello")
    assert last.message == "The parser printed: bye"
    assert parser.feed(fed("more")[0]) == []


def test_another_parser_of_the_same_output_has_no_tapes() -> None:
    given = replayer(Tapes(Elsewhere(Spoilt)))
    assert given.with_parser(given.make).tapes is None
    assert given.changed([(0, 1, "x")]).tapes is given.tapes


@pytest.mark.parametrize(
    ("declared", "late", "empty"),
    [
        (Declared(), "unknown", "unknown"),
        (Declared(late_text="sent"), "sent", "unknown"),
        (Declared("stop_strings", "sent"), "stop_strings", "sent"),
    ],
)
def test_what_an_engine_declares_goes_before_the_contract(declared: Declared, late: str, empty: str) -> None:
    found = declared.over(NONE)
    assert (found.late_text, found.empty_deltas) == (late, empty)
    assert found is NONE if declared == Declared() else found.name == NONE.name


def test_a_stand_in_tokenizer_has_the_markers_of_the_grammar() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}})
    choice = builtin(case, Evidence())
    assert choice.cut_by is choice.format
    llama = builtin(load_case({"schema": 1, "parser": {"name": "llama"}, "input": {"text": "x"}}), Evidence())
    other = replace(choice, grammar=llama.format)
    assert other.cut_by is choice.format
    assert replace(other, replays=lambda asked: []).cut_by.name == "llama"


def test_a_wrong_cut_is_told_before_anybody_is_asked() -> None:
    with pytest.raises(UsageError):
        replayer(Tapes(lambda asked: [])).foresee([Chunking(by="cuts", cuts=(99,))])


TABLE = Table("TEXT", (Move("TEXT", "OPEN", "CALL"), Move("CALL", "CLOSE", "TEXT")), {"OPEN": "<"})
SEEN = [
    ObservedStep(state="TEXT", moves=(Move("TEXT", "OPEN", "CALL"), Move("CALL", "CLOSE", "TEXT"))),
    ObservedStep(state="CALL", moves=(Move("TEXT", "OPEN", "CALL"), Move("CALL", "NOBODY", "TEXT"))),
]


def observing(*seen: ObservedStep, table: Table | None = TABLE) -> Tapes:
    """A player whose parser shows so much of itself, to those who ask for it."""

    def play(wanted: Sequence[Asked]) -> list[Tape]:
        return [Tape(observed=Observed(steps=seen, table=table) if one.observed else None) for one in wanted]

    return Tapes(play)


def test_states_and_transitions_are_those_that_were_observed() -> None:
    trace = replayer(observing(*SEEN)).trace(Chunking(by="token"))
    assert [step.state for step in trace.steps] == ["TEXT", "CALL", "UNKNOWN"]
    assert [
        [(move.row, move.sub, move.trigger, move.start, move.end) for move in step.transitions] for step in trace.steps
    ] == [
        [("r0", 1, "OPEN", 0, 2), ("r1", 2, "CLOSE", 0, 2)],
        [("r0", 1, "OPEN", 2, 3)],
        [],
    ]
    assert trace.observed == Observed(steps=tuple(SEEN), table=TABLE)


def test_without_a_table_no_row_fires() -> None:
    trace = replayer(observing(*SEEN, table=None)).trace(Chunking(by="token"))
    assert [step.transitions for step in trace.steps] == [()] * 3


def test_only_what_is_traced_is_observed_and_no_long_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def play(wanted: Sequence[Asked]) -> list[Tape]:
        asked.extend(one.observed for one in wanted)
        return [Tape() for _ in wanted]

    given = replayer(Tapes(play))
    given.outcome(WHOLE)
    monkeypatch.setattr(replayer_module, "MOST_OBSERVED", 1)
    given.trace(Chunking(by="token"))
    given.trace(WHOLE)
    assert asked == [False, False, True]


@pytest.mark.parametrize(("ended", "compared"), [(True, 0), (False, 11)])
def test_where_the_process_ended_no_other_chunking_is_tried(ended: bool, compared: int) -> None:
    failure = Failure("Crashed", ended=ended)

    def run(case: Case, evidence: Evidence) -> Choice:
        plain = case.model_copy(update={"parser": ParserRef(name=case.parser.name)})
        tape = Tape(failure=failure, failed_at=1)
        make = lambda: Played("mine", Tape())  # noqa: E731
        return replace(builtin(plain, evidence), make=make, black_box=True, replays=lambda wanted: [tape] * len(wanted))

    body = {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": [CALL]}}
    pieces = [Piece(one) for one in TOKEN.findall(CALL)]
    found = run_case(load_case(body), pieces=pieces, engines={**ENGINES, "mine": run})
    assert (len(found.compared), found.trace.failure) == (compared, failure)
