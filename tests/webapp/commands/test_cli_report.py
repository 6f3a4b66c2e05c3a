"""The report of `replay`: what a reader sees of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.compare.beside import Compared
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import Chunking
from parsers.vocabulary.channels import CONTENT, Channel
from parsers.vocabulary.drops import stated
from parsers.vocabulary.trace import Finding, RejectedCall
from parsers.vocabulary.types import Span
from webapp.commands.inputs import Given
from webapp.commands.report import report
from webapp.commands.words import literal, quoted, table

Program = Callable[..., Any]


def part(out: str, title: str) -> list[str]:
    """The lines under a heading."""
    return next(block for block in out.split("\n\n") if block.startswith(title)).splitlines()[1:]


def test_a_report_says_what_was_read_which_parser_and_the_message(program: Program, output_file: Path) -> None:
    out = program("replay", output_file).out
    head = out.split("\n\n")[0]
    assert f"{output_file}: raw model output, 81 characters" in head
    assert "qwen: Qwen / Hermes JSON" in head
    assert "token by token, " in head
    assert [line.split()[0] for line in part(out, "message")] == [
        "reasoning", "content", "call", '{"city":', "finish_reason",
    ]  # fmt: skip
    assert "other chunkings: 10 replays, the same message every time" in out


def test_model_output_never_reaches_the_terminal_as_commands(program: Program) -> None:
    text = 'a\x1b]0;x\x07\u202eb <tool_call>\n{"name": "f\x1b[2J", "arguments": {"k": "\x9b2J\u2066"}}\n</tool_call>'
    out = program("replay", "-", "--parser", "qwen", stdin=text).out
    assert [char for char in out if not (char.isprintable() or char == "\n")] == []


def test_dropped_text_and_the_last_steps_are_listed(program: Program) -> None:
    text = "<tool_call>\nno call at all\n</tool_call>"
    out = program("replay", "-", "--parser", "qwen", "--policy", "recovery=fail", "--chunk", "4", stdin=text).out
    assert '"no call"' in "\n".join(part(out, "dropped text"))
    assert out.splitlines()[-1].split()[1] == "end"


def test_only_the_last_steps_of_many_are_listed(program: Program) -> None:
    out = program("replay", "-", stdin="word " * 100).out
    assert len(part(out, "last 8 of the ")) == 9


@pytest.mark.replays
def test_a_long_text_is_shown_in_part_with_its_length(program: Program) -> None:
    out = program("replay", "-", stdin="x" * 9_000).out
    assert '…" (9,000 characters)' in "\n".join(part(out, "message"))


def test_findings_rejected_calls_and_differing_chunkings_are_listed_with_their_places() -> None:
    case = load_case(
        {"schema": 1, "parser": {"name": "passthrough"}, "input": {"text": "ab"}, "replay": [{"by": "whole"}]}
    )
    run = run_case(case)
    run.trace.rejected_calls = [RejectedCall(0, 2, None, stated("no name came"))]
    run.findings = [
        Finding("chunking", "error", "parser", "It differs.", 2, Span(0, 1), "ab", "b"),
        Finding("known_tool", "info", "request", "Fine."),
    ]
    other = replace(run.trace, chunking={"by": "cuts", "cuts": [1]})
    parting = Divergence(CONTENT, 0, 1, 1, 1, "ab", "b")
    unknown = Divergence(Channel(None, "calls"), 0, None, None, None, "no call", "1 call: f")
    run.compared = [
        Compared(Chunking(by="char"), "character by character", other, 2, True),
        Compared(Chunking(by="cuts", cuts=(1,)), "cut at 1", other, 2, False, parting),
        Compared(Chunking(by="cuts", cuts=(1,)), "elsewhere", other, 2, False, unknown),
    ]
    out = report(run, Given("my case.json", {}, True, "case file"))
    assert part(out, "rejected calls") == ['  0–2  "ab"  no name came']
    assert part(out, "other chunkings: 2 of 3 replays gave another message") == [
        '  cut at 1 parts in content at character 1: "b" instead of "ab"',
        "    toolcall-inspector replay 'my case.json' --cuts 1",
        '  elsewhere parts in calls: "1 call: f" instead of "no call"',
        "    toolcall-inspector replay 'my case.json' --cuts 1",
    ]
    assert part(out, "findings: 1 error, 1 info")[:5] == [
        "  error chunking: step 2, characters 0–1",
        "    It differs.",
        '    expected "ab"',
        '    actual "b"',
        "  info known_tool",
    ]


def test_tokens_that_are_stored_are_said_to_be(program: Program, case_file: Callable[..., Path]) -> None:
    assert "2 tokens (as stored)" in program("replay", case_file(input={"tokens": [[1, "a"], [2, "b"]]})).out


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("plain", None, '"plain"'),
        ('{"a": "b"}', None, '\'{"a": "b"}\''),
        ('it\'s "x"', None, '"it\'s \\"x\\""'),
        ('\\"', None, "'\\\\\"'"),
        ("a\nb", None, '"a\\nb"'),
        ("abcdef", 3, '"abc…" (6 characters)'),
        ('"bcdef', 3, "'\"bc…' (6 characters)"),
    ],
)
def test_quoted_text_is_exact_and_readable(text: str, most: int | None, shown: str) -> None:
    assert quoted(text, most) == shown


def test_literal_text_spells_only_what_nobody_sees() -> None:
    assert literal('{"a\\n": "\n\x00"}', 99) == '{"a\\n": "⟨U+000A⟩⟨U+0000⟩"}'
    assert literal("abcdef", 2) == "ab… (6 characters)"


def test_a_table_of_nothing_is_nothing() -> None:
    assert table([]) == []
