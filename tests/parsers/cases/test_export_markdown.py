"""The bug report: complete, in order, and nothing of a case breaks out of its fence or cell (read by a real parser)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from parsers.cases.engines import choose
from parsers.cases.export.maintainer import Answers, compared_words, sendable, tokens_around
from parsers.cases.export.markdown import markdown
from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, replayer_of, run_case
from parsers.compare.beside import Compared
from parsers.compare.divergence import Divergence
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking, apply, label, to_json
from parsers.selection.registry import Selection
from parsers.vocabulary.channels import CONTENT, Channel
from parsers.vocabulary.events import ContentText, Event
from parsers.vocabulary.trace import Finding, Hold, StateView, Step, Trace, Transition
from parsers.vocabulary.types import Message, MessageDelta, Piece, Span, ToolCall

NASTY = "``` | <b>\n\n# x\n| a |\n- `y` \\| ~~~ <!-- [l](u) $z$\t\u202e &amp; \r\n1. t\n=== "
nasty_text = st.text(
    st.sampled_from("`|<>\\\n\r\t ~#*_-=+!&[]()$@:.1a·→\u2028\u200b\x00") | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


def compared(label: str, trace: Trace, same: bool, divergence: Divergence | None = None) -> Compared:
    return Compared(Chunking(by="whole"), label, trace, len(trace.steps) - 1, same, divergence)


def replayed(pieces: Sequence[Piece], chunking: Chunking, message: Message) -> Trace:
    """A trace as a parser leaves it that sends every delta on as content."""
    deltas = apply(chunking, pieces, "text")
    view = StateView("CONTENT", (Hold(0, 1, "lexer", "may begin a <marker>"),), ("CALL",), ("CALL",))
    trace = Trace("qwen", ("It was asked for.",), to_json(chunking, deltas), "text", "".join(d.text for d in deltas))
    at = 0
    for delta in deltas:
        span = Span(at, at := at + len(delta.text))
        moved = Transition("CONTENT", "CALL", "TOOL_CALL", "CONTENT/CALL", span.start, span.end, 1)
        events: tuple[Event, ...] = (ContentText(*span, delta.text),)
        sent = MessageDelta(content=delta.text)
        step = Step(delta.index, span, delta.token_ids, "CONTENT", view.holds, (moved,), events, sent, view)
        trace.steps = [*trace.steps, step]
    end = Step(len(deltas) + 1, Span(at, at), (), "CONTENT", (), (), (), None, view, end=True)
    trace.steps = [*trace.steps, end]
    trace.message = message
    return trace


def run_of(text: str = "ab", message: Message | None = None, **keys: Any) -> CaseRun:
    """A run of `text` in pieces of one character, with a whole-text replay that says the same."""
    return run_in(list(text), message, **keys)


def run_in(parts: list[str], message: Message | None = None, **keys: Any) -> CaseRun:
    """A run of these pieces."""
    text, pieces = "".join(parts), [Piece(part, number) for number, part in enumerate(parts)]
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **keys})
    said = message or Message(content=text or None)
    traced, whole = replayed(pieces, Chunking(by="token"), said), replayed(pieces, Chunking(by="whole"), said)
    return CaseRun(
        case,
        builtin_formats()["qwen"],
        Selection("qwen", ("It was asked for.",)),
        case.to_context(),
        tuple(pieces),
        traced,
        whole,
        stored=tuple(pieces),
    )


def blocks(report: str) -> list[Token]:
    """The top-level structure of a report."""
    return MarkdownIt("commonmark").enable("table").parse(report)


def headings(report: str) -> list[str]:
    """The text of every heading, as a reader sees it."""
    tokens = blocks(report)
    return [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]


def fences(report: str) -> list[str]:
    """What stands in the fences."""
    return [token.content for token in blocks(report) if token.type == "fence"]


def cells(report: str) -> list[list[str]]:
    """The rows of all tables, each cell as a reader sees it."""
    rows: list[list[str]] = []
    for token in blocks(report):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level >= 4:
            shown = "".join(child.content for child in token.children or () if child.type in ("text", "code_inline"))
            rows[-1].append(shown)
    return rows


FULL_KEYS: dict[str, Any] = {
    "title": "Arguments are cut",
    "notes": ["The last brace is lost.", "Only with `stream`."],
    "source": {"kind": "recorded", "engine": "vllm 0.33.0"},
    "parser": {"name": "qwen", "policy": {"unknown_tool": "drop"}},
    "tokenizer": {"name": "demo", "revision": "r1", "vocab": {"b": 1}},
    "tools": [{"name": "f"}, {"name": "g"}],
    "context": {
        "tool_choice": {"name": "f"},
        "reasoning_open": True,
        "prompt_tail": "<think>\n",
        "template_kwargs": {"x": 1},
        "model": "m",
    },
    "expect": {"reasoning": "r", "content": "ab c", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]},
}


ANSWERS = Answers(
    engine="vllm 0.33.0",
    sendable=(("token by token", "A server can send this: it is cut where every tokenizer cuts."),),
    line=("qwen.py:12 in feed", "    return `{}`"),
    elsewhere=(("built-in qwen", "the same message"), ("sglang 0.5, qwen25", "another message: 1 call")),
)


def full_run() -> CaseRun:
    """A run with everything a report shows."""
    run = run_of("ab c", Message("r", "ab", [ToolCall("i", "f", '{"a": 1')]), **FULL_KEYS)
    other = replayed(run.stored, Chunking(by="char", size=3), Message("r", "abX"))
    parting = Divergence(CONTENT, 2, 2, 3, 1, "ab", "abX")
    run.compared = [compared("whole", run.whole, True), compared("3 characters", other, False, parting)]
    run.findings = [
        Finding("known_tool", "info", "output", "A tool is unknown."),
        Finding("arguments_json", "error", "parser", "The arguments are not JSON.", 3, Span(1, 3), "{", "x|y"),
    ]
    return run


def test_the_report_is_the_golden_one() -> None:
    """After a wanted change, write what markdown returns here to the golden file and read the diff."""
    report = markdown(
        full_run(),
        versions={"toolcall-inspector": "1.2.3"},
        permalink="https://inspector.example/c/0a",
        answers=ANSWERS,
    )
    assert report == (Path(__file__).parent / "golden" / "report.md").read_text("utf-8")


def test_sections_come_in_the_order_maintainers_ask() -> None:
    report = markdown(full_run(), versions={"toolcall-inspector": "1.2.3"}, answers=ANSWERS)
    assert headings(report) == [
        "Arguments are cut",
        "What is wrong",
        "Could a server send this?",
        "Versions",
        "Parser",
        "Request",
        "Model output",
        "Result",
        "Findings",
        "First diverging delta",
        "Tokens around code point 1",
        "Trace around step 3",
        "Line of the parser",
        "The same output elsewhere",
        "Run it again",
    ]


def test_a_report_of_nothing_special_is_short() -> None:
    report = markdown(run_of())
    sections = ["What is wrong", "Parser", "Request", "Model output", "Result", "Run it again"]
    assert headings(report) == ["qwen: no error found", *sections]
    assert "No finding, and no words by the reporter." in report


def test_without_words_the_first_error_says_what_is_wrong() -> None:
    run = full_run()
    run.case = run_of("ab c").case
    assert "The check `arguments_json` says: The arguments are not JSON." in markdown(run)


def test_the_result_says_which_fields_are_as_expected() -> None:
    rows = cells(markdown(full_run()))
    header = rows.index(["field", "expected", "actual", "whole text"])
    assert rows[header + 1 : header + 7] == [
        ["reasoning ✓", "r", "r", "r"],
        ["content ✗", "ab c", "ab", "ab"],
        ["tool_calls ✓", "1", "1", "1"],
        ["tool_calls[0].name ✓", "f", "f", "f"],
        ["tool_calls[0].arguments ✗", '{"a": 1}', '{"a": 1', '{"a": 1'],
        ["finish_reason", "—", "stop", "stop"],
    ]


def test_without_expectation_the_result_is_shown_beside_the_whole_text() -> None:
    run = run_of("ab")
    run.whole.message = Message(content="ab ", tool_calls=[ToolCall(None, "f", "")])
    assert cells(markdown(run))[:6] == [
        ["field", "actual", "whole text"],
        ["reasoning", "empty", "empty"],
        ["content", "ab", "ab·"],
        ["tool_calls", "0", "1"],
        ["finish_reason", "stop", "stop"],
        ["tool_calls[0].name", "—", "f"],
    ]


def test_only_checked_fields_are_marked() -> None:
    run = run_of("ab", expect={"finish_reason": "length"})
    report = markdown(run)
    rows = {row[0]: row[1] for row in cells(report)}
    assert (rows["finish_reason ✗"], rows["content"]) == ("length", "—")
    assert headings(report)[0] == "qwen: the result is wrong"


def test_a_long_text_is_shown_around_the_difference() -> None:
    long = "x" * 5000
    run = run_of("ab", Message(content=f"{long}A{long}"), expect={"content": f"{long}B{long}"})
    (row,) = [row for row in cells(markdown(run)) if row[0] == "content ✗"]
    assert all(len(shown) <= 300 for shown in row)
    assert ("B" in row[1], "A" in row[2], "A" in row[3]) == (True, True, True)


def test_a_very_long_output_is_shown_around_the_first_finding() -> None:
    run = run_of("a" * 15_000 + "HERE" + "b" * 6_000)
    assert "Code points 0 to 400 of 21004" in markdown(run)
    run.findings = [Finding("chunking", "error", "parser", "m", 2, Span(15_000, 15_004))]
    report = markdown(run)
    assert fences(report)[0] == "a" * 400 + "HERE" + "b" * 396 + "\n"
    assert "The case file `bug.case.json` has" in report
    assert "attach it to this report" in report
    assert len(report) < 20_000


def test_the_case_file_in_the_report_is_the_case_with_its_tokens() -> None:
    run = full_run()
    stored = load_case(json.loads(fences(markdown(run))[-1]))
    assert stored == run.case.with_pieces(run.stored)


def test_the_output_is_shown_with_marks_where_it_hides_something() -> None:
    plain, hidden = fences(markdown(run_of("a b\nc"))), fences(markdown(run_of("a \tb\n")))
    assert (plain[0], hidden[:2]) == ("a b\nc\n", ["a \tb\n", "a·→b↵\n"])
    assert "The output is empty." in markdown(run_of(""))


def test_marks_in_tables_are_explained_where_there_are_any() -> None:
    assert "Marks in tables and quotes: · blank" in markdown(run_of("a "))
    assert "Marks in tables and quotes" not in markdown(run_of("a b"))


def test_a_parting_without_a_place_is_still_told() -> None:
    run = run_of("ab")
    parting = Divergence(Channel(None, "finish_reason"), 0, None, None, 99, "stop", "")
    run.compared = [compared("whole", run.whole, False, parting)]
    report = markdown(run)
    assert "Replayed whole, the result parts in `finish_reason`." in report
    assert ["as traced", "", "", "", "stop"] in cells(report)
    assert ["whole", "", "", "", "empty"] in cells(report)


def test_a_parting_nobody_located_is_left_out() -> None:
    run = run_of("ab")
    run.compared = [compared("whole", run.whole, False)]
    assert "First diverging delta" not in headings(markdown(run))


def test_the_trace_shows_the_steps_around_the_first_finding() -> None:
    run = run_of("abcdefghij")
    run.findings = [Finding("chunking", "error", "parser", "m", 10)]
    rows = cells(markdown(run))
    assert [row[0] for row in rows if row[1:2] and len(row) == 7 and row[0].isdigit()] == ["7", "8", "9", "10", "11"]
    assert rows[-2][1:] == [
        "j",
        "9",
        "CONTENT",
        "CONTENT --CALL--> TOOL_CALL",
        "a (may begin a <marker>)",
        '{"content": "j"}',
    ]
    assert rows[-1][1:] == ["end of the output", "", "CONTENT", "", "", ""]


def test_a_finding_about_a_step_that_is_not_there_shows_no_trace() -> None:
    run = run_of("ab")
    run.findings = [Finding("chunking", "error", "parser", "m", 99)]
    assert "Trace" not in "".join(headings(markdown(run)))


def test_ids_mode_and_engines_are_named() -> None:
    run = run_of("ab", parser={"name": "hermes", "engine": "vllm"})
    run.trace.mode = "ids"
    report = markdown(run)
    assert "- parser `qwen` of `vllm`" in report
    assert "- markers recognised by their ids" in report


def test_a_link_cannot_end_its_brackets() -> None:
    report = markdown(run_of(), permalink="https://inspector.example/c/0?a=> <b>`|\n")
    assert "Permalink: <https://inspector.example/c/0?a=%3E%20%3Cb%3E%60%7C%0A>" in report


def test_what_is_not_as_expected_has_its_tokens_and_steps_where_no_check_finds_anything() -> None:
    text = "All is well in Berlin and in Rome."
    expect = {"content": text.replace("Rome", "Bonn")}
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "expect": expect}
    report = markdown(run_case(load_case(case)))
    place = f"Tokens around code point {text.index('Rome')}"
    assert place in headings(report)
    assert "Findings" not in headings(report)
    step = next(title for title in headings(report) if title.startswith("Trace around step"))
    assert any(row[:1] == [step.rpartition(" ")[2]] and "R" in row[1] for row in cells(report))


def test_a_real_run_is_what_a_report_is_made_of() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    run = run_case(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}))
    report = markdown(run)
    assert fences(report)[0] == f"{text}\n"
    assert ["tool_calls[0].arguments", '{"a": 1}', '{"a": 1}'] in cells(report)


@pytest.mark.replays
@pytest.mark.parametrize(
    "place", ["output", "title", "notes", "message", "reason", "expect", "prompt", "version", "label"]
)
@pytest.mark.parametrize("text", [NASTY, "```\n## Broken", "````` | `", "</code> | x\n| --- |", "    code\n> q\n* l"])
def test_nothing_breaks_out_of_its_place(place: str, text: str) -> None:
    run, versions = full_run(), {"toolcall-inspector": "1"}
    plain = shape(markdown(run, versions=versions))
    run, versions = with_text(run, place, text)
    assert shape(markdown(run, versions=versions)) == plain


@pytest.mark.replays
@given(nasty_text)
def test_no_output_breaks_out(text: str) -> None:
    run = run_of(text, title=text, notes=[text], expect={"content": text, "reasoning": f"x{text}"})
    run.findings = [Finding("chunking", "error", "parser", text, 1, None, text, text)]
    report = markdown(run)
    sections = ["What is wrong", "Parser", "Request", "Model output", "Result", "Findings"]
    tokens = ["Tokens around code point 0"] if text else []
    assert headings(report)[1:] == [*sections, *tokens, "Trace around step 1", "Run it again"]
    assert {len(row) for row in cells(report)} == {4, 7, *([5] if text else [])}
    assert not [token for token in blocks(report) if token.type in ("html_block", "blockquote_open", "hr")]


def shape(report: str) -> list[str]:
    """The kinds of a report's blocks, without the optional fence with marks and with one block for notes."""
    found: list[str] = []
    for token in blocks(report):
        if token.type == "fence" and found[-1] == "fence":
            continue
        html = [c.content for c in token.children or () if c.type == "html_inline" and c.content not in HARMLESS]
        links = [child.type for child in token.children or () if child.type in ("link_open", "image", "softbreak")]
        found.extend([token.type, *html, *[link for link in links if link != "softbreak"]])
    return without_runs(found)


HARMLESS = ("<code>", "</code>", "<br>")
PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]


def without_runs(kinds: list[str]) -> list[str]:
    """Paragraphs in a row, and fences parted by a paragraph, count as one."""
    out: list[str] = []
    for kind in kinds:
        out.append(kind)
        while out[-6:] == PARAGRAPH * 2:
            del out[-3:]
        if out[-5:] == ["fence", *PARAGRAPH, "fence"]:
            del out[-4:]
    return out


def with_text(run: CaseRun, place: str, text: str) -> tuple[CaseRun, dict[str, str]]:
    """The run with `text` in one place of it."""
    versions, keys = {"toolcall-inspector": text if place == "version" else "1"}, dict(FULL_KEYS)
    keys |= {"title": text} if place == "title" else {"notes": [text]} if place == "notes" else {}
    keys |= {"context": {**keys["context"], "prompt_tail": text}} if place == "prompt" else {}
    keys |= {"expect": {**keys["expect"], "content": text}} if place == "expect" else {}
    parts = [text[:2], text[2:4], text[4:7], text[7:]] if place == "output" else list("ab c")
    changed = run_in(parts, run.trace.message, **keys)
    changed.findings, changed.compared = list(run.findings), list(run.compared)
    if place == "message":
        changed.findings[1] = Finding("arguments_json", "error", "parser", text, 3, Span(1, 3), text, text)
    if place == "reason":
        changed.selection = Selection(text, (text,))
    if place == "label":
        changed.compared[1] = compared(text, run.compared[1].trace, False, run.compared[1].divergence)
    return changed, versions


def test_of_a_stream_that_was_played_back_the_server_is_meant() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hm.</think>Hi"}, "finish_reason": "stop"}]}
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [chunk]}})
    report = markdown(run_case(case))
    assert "warning, about the server" in report
    assert "about the parser" not in report


def test_ids_that_were_recorded_are_called_so() -> None:
    run = run_of("ab")
    run.findings = [Finding("chunking", "error", "parser", "m", None, Span(1, 2))]
    assert "the model's own may be others" in markdown(run)
    run.pieces = tuple([replace(piece, recorded=True) for piece in run.pieces])
    assert "Their ids are as recorded." in markdown(run)


def test_the_tokens_around_a_place_are_few_and_the_one_there_is_marked() -> None:
    pieces = [Piece(char, number) for number, char in enumerate("abcdefghijklmnopqrstuvwxyz")]
    found = tokens_around(pieces, 12)
    assert "".join([one.piece.text for one in found]) == "efghijklmnopqrstu"
    assert [one.number for one in found if one.here] == [13]
    assert [one.here for one in tokens_around(pieces[:2], 9)] == [False, False]
    assert tokens_around([], 0) == []


QWEN = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "One two."}}


@pytest.mark.parametrize(
    ("keys", "chunking", "said"),
    [
        ({}, Chunking(by="whole"), "A server can send this: it is cut where every tokenizer cuts."),
        ({}, Chunking(by="char"), "No server sends this: cut inside a token as no server does."),
        ({}, Chunking(by="token"), "A server sends this if `One` comes as `On e` and `two.` comes as `two .`."),
        (
            {"tokenizer": {"name": "own"}},
            Chunking(by="token"),
            "A server can send this: it is cut between tokens of the",
        ),
        ({"input": {"deltas": [{"text": "One two."}]}}, Chunking(by="recorded"), "A server sent this."),
    ],
)
def test_whether_a_server_could_send_a_chunking_is_said_with_the_reason(
    keys: dict[str, Any], chunking: Chunking, said: str
) -> None:
    case = load_case({**QWEN, **keys})
    pieces = [Piece(text) for text in ("On", "e", " two", ".")]
    name, words = sendable(replayer_of(case, choose(case), pieces), chunking)
    assert name == label(chunking)
    assert words.startswith(said[:24])


def test_what_another_parser_makes_of_an_output_is_the_same_or_summed_up() -> None:
    one, other = Message(content="a", tool_calls=[ToolCall("i", "f", "{}")]), Message(content="abc")
    assert compared_words(one, Message(content="a", tool_calls=[ToolCall("k", "f", "{}")])) == "the same message"
    assert compared_words(one, other) == "another message: 3 characters of content"


def test_chunkings_that_were_not_run_are_told() -> None:
    run = run_of()
    assert "were not run" not in markdown(run)
    run.late = "3 of 11 other chunkings were not run."
    assert "\n- 3 of 11 other chunkings were not run.\n" in markdown(run)
