"""The findings pane: the order, what folds, what shows a finding, and what it means."""

from __future__ import annotations

import json

import pytest

from parsers.checks import CHECKS
from parsers.search import found as search_found
from parsers.vocabulary.trace import About, Finding, Proof
from parsers.vocabulary.types import Span
from tests.webapp.page.results import KNOWN, checked, found, pane, said
from webapp.page.explained import CONTRACT, WHY, explained
from webapp.page.findings import findings, following
from webapp.page.verdict import verdict


def test_the_worst_finding_comes_first_and_a_contract_after_a_fault() -> None:
    items = [
        Finding("w", "warning", "output", "m", step=1),
        Finding("p", "error", "parser", "m", step=2, policy="truncated_call=keep"),
        Finding("e", "error", "parser", "m", step=9),
    ]
    shown = pane(items)
    assert [(line.check, line.index) for line in shown.lines] == [("e", 2), ("p", 1), ("w", 0)]
    assert shown.note.startswith("2 errors, 1 warning, 2 checks hold")
    assert json.loads(shown.steps) == [1, 2, 9]
    assert shown.groups[1].explained.todo == CONTRACT


def test_findings_of_one_check_fold_under_the_first() -> None:
    items = [Finding("known_tool", "warning", "output", f"m{at}", step=at) for at in range(1, 204)]
    shown = pane(items)
    assert len(shown.groups) == 1
    assert (shown.groups[0].first.message, len(shown.groups[0].others), shown.more) == ("m1", 199, 3)


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
    shown = explained(name, CHECKS[name].about)
    assert shown.definition == CHECKS[name].definition
    assert shown.why
    assert shown.todo


def test_explanations_name_checks_that_are_known() -> None:
    assert {check.id for check in CHECKS.values()} <= set(WHY)
    assert explained("made up", "parser").definition == ""


def test_of_two_texts_only_what_follows_their_common_beginning_is_shown() -> None:
    long = "abcdefghi " * 30
    items = [
        Finding("a", "error", "parser", "m", expected=long + "x", actual=long + "y" * 200),
        Finding("b", "error", "parser", "m", expected="same", actual="same"),
        Finding("c", "error", "parser", "m", actual="left"),
    ]
    one, same, alone = pane(items).lines
    assert one.expected == "…" + long[-40:] + "x"
    assert (one.actual[:43], len(one.actual)) == ("…" + long[-40:] + "yy", 160)
    assert (same.expected, same.actual) == ("", "")
    assert (alone.expected, alone.actual) == ("", "left")


def test_a_finding_about_cut_outputs_leads_to_its_cut() -> None:
    edits = [((7, 20, ""),), ((0, 20, ""),), ((7, 20, "x"),), ((1, 2, ""), (7, 20, ""))]
    items = [Finding("truncation", "error", "parser", "m", proof=Proof(None, edit)) for edit in edits]
    items.append(Finding("recovers", "error", "parser", "m", proof=Proof(None, edits[0])))
    assert [line.cut for line in pane(items).lines] == [7, None, None, None, None]


def test_a_check_that_is_in_no_list_is_no_link() -> None:
    items = [Finding("chunking", "error", "parser", "m"), Finding("own note", "error", "parser", "m")]
    assert [line.known for line in pane(items).lines] == [True, False]


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
    shown = findings(checked(FAULTS, result), KNOWN)
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
    assert findings(checked(items, result), KNOWN).follow == words


def test_the_verdict_does_not_say_again_what_a_finding_says() -> None:
    items = [Finding("chunking", "error", "parser", "As the finding.")]
    result = found(found_findings=items, verdict=said(details=("A share.", "As the finding.", "B.", "C.")))
    shown = verdict(checked(items, result), findings(checked(items, result), KNOWN))
    assert (shown.sentences, shown.more) == (["A share.", "B."], ["C."])
