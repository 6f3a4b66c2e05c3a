"""The HTML report: one file that loads nothing and runs nothing, with everything of the run, and every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.export.html_page import Html, code, join, sentence, tag, text
from parsers.cases.export.html_report import html_report
from parsers.cases.export.report_facts import compared_fields
from parsers.cases.find import CaseFound, CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, run_case
from parsers.replays.chunking import Chunking
from parsers.search.found import Minimized
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece, Span
from tests.parsers.cases.test_export_markdown import ANSWERS, compared, full_run, run_in, run_of

NASTY = "</code></pre><script>alert(1)</script><img src=x onerror=y>\u202e\x00 &amp; ' \""
HELP: dict[str, Any] = {"versions": {"toolcall-inspector": "1.2.3"}}


def page(run: CaseRun, **more: Any) -> BeautifulSoup:
    return BeautifulSoup(html_report(run, **HELP, **more), "html.parser")


def headings(soup: BeautifulSoup) -> list[str]:
    return [one.text for one in soup.find_all("h2")]


def searched(**keys: Any) -> tuple[CaseRun, CaseFound]:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, **keys})
    search = CaseSearch(case, max_replays=40)
    for _ in search.run():
        pass
    return run_case(case), search.result()


def test_it_has_everything_of_a_run() -> None:
    soup = page(full_run(), answers=ANSWERS, permalink="https://inspector.example/c/0a")
    assert headings(soup) == [
        "Result",
        "Findings",
        "Could a server send this?",
        "Line of the parser",
        "The same output elsewhere",
        "Chunkings",
        "Model output",
        "Tokens around character 1",
        "Every delta",
        "Request",
        "Run it again",
    ]
    assert soup.h1 is not None
    assert soup.h1.text == "The arguments are not JSON."
    assert soup.title is not None
    assert soup.title.text.endswith(" · Toolcall Inspector")
    words = soup.text
    assert all(
        said in words for said in ("vllm 0.33.0", "1.2.3", "qwen.py:12", "https://inspector.example/c/0a", "ab c")
    )


def test_its_policy_allows_its_one_style_and_nothing_else() -> None:
    soup = page(full_run())
    policy = soup.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert isinstance(policy, Tag)
    assert soup.style is not None
    digest = base64.b64encode(hashlib.sha256(str(soup.style.string).encode()).digest()).decode()
    assert policy["content"] == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert soup.find_all(["script", "link", "img", "form", "iframe", "a"]) == []
    assert "url(" not in str(soup.style.string)
    assert [
        one for one in soup.find_all(True) if any(key.startswith("on") or key == "style" for key in one.attrs)
    ] == []


@pytest.mark.replays
def test_a_search_leads_with_its_verdict_and_the_smallest_case() -> None:
    run, found = searched(
        tools=[{"name": "get_weather"}],
        input={"text": 'Hi there. <tool_call>\n{"name": "get_wetter", "arguments": {"a": 1}}\n</tool_call>'},
    )
    soup = page(run, found=found)
    assert soup.h1 is not None
    said = found.found.verdict.cause or found.found.verdict.headline
    assert soup.h1.text == said.replace("`", "")
    assert [one.text for one in soup.h1("code")] == ["get_wetter"]
    assert {"Chunkings"} <= {*headings(soup)}


@pytest.mark.parametrize("by", [{"by": "cuts", "cuts": [2]}, {"by": "token"}])
@pytest.mark.parametrize("meant", [None, Message("why", "both", [])])
def test_the_smallest_case_is_shown_delta_by_delta(by: dict[str, Any], meant: Message | None) -> None:
    run, found = searched(input={"text": "abcd"})
    pieces = (Piece("ab"), Piece("cd"))
    finding = Finding("chunking", "error", "parser", "words", None, Span(0, 1))
    small = Minimized("chunking", finding, pieces, Chunking(**by), Context(), 3, gives=Message(None, None), meant=meant)
    found.found.minimized, found.minimized = small, run.case if meant else None
    soup = page(run, found=found)
    section = next(one for one in soup.find_all("section") if one.h2 and one.h2.text == "Smallest case")
    assert [one.text for one in section.find_all("li")] == ["ab", "cd"]
    assert ("should give" in section.text, "nothing" in section.text) == (meant is not None, True)
    assert ("Its case file" in section.text) is (meant is not None)


def test_what_nothing_is_said_of_is_left_out() -> None:
    run = run_of("ab")
    assert headings(page(run)) == ["Result", "Model output", "Every delta", "Request", "Run it again"]
    run.compared = [compared("whole", run.whole, True), compared("char", run.whole, False)]
    assert "Chunkings" in headings(page(run))


def cells(soup: BeautifulSoup, heading: str) -> list[list[str]]:
    section = next(one for one in soup.find_all("section") if one.h2 and one.h2.text == heading)
    return [[cell.text for cell in row.find_all("td")] for row in section.find_all("tr")[1:]]


def test_its_facts_are_those_of_the_other_report() -> None:
    run = run_of("ab", expect={"content": "ax", "events": [{"kind": "text", "text": "ab"}]})
    run.findings = [Finding("chunking", "error", "parser", "m", 1, Span(0, 1))]
    soup = page(run)
    assert [row for row in cells(soup, "Result") if row[0] in ("content ✗", "events ✓", "tool_calls")] == [
        ["content ✗", "ax", "ab", "ab"],
        ["events ✓", "text", "text", "text"],
        ["tool_calls", "—", "0", "0"],
    ]
    assert [row[:2] for row in cells(soup, "Tokens around character 0")] == [["1 ←", "0"], ["2", "1"]]
    assert "the model's own may be others" in soup.text


@pytest.mark.parametrize(("whitespace", "wrong"), [("soft", {"events"}), ("exact", {"events", "events[0]"})])
def test_of_parts_in_another_order_those_are_marked_that_differ_as_the_case_compares(
    whitespace: str, wrong: set[str]
) -> None:
    parts = [{"kind": "text", "text": "a\nb"}, {"kind": "reasoning", "text": "c"}]
    found = compared_fields(run_of("a b", expect={"events": parts}, compare={"whitespace": whitespace}))
    assert found.wrong == wrong


def test_where_a_stream_is_played_the_server_is_to_blame() -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": "ab"}}]}]
    run = run_case(load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}}))
    run.findings = [Finding("chunking", "error", "parser", "m")]
    assert [row[-1] for row in cells(page(run), "Findings")] == ["server"]


def test_a_long_output_is_cut_and_says_so() -> None:
    run = run_in(["a" * 200] * 3_000)
    soup = page(run)
    assert "The first 50,000 of 600,000 characters." in soup.text
    assert "The first 2,000 of 3,001." in soup.text
    assert "characters: it is not in this report." in soup.text


@pytest.mark.parametrize("place", ["title", "notes", "output", "version", "finding", "line", "elsewhere"])
def test_nothing_breaks_out_of_its_place(place: str) -> None:
    told: dict[str, Any] = {"title": NASTY if place == "title" else "t", "notes": [NASTY if place == "notes" else "n"]}
    run = run_of(NASTY if place == "output" else "ab", **told)
    run.findings = [Finding("chunking", "error", "parser", NASTY if place == "finding" else "m", 1)]
    answers = (
        ANSWERS
        if place not in ("line", "elsewhere")
        else type(ANSWERS)(line=(NASTY, NASTY), elsewhere=((NASTY, NASTY),))
    )
    made = html_report(run, versions={"x": NASTY if place == "version" else "1"}, answers=answers)
    assert "<script" not in made
    assert "<img" not in made
    assert "\u202e" not in made
    assert "⟨U+202E⟩" in made


@given(st.text(max_size=30))
def test_a_text_is_what_a_reader_sees(words: str) -> None:
    shown = BeautifulSoup(tag("p", text(words)), "html.parser").text
    assert re.sub(r"⟨U\+[0-9A-F]+⟩|\r", "", shown).strip() in re.sub("[\r\x00]", "", words) or "⟨" in shown


def test_parts_are_escaped_unless_they_are_html() -> None:
    assert join(["<", Html("<br>"), None]) == "&lt;<br>"
    assert code(" a\n", class_="b") == '<code class="b">·a↵</code>'
    assert tag("meta", content='"') == '<meta content="&quot;">'


def test_a_sentence_keeps_the_blanks_that_it_quotes() -> None:
    assert sentence("<`hi ` as `hi  `") == "&lt;<code>hi·</code> as <code>hi··</code>"
