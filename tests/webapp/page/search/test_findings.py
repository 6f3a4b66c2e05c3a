"""The findings pane and the verdict line."""

from __future__ import annotations

import json

import pytest

from parsers.cases.io import loads
from parsers.cases.run import run_case
from parsers.checks import CHECKS
from parsers.checks.check import Need
from parsers.search import found as search_found
from parsers.search.found import Detail, Found, Sample
from parsers.vocabulary.trace import About, Finding, Proof
from parsers.vocabulary.types import Span
from tests.webapp.page.results import checked, found, pane, said
from webapp.page.search.findings import CONTRACT, MATTERS, UNKNOWN, Checked, explained, findings, following, verdict

CHANGED = Proof(None, ((0, 1, ""),))
FAULTS = [
    Finding("chunking", "error", "parser", "m"),
    Finding("chunking", "error", "parser", "n"),
    Finding("recovers", "error", "parser", "m", proof=CHANGED),
    Finding("spans_cover_input", "error", "parser", "m"),
    Finding("known_tool", "warning", "output", "m"),
    Finding("tool_call_dropped", "warning", "parser", "m", policy="recovery=fail"),
    Finding("start_state", "info", "request", "m"),
]


def test_the_worst_finding_comes_first_and_a_contract_after_a_fault() -> None:
    items = [
        Finding("w", "warning", "output", "m", step=1),
        Finding("p", "error", "parser", "m", step=2, policy="truncated_call=keep"),
        Finding("e", "error", "parser", "m", step=9),
    ]
    shown = pane(items)
    assert [(line.finding.check, line.index) for line in shown.lines] == [("e", 2), ("p", 1), ("w", 0)]
    assert shown.note.startswith("2 errors, 1 warning, 2 checks hold")
    assert json.loads(shown.steps) == [1, 2, 9]
    assert shown.groups[1].explained.todo == CONTRACT


def test_what_the_contract_decides_is_said_in_words() -> None:
    decided = "truncated_call=close, content_after_calls=keep|drop"
    (line,) = pane([Finding("p", "info", "parser", "m", policy=decided)]).lines
    assert line.decided == (
        "a call the output cuts off: closed by appending (`truncated_call`); "
        "text after the last call: kept or dropped (`content_after_calls`)"
    )


def test_findings_of_one_check_fold_under_the_first() -> None:
    items = [Finding("known_tool", "warning", "output", f"m{at}", step=at) for at in range(1, 204)]
    shown = pane(items)
    assert len(shown.groups) == 1
    assert (shown.groups[0].first.finding.message, len(shown.groups[0].others), shown.more) == ("m1", 199, 3)


def test_a_finding_leads_to_what_shows_it() -> None:
    by_chunk = Finding("chunking", "error", "parser", "m", span=Span(3, 3), proof=Proof({"by": "cuts", "cuts": [4]}))
    by_edit = Finding("x", "error", "parser", "m", span=Span(3, 9), proof=Proof(None, ((0, 1, "y"),)))
    large = Finding("y", "error", "parser", "m", proof=Proof(None, ((0, 1, "y" * 30_000),)))
    one, other, last = pane([by_chunk, by_edit, large]).lines
    assert (one.chunk, one.beside, one.span, one.proof) == ("cuts:4", "b_chunk=cuts:4&at=3", "character 3", "")
    assert (other.chunk, other.beside, other.span) == ("", "", "characters 3–9")
    assert json.loads(other.proof)["edits"] == [[0, 1, "y"]]
    assert last.proof == ""


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_is_explained(name: str) -> None:
    shown = explained(Finding(name, "error", CHECKS[name].about, "m"))
    assert shown.definition == CHECKS[name].definition
    assert shown.why
    assert shown.todo


def test_explanations_name_checks_that_are_known() -> None:
    assert {check.id for check in CHECKS.values()} <= set(MATTERS)
    assert explained(Finding("made up", "error", "parser", "m")).definition == ""


def test_of_two_texts_only_what_follows_their_common_beginning_is_shown() -> None:
    long = "abcdefghi " * 30
    items = [
        Finding("a", "error", "parser", "m", expected=long + "x", actual=long + "y" * 200),
        Finding("b", "error", "parser", "m", expected="same", actual="same"),
        Finding("c", "error", "parser", "m", actual="left"),
    ]
    one, same, alone = pane(items).lines
    expected, actual = one.texts
    assert expected == "…" + long[-40:] + "x"
    assert (actual[:43], len(actual)) == ("…" + long[-40:] + "yy", 160)
    assert same.texts == ("", "")
    assert alone.texts == ("", "left")


def test_a_finding_about_cut_outputs_leads_to_its_cut() -> None:
    edits = [((7, 20, ""),), ((0, 20, ""),), ((7, 20, "x"),), ((1, 2, ""), (7, 20, ""))]
    items = [Finding("truncation", "error", "parser", "m", proof=Proof(None, edit)) for edit in edits]
    items.append(Finding("recovers", "error", "parser", "m", proof=Proof(None, edits[0])))
    assert [line.cut for line in pane(items).lines] == [7, None, None, None, None]


def test_a_check_that_is_in_no_list_is_no_link() -> None:
    items = [Finding("chunking", "error", "parser", "m"), Finding("own note", "error", "parser", "m")]
    assert [line.known for line in pane(items).lines] == [True, False]


@pytest.mark.parametrize(
    ("kind", "named", "about", "numbers"),
    [
        ("all_hold", (), None, set()),
        ("chunk_boundary", (0,), "parser", {2, 3}),
        ("chunk_boundary", (0, 3), "parser", {2}),
        ("text_lost", (3, 0), "parser", {2}),
        ("parser_flawed", (2,), "parser", set()),
        ("output_flawed", (4,), "output", set()),
        ("wrong_parser", (), "request", {0, 1, 2, 3, 4}),
    ],
)
def test_what_the_verdicts_cause_explains_follows_from_it(
    kind: search_found.VerdictKind, named: tuple[int, ...], about: About | None, numbers: set[int]
) -> None:
    result = found(found_findings=FAULTS, verdict=said(kind, findings=named, severity="error", about=about))
    shown = findings(checked(FAULTS, result))
    assert following(checked(FAULTS, result)) == numbers
    assert {line.index for group in shown.following for line in (group.first, *group.others)} == numbers
    assert [line.number for line in shown.lines] == list(range(1, 8))


@pytest.mark.parametrize(
    ("items", "kind", "words"),
    [
        (FAULTS[:4], "chunk_boundary", "2 more that follow from it"),
        (FAULTS[:3], "chunk_boundary", "1 more that follows from it"),
        (FAULTS[:4], "wrong_parser", "4 findings that the wrong parser explains"),
    ],
)
def test_findings_that_fold_are_counted(items: list[Finding], kind: search_found.VerdictKind, words: str) -> None:
    result = found(found_findings=items, verdict=said(kind, findings=(0,), about="parser"))
    assert findings(checked(items, result)).follow == words


def test_the_verdict_does_not_say_again_what_a_finding_says() -> None:
    items = [Finding("chunking", "error", "parser", "As the finding.")]
    result = found(
        found_findings=items,
        verdict=said(details=(Detail("A share."), Detail("As the finding.", 0), Detail("B."), Detail("C."))),
    )
    shown = verdict(checked(items, result), findings(checked(items, result)))
    assert (shown.sentences, shown.more) == (["A share.", "B."], ["C."])


def test_a_note_alone_is_said_under_a_headline_that_says_nothing_of_it() -> None:
    items = [Finding("c", "info", "output", "It is quoted.")]
    shown = verdict(checked(items, found(found_findings=items)), pane(items))
    assert shown.sentences == ["1 note, about the output, not the parser:", "It is quoted."]
    assert verdict(checked([], found()), pane([])).sentences == []


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
    ("item", "blamed", "sentence", "todo"),
    [
        (Finding("c", "error", "parser", "m"), "server", "1 error, about the server:", "whose server sent it"),
        (Finding("c", "warning", "output", "m"), "output", "1 warning, about the output:", "whose server sent it"),
        (Finding("c", "warning", "request", "m"), "request", "1 warning, about the request:", "Change the request"),
    ],
)
def test_of_a_stream_that_was_played_back_the_server_is_meant(
    item: Finding, blamed: str, sentence: str, todo: str
) -> None:
    seen = Checked([item], ["a"], [], 1, played=True)
    shown = findings(seen)
    assert shown.lines[0].blamed == blamed
    assert verdict(seen, shown).sentences[0] == sentence
    assert todo in shown.groups[0].explained.todo
    blind = Checked([item], ["a"], [("spans_cover_input", Need.RAW)], 1, played=True)
    told = verdict(blind, findings(blind)).sentences[0]
    assert told == ("1 error in what the server sent:" if blamed == "server" else sentence)


@pytest.mark.parametrize(
    ("holding", "skipped", "sentence"),
    [
        (["spans_cover_input", "no_terminal_leak"], [], "Nothing lost, nothing leaked."),
        (["chunking"], [("spans_cover_input", Need.FINISHED)], "The same message every time."),
        (["no_terminal_leak"], [("spans_cover_input", Need.RAW)], f"Nothing leaked. {UNKNOWN}"),
    ],
)
def test_only_what_was_looked_at_is_said_to_hold(
    holding: list[str], skipped: list[tuple[str, Need]], sentence: str
) -> None:
    seen = Checked([], holding, skipped, 1)
    assert verdict(seen, findings(seen)).sentences == [sentence]


def test_no_check_at_all_is_said() -> None:
    empty = Checked([], [], [], 1)
    assert verdict(empty, findings(empty)).headline == "No check ran."


def actions(result: Found) -> list[tuple[str, str]]:
    lines = findings(checked(result.findings, result))
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


def test_what_a_server_left_is_one_click_from_the_parser_that_reads_it() -> None:
    proof = Proof({"by": "token"}, ((0, 0, "text"),), {"reasoning_open": True}, "qwen")
    (kind, value) = actions(found(verdict=said("marker_leak", proof=proof, offer="text", about="parser")))[-1]
    assert (kind, json.loads(value)["parser"]) == ("offer", "qwen")
    long = Proof({"by": "token"}, ((0, 0, "x" * 30_000),), {}, "qwen")
    assert actions(found(verdict=said("marker_leak", proof=long, offer="x" * 30_000, about="parser"))) == []


def test_what_only_changed_outputs_show_is_a_section_of_its_own() -> None:
    own = [Finding("known_tool", "warning", "output", "m", step=3)]
    changed = [Finding("escapes", "error", "parser", "n", step=5, proof=CHANGED)]
    result = found(found_findings=own, verdict=said("output_flawed", findings=(0,)), robustness=changed)
    shown = findings(checked(own, result))
    assert [group.first.finding.check for group in shown.groups] == ["known_tool"]
    assert [group.first.finding.check for group in shown.robustness] == ["escapes"]
    assert [line.number for line in shown.lines] == [1, 2]
    assert json.loads(shown.steps) == [3, 5]
    assert shown.note.startswith("1 warning,")
    assert [kind for kind, _ in actions(result)] == ["find", "step"]


def test_an_unknown_prompt_offers_both_starts() -> None:
    assert [kind for kind, _ in actions(found(verdict=said("prompt_state_unknown")))] == ["open", "open", "beside"]


def test_long_verdicts_fold_and_an_unfinished_search_says_so() -> None:
    result = found(verdict=said(details=(Detail("one."), Detail("two."), Detail("three."))), complete=False)
    shown = verdict(checked([], result), pane([]))
    assert (shown.sentences, shown.more) == (["one.", "two."], ["three."])
    assert shown.facts == "The search was not finished."


def test_what_was_sampled_is_said() -> None:
    samples = (Sample("cuts_hostile", "cut in two inside a token", 200, 15_134), Sample("truncated", "cut off", 3, 9))
    result = found(verdict=said("text_lost"), complete=False, samples=samples)
    shown = verdict(checked([], result), pane([]))
    tried = "cut in two inside a token (200 of 15,134); cut off (3 of 9)"
    assert shown.facts == f"2 of 2 checks hold under 6 chunkings. Not all was tried: {tried}."


def test_what_the_headline_names_is_a_place_with_its_step() -> None:
    run = loads('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "words"}, "replay": [{"by": "char"}]}')
    trace = run_case(run).trace
    item = Finding("w", "warning", "output", "m", step=5, span=Span(1, 3))
    line = verdict(checked([item]), pane([item]), trace)
    assert line.place is not None
    assert (line.place.step, [action.words for action in line.actions]) == (2, ["characters 1–3, step 2", "step 5"])
    end = Finding("w", "warning", "output", "m", step=5, span=Span(5, 5))
    assert [action.words for action in verdict(checked([end]), pane([end]), trace).actions] == [
        "the end, step 6",
        "step 5",
    ]
