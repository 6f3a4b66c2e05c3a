"""What the page makes of a search: heat strip, matrix, findings, verdict, the smallest failing form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.find import CaseFound
from parsers.checks.check import WHY
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.search.found import Found, Group, Minimized, OutcomeClass, Progress
from parsers.vocabulary.trace import Finding, Proof
from parsers.vocabulary.types import Context, Message, Piece
from tests.webapp.page.results import CALL, CUT, KNOWN, checked, found, pane, said
from webapp.children.jobs import Failure
from webapp.jobs.searches import Searches, SearchJob
from webapp.page.compared import Compared, chunkings
from webapp.page.findings import Checked, findings
from webapp.page.form import case_line
from webapp.page.heat import COLUMNS, SENT, heat, letter
from webapp.page.matrix import matrix
from webapp.page.search import Search, progress_words, searched, smallest
from webapp.page.search_panes import search_panes
from webapp.page.verdict import UNKNOWN, verdict
from webapp.settings import Settings

# the quick look


def test_a_diverging_chunking_says_where_and_links_there() -> None:
    parting = Divergence("content", 3, 1234, 7, 9, "<tool", "tool")
    own, other = Compared(TRACED, True, None, 2), Compared(Chunking(by="char"), False, parting, 40)
    shown = chunkings(own, [other], "")
    row = shown.rows[1]
    assert row.parting is not None
    assert (row.chunk, row.label) == ("char", "character by character")
    assert (row.parting.where, row.parting.step) == ("content at character 1,234", 9)
    assert (row.parting.expected, row.parting.actual) == ("<tool", "tool")
    assert shown.note == "2 replays, 1 chunking gave another message"


def test_a_divergence_without_place_leads_to_the_end() -> None:
    parting = Divergence("calls", 0, None, None, None, "1", "2")
    row = chunkings(Compared(TRACED, True, None, 2), [Compared(WHOLE, False, parting, 5)], "").rows[1]
    assert row.parting is not None
    assert (row.parting.where, row.parting.step) == ("calls", 5)


def test_chunkings_list_the_own_one_first(make: Any, runner: Any) -> None:
    report = runner.report(make.run(CALL))
    shown = chunkings(report.own, report.compared, "token:2")
    assert (shown.rows[0].label, shown.rows[0].chunk) == ("token by token", "")
    assert [row.label for row in shown.rows if row.current] == ["2 tokens"]
    assert "the same message every time" in shown.note


@pytest.mark.parametrize(
    ("items", "headline", "sentence"),
    [
        ([], "2 of 2 checks hold under 12 replays.", "No check found anything."),
        ([Finding("c", "warning", "output", "m")], "2 of 3", "1 warning, about the output, not the parser:"),
        ([Finding("c", "error", "parser", "m", step=4)], "2 of 3", "1 error, about the parser:"),
        ([Finding("c", "info", "output", "m")], "3 of 3", "1 note, about the output, not the parser:"),
    ],
)
def test_before_a_search_the_verdict_speaks_from_the_quick_look(
    items: list[Finding], headline: str, sentence: str
) -> None:
    shown = verdict(checked(items), pane(items))
    assert shown.headline.startswith(headline)
    assert shown.sentences[0].startswith(sentence)
    assert [action.value for action in shown.actions] == [str(item.step) for item in items if item.step]


@pytest.mark.parametrize(
    ("holding", "skipped", "sentence"),
    [
        (["spans_cover_input", "no_terminal_leak"], [], "Nothing lost, nothing leaked."),
        (["chunking"], [("spans_cover_input", "not asked for")], "The same message every time."),
        (["no_terminal_leak"], [("spans_cover_input", WHY["raw"])], f"Nothing leaked. {UNKNOWN}"),
    ],
)
def test_only_what_was_looked_at_is_said_to_hold(
    holding: list[str], skipped: list[tuple[str, str]], sentence: str
) -> None:
    seen = Checked([], holding, skipped, 1)
    assert verdict(seen, findings(seen, {})).sentences == [sentence]


def test_no_check_at_all_is_said() -> None:
    empty = Checked([], [], [], 1)
    assert verdict(empty, findings(empty, {})).headline == "No check ran."


# the verdict of a search


def actions(result: Found) -> list[tuple[str, str]]:
    lines = findings(checked(result.findings, result), KNOWN)
    return [(action.kind, action.value) for action in verdict(checked(result.findings, result), lines).actions]


def test_the_verdict_names_the_findings_that_prove_it() -> None:
    items = [
        Finding("known_tool", "warning", "output", "m", step=3),
        Finding("chunking", "error", "parser", "m", step=8, proof=Proof({"by": "cuts", "cuts": [4]})),
    ]
    result = found(found_findings=items, verdict=said("chunk_boundary", findings=(1,), severity="error"))
    assert actions(result) == [
        ("find", "finding-1"),
        ("step", "8"),
        ("chunk", "cuts:4"),
        ("beside", "b_chunk=cuts:4"),
    ]


def test_a_proof_of_the_verdict_itself_is_a_chunking_to_open() -> None:
    result = found(verdict=said("chunk_boundary", proof=Proof({"by": "whole"})))
    assert actions(result) == [("chunk", "whole"), ("beside", "b_chunk=whole")]


def test_a_fault_that_only_a_changed_output_shows_is_one_click_away() -> None:
    items = [Finding("escapes", "error", "parser", "m", proof=Proof(None, ((0, 1, "y"),)))]
    result = found(found_findings=items, verdict=said("parser_flawed", findings=(0,), about="parser"))
    (kind, value) = actions(result)[-1]
    assert (kind, json.loads(value)["edits"]) == ("proof", [[0, 1, "y"]])
    result.verdict.about = "request"
    assert [kind for kind, _ in actions(result)] == ["find"]


def test_a_wrong_parser_is_one_click_from_the_right_one() -> None:
    result = found(verdict=said("wrong_parser", proof=Proof(parser="mistral")))
    assert actions(result) == [("open", "side=b&b_parser=mistral"), ("beside", "b_parser=mistral")]


def test_an_unknown_prompt_offers_both_starts() -> None:
    assert [kind for kind, _ in actions(found(verdict=said("prompt_state_unknown")))] == ["open", "open", "beside"]


def test_long_verdicts_fold_and_an_unfinished_search_says_so() -> None:
    result = found(verdict=said(details=("one.", "two.", "three.")), complete=False)
    shown = verdict(checked([], result), pane([]))
    assert (shown.sentences, shown.more) == (["one.", "two."], ["three."])
    assert shown.facts == "2 of 2 checks hold under 12 replays. The search was not finished."


# heat strip


def test_the_strip_has_a_bar_for_every_failing_stretch(make: Any) -> None:
    shown = heat([0, 0, 1, 1, 1, 0, 2, -1], make.run("123456789").trace, None)
    assert shown is not None
    assert [(bar.first, bar.last, bar.letter, bar.pattern) for bar in shown.bars] == [
        (3, 5, "A", 1),
        (7, 7, "B", 2),
        (8, 8, "", 0),
    ]
    assert (shown.cut, shown.current, shown.untried) == (3, None, 1)
    assert json.loads(shown.sent) == [[3, 5, "A"], [7, 7, "B"]]
    assert "4 cuts give another message: cuts 3–5 outcome A, cut 7 outcome B" in shown.words
    assert shown.bars[0].labelled
    assert shown.bars[0].middle == 43.75


def test_the_cut_on_the_page_is_marked(make: Any) -> None:
    shown = heat([0, 0, 1, 0], make.run("12345").trace, 2)
    assert shown is not None
    assert (shown.cut, shown.current) == (2, 37.5)


def test_the_strip_of_a_long_output_stays_small_and_loses_no_failing_cut(make: Any) -> None:
    cuts = [0] * 50_000
    for at in range(0, 50_000, 2):
        cuts[at] = 1 + at % 3
    cuts[77] = -1
    shown = heat(cuts, make.run("x").trace, None)
    assert shown is not None
    assert len(shown.bars) <= COLUMNS
    assert {bar.number for bar in shown.bars} == {1}  # of those that share a column the lowest
    assert len(json.loads(shown.sent)) == SENT
    assert (shown.bars[0].first, shown.bars[-1].last) == (1, 50_000)
    assert "more stretches" in shown.words
    assert shown.more > 0


def test_hills_are_where_text_is_held(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    shown = heat([0] * (len(CALL) - 1), run.trace, None)
    assert shown is not None
    assert shown.peak >= len("<tool_call>") - 1
    assert shown.hills.startswith("M")
    assert shown.words.endswith("the same message every time.")
    nothing = heat([0, 0], make.run("abc", "passthrough").trace, None)
    assert nothing is not None
    assert (nothing.hills, nothing.peak) == ("", 0)


def test_an_output_of_one_character_has_no_strip(make: Any) -> None:
    assert heat([], make.run("x").trace, None) is None


@pytest.mark.parametrize(("number", "name"), [(-1, ""), (0, "same"), (1, "A"), (26, "Z"), (27, "AA"), (53, "BA")])
def test_outcomes_have_letters(number: int, name: str) -> None:
    assert letter(number) == name


# matrix


def test_rows_are_kinds_of_chunkings_and_columns_are_messages() -> None:
    shown = matrix(found(), "cuts:4")
    assert [[cell.number for cell in row.cells] for row in shown.rows] == [[0, 0, 1], [2, 2, 0]]
    assert [(row.honest, row.rest) for row in shown.rows] == [(True, 0), (False, 0)]
    assert [cell.chunk for row in shown.rows for cell in row.cells if cell.current] == ["cuts:4"]
    first, second = shown.failing
    assert (first.letter, first.how, first.beside, first.current) == ("A", "other text", "b_chunk=cuts:4&at=12", True)
    assert first.parting is not None
    assert first.parting.where == "content at character 12"
    assert (second.letter, second.how, second.parting) == ("B", "the parser failed", None)
    assert shown.note == "7 replays, 3 outcomes"


def test_many_outcomes_share_a_column() -> None:
    result = found()
    result.outcomes += [
        OutcomeClass(n, Message(), "length", 1, 1, Chunking(by="random", seed=n), f"random {n}") for n in range(3, 40)
    ]
    result.groups.append(Group("random", "random", True, dict.fromkeys(range(3, 40), 1), {}))
    shown = matrix(result, "")
    assert shown.rest
    assert (len(shown.columns), len(shown.failing), shown.more) == (6, 20, 19)
    assert shown.rows[-1].rest == 34
    assert shown.failing[-1].how == "another finish reason"


def test_one_outcome_is_said_in_words() -> None:
    result = found()
    del result.outcomes[1:]
    assert matrix(result, "").note == "7 replays, 1 outcome, the same message every time"


# the smallest failing form, and how far a search is


@pytest.mark.parametrize(
    ("chunking", "parts"),
    [
        (CUT, ["abcd", "efgh"]),
        (Chunking(by="char", size=3), ["abc", "def", "gh"]),
        (Chunking(by="token"), ["abc", "de", "fgh"]),
        (Chunking(by="token", size=2), ["abcde", "fgh"]),
        (WHOLE, ["abcdefgh"]),
    ],
)
def test_the_smallest_form_shows_where_its_deltas_end(make: Any, chunking: Chunking, parts: list[str]) -> None:
    finding = Finding("chunking", "error", "parser", "m")
    pieces = (Piece("abc"), Piece("de"), Piece("fgh"))
    result = found(minimized=Minimized("chunking", finding, pieces, chunking, Context(), 9))
    shown = smallest(CaseFound(make.case("abcde"), result, make.case("abcdefgh", title="T")), case_line)
    assert shown is not None
    assert (shown.parts, shown.title, shown.words) == (parts, "T", "5 → 8 characters")
    assert json.loads(shown.case_json)["title"] == "T"


def test_without_a_failing_form_there_is_no_smallest_one(make: Any) -> None:
    assert smallest(CaseFound(make.case("x"), found()), case_line) is None


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress("replay", 0, 2, 0), "replaying the output; 1 outcome so far"),
        (Progress("sweep", 412, 1990, 412, 2), "chunkings 412 of 1,990; 2 outcomes so far"),
        (Progress("shrink", 10, 3000, 2000, 2), "making the failing output smaller 10 of 3,000; 2 outcomes so far"),
    ],
)
def test_progress_is_in_words(progress: Progress, words: str) -> None:
    assert progress_words(progress) == words


def test_a_job_is_told_in_every_state(tmp_path: Any, make: Any) -> None:
    jobs = Searches(Settings(data_dir=tmp_path))
    assert searched(jobs, None, 10).automatic
    assert not searched(jobs, None, 20_001).automatic
    job = SearchJob("key")
    assert (searched(jobs, job, 10).state, searched(jobs, job, 10).words) == ("waiting", "starting")
    job.progress = Progress("sweep", 3, 9, 3)
    assert (searched(jobs, job, 10).state, searched(jobs, job, 10).total) == ("running", 9)
    job.end(CaseFound(make.case("x"), found()))
    assert searched(jobs, job, 10).found is job.result
    failed = SearchJob("other")
    failed.end(Failure("late", "Too late."))
    shown = searched(jobs, failed, 10)
    assert (shown.state, shown.words, shown.active, shown.automatic) == ("failed", "Too late.", False, False)
    jobs.close()


def test_a_search_replaces_the_quick_look(make: Any, runner: Any) -> None:
    run = make.run(CALL)
    report = runner.report(run)
    quick = search_panes(run, report, Search("idle", automatic=True), None, case_line)
    assert quick.quick is not None
    assert (quick.matrix, quick.heat(), quick.beside) == (None, None, "")
    done = Search("done", automatic=False, found=CaseFound(run.case, found()))
    full = search_panes(run, report, done, CUT, case_line)
    strip = full.heat()
    assert full.quick is None
    assert full.matrix is not None
    assert strip is not None
    assert (strip.cut, full.beside) == (4, "b_chunk=cuts:4")
    late = search_panes(run, None, done, Chunking(by="cuts", cuts=(1, 3)), case_line).heat()
    assert late is not None
    assert late.current is None
