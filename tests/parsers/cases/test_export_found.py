"""What both reports tell of a search: the smallest case, with the command that replays it, and the messages."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.departure import departure
from parsers.cases.export.found_facts import SaidWrong, departing, said_wrong, smallest_form
from parsers.cases.export.html_report import html_report
from parsers.cases.export.markdown import markdown
from parsers.cases.find import CaseFound
from parsers.cases.run import CaseRun
from parsers.replays.chunking import Chunking
from parsers.search.found import Minimized
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece, Span, ToolCall
from tests.parsers.cases.test_export_html import searched

PIECES = (Piece("ab"), Piece("cd"))
CALL = ToolCall("id", "look|up", '{"a": 1}')
LATE = "toolcall-inspector replay smallest.case.json --chunk token --holdback 1"


def small(by: dict[str, Any], gives: Message | None = None, meant: Message | None = None) -> tuple[CaseRun, CaseFound]:
    """A search whose smallest case is cut so."""
    run, found = searched(input={"text": "abcd"})
    finding = Finding("chunking", "error", "parser", "words", None, Span(0, 1))
    found.found.minimized = Minimized(
        "chunking", finding, PIECES, Chunking(**by), Context(), 3, gives=gives, meant=meant
    )
    found.minimized = run.case
    return run, found


@pytest.mark.parametrize(
    ("by", "deltas", "words"),
    [
        ({"by": "cuts", "cuts": [1, 3]}, ["a", "bc", "d"], "--cuts 1,3"),
        ({"by": "token", "holdback_chars": 1}, ["a", "bcd"], "--chunk token --holdback 1"),
        ({"by": "token", "text_delay": 1}, ["abcd"], "--chunk token --text-delay 1"),
    ],
)
@pytest.mark.replays
def test_the_smallest_case_is_replayed_as_it_was_found(by: dict[str, Any], deltas: list[str], words: str) -> None:
    form = smallest_form(small(by)[1])
    assert form is not None
    assert [*form.deltas] == deltas
    assert form.command == f"toolcall-inspector replay smallest.case.json {words}"


def test_both_reports_say_how_to_run_the_smallest_case() -> None:
    run, found = small({"by": "token", "holdback_chars": 1}, gives=Message(None, "x", [CALL]), meant=Message("r", None))
    made = markdown(run, found=found)
    assert LATE in made
    assert LATE in html_report(run, versions={}, found=found)
    assert "| gives | — | `x` | <code>look&#124;up</code> `{&quot;a&quot;: 1}` |".replace("&quot;", '"') in made
    assert "| should give | `r` | — | none |" in made


def test_without_its_case_or_with_a_long_one_there_is_no_command() -> None:
    run, found = small({"by": "token"})
    found.minimized = None
    assert "smallest.case.json" not in markdown(run, found=found)
    found.minimized = run.case.model_copy(update={"notes": ("n" * 20_000,)})
    assert "smallest.case.json" not in markdown(run, found=found)


def test_what_is_wrong_is_the_verdict_of_the_search_and_else_the_worst_finding() -> None:
    run, found = searched(input={"text": "abcd"})
    said = said_wrong(run, found)
    assert (said.severity, said.headline) == (found.found.verdict.severity, found.found.verdict.headline)
    assert smallest_form(found) is None
    made = markdown(run, found=found)
    assert f"**{said.headline}**" in made
    assert "## Chunkings\n" in made
    assert "## Smallest case" not in made


def test_reports_say_that_the_result_is_not_what_the_case_expects() -> None:
    words = "Not as the case expects, in content: `abcd` came, right is `abc`."
    run, found = searched(input={"text": "abcd"}, expect={"content": "abc"})
    assert (said_wrong(run, found).severity, said_wrong(run, found).headline) == ("error", words)
    assert said_wrong(run, found).grounds[0] == found.found.verdict.headline
    worse = departing(SaidWrong("error", "Lost.", ()), departure(run.case, run.trace))
    assert worse == SaidWrong("error", "Lost.", (words,))
    for made in (markdown(run), markdown(run, found=found), html_report(run, versions={}, found=found)):
        assert "Not as the case expects, in content" in made
