"""How far a search is, and the smallest failing form."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from parsers.cases.find import CaseFound
from parsers.compare.beside import Compared
from parsers.replays.chunking import WHOLE, Chunking
from parsers.search.found import Minimized, OutcomeClass, Progress
from parsers.vocabulary.events import Failure as Failed
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece
from tests.webapp.page.results import CALL, CUT, found
from webapp.children.jobs import Failure
from webapp.jobs.searches import Searches, SearchJob
from webapp.page.form.setup import case_line
from webapp.page.search.findings import FIXED
from webapp.page.search.search_page import Search, progress_words, search_of_job, search_panes, smallest
from webapp.settings import Settings


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
    assert (shown.parts, shown.words) == (parts, "As small as it gets: 8 characters")
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
    assert search_of_job(jobs, None, 10).automatic
    assert not search_of_job(jobs, None, 20_001).automatic
    job = SearchJob("key")
    assert (search_of_job(jobs, job, 10).state, search_of_job(jobs, job, 10).words) == ("waiting", "starting")
    job.progress = Progress("sweep", 3, 9, 3)
    assert (search_of_job(jobs, job, 10).state, search_of_job(jobs, job, 10).total) == ("running", 9)
    job.result = CaseFound(make.case("x"), found())
    assert search_of_job(jobs, job, 10).found is job.result
    failed = SearchJob("other", "failed", failure=Failure("late", "Too late."))
    shown = search_of_job(jobs, failed, 10)
    assert (shown.state, shown.words, shown.active, shown.automatic) == ("failed", "Too late.", False, False)
    jobs.close()


def test_a_search_replaces_the_quick_look(make: Any, runner: Any) -> None:
    run = make.run(CALL)
    report = runner.checked(run)
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


DEPARTS = "Not as the case expects, in content: "


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "verdict", "told"),
    [
        ("x", "required", []),
        ("Hi.", "required", ["headline", "shown", "listed"]),
        ("Hi.</think>", "required", ["headline", "shown", "listed"]),
        ("Hi.", "implementation_defined", ["more", "listed"]),
    ],
)
def test_the_verdict_says_where_a_message_is_not_as_expected(
    client: FlaskClient, text: str, verdict: str, told: list[str]
) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "verdict": verdict}
    posted = client.post("/run", data={"case": json.dumps({**case, "expect": {"content": "x"}})})
    soup = BeautifulSoup(posted.text, "html.parser")
    places = {
        "headline": ("#headline", DEPARTS),
        "more": (".verdict-more li", DEPARTS),
        "shown": ("#verdict .departed", "the case expects"),
        "listed": ("#findings li p", DEPARTS),
    }
    found = {name: [one for one in soup.select(at) if words in one.text] for name, (at, words) in places.items()}
    assert [name for name, there in found.items() if len(there) == 1] == told


BUG, WANTED = {"verdict": "known_bug"}, {"expect": {"content": "x"}}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "keys", "is_fixed"),
    [
        ("x", {**BUG, **WANTED}, True),
        ("x", {"engines": {"builtin": BUG}, **WANTED}, True),
        ("x", {"engines": {"builtin:qwen": {**BUG, **WANTED}}}, True),
        ("x", {"engines": {"vllm": BUG}, **WANTED}, False),
        ("Hi.", {**BUG, **WANTED}, False),
        ("x", BUG, False),
        ("x", WANTED, False),
    ],
)
def test_a_known_bug_that_is_gone_is_said_to_be_fixed(
    client: FlaskClient, text: str, keys: dict[str, Any], is_fixed: bool
) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **keys}
    posted = client.post("/run", data={"case": json.dumps(case)})
    assert (FIXED in BeautifulSoup(posted.text, "html.parser").select("#verdict")[0].text) is is_fixed


X, Y = Message(content="x"), Message(content="y")
GRAVE, SLIGHT = (Finding("chunking", severity, "parser", "m") for severity in ("error", "warning"))


@pytest.mark.parametrize(
    ("outcomes", "findings", "is_fixed"),
    [
        ([(X, 3, None)], [SLIGHT], True),
        ([(X, 3, None)], [GRAVE], False),
        ([(X, 3, None), (Y, 1, None)], [], False),
        ([(X, 3, None), (Y, 0, None)], [], True),  # of cuts that no server makes
        ([(X, 3, None), (X, 1, Failed("E"))], [], False),
    ],
)
def test_after_a_search_a_bug_is_fixed_where_all_sure_cuts_show_that(
    make: Any, outcomes: list[Any], findings: list[Finding], is_fixed: bool
) -> None:
    run = make.run("x", **BUG, **WANTED)
    seen = [
        OutcomeClass(number, message, "stop", 3, honest, WHOLE, "whole", raised=raised)
        for number, (message, honest, raised) in enumerate(outcomes)
    ]
    result = replace(found(), outcomes=seen, findings=findings, groups=[])
    said = search_panes(
        run, None, Search("done", automatic=False, found=CaseFound(run.case, result)), None, case_line
    ).verdict
    assert said is not None
    assert (FIXED in said.sentences) is is_fixed


ORDERED = {"expect": {"events": [{"kind": "text", "text": "x"}]}}


@pytest.mark.parametrize(
    ("messages", "came", "is_fixed"),
    [([X], "x", True), ([X, Y], "x", False), ([X], "y", False), ([X], None, False)],
)
def test_after_a_search_a_bug_that_is_told_in_order_is_fixed_where_messages_and_checks_show_that(
    make: Any, runner: Any, messages: list[Message], came: str | None, is_fixed: bool
) -> None:
    """`came`: what the checks saw under another chunking; None where they did not run."""
    run = make.run("x", **BUG, **ORDERED)
    other = Compared(CUT, "cut at 4", make.run(came or "").trace, 2, same=True)
    known = None if came is None else replace(runner.checked(run), compared=[other])
    seen = [OutcomeClass(at, one, "stop", 3, 3, WHOLE, "whole") for at, one in enumerate(messages)]
    result = replace(found(), outcomes=seen, findings=[], groups=[])
    done = Search("done", automatic=False, found=CaseFound(run.case, result))
    said = search_panes(run, known, done, None, case_line).verdict
    assert said is not None
    assert (FIXED in said.sentences) is is_fixed
