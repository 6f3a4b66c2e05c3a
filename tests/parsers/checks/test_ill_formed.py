"""An output that leaves its grammar: how another parser mends it is not its fault; what stands before counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.checks.ill_formed import blamed_on_output, first_flaw
from parsers.checks.subject import subject_of
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.recorded import BlackBox
from parsers.search.verdict import verdict
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Context, Delta, MessageDelta, Span, Tool, ToolCallDelta
from tests.parsers.checks.subjects import subject
from tests.parsers.search.test_verdict import ONE, replayer

OPEN = ONE.removesuffix("</tool_call>")  # the next call begins before this one is closed
TWO_OPEN = f"{OPEN}{ONE}"
THIRD_OPEN = f"{ONE}\n{OPEN}{ONE}"


@pytest.mark.parametrize(
    ("notes", "start"),
    [
        ((), None),
        ((("missing_call_end", "info", 9),), 9),
        ((("missing_call_end", "info", 9), ("malformed_name", "info", 4)), 4),
        ((("incomplete_call", "warning", 7),), 7),
        ((("orphan_call_end", "info", 7),), None),
        ((("rejected_call", "warning", 7), ("truncated_call", "warning", 8), ("unknown_tool", "warning", 3)), None),
    ],
)
def test_the_grammar_is_left_where_something_had_to_be_mended(
    notes: tuple[tuple[str, Any, int], ...], start: int | None
) -> None:
    flaw = first_flaw([Diagnostic(at, at, code, severity) for code, severity, at in notes])
    assert (None if flaw is None else flaw.start) == start


def judged(text: str, check: str, **more: Any) -> Finding:
    trace = replayer(text).trace(WHOLE)
    given = {"severity": "error", "about": "parser", **more}
    return blamed_on_output(subject(trace, reference=trace), [CHECKS[check].finding("It is lost.", **given)])[0]


@pytest.mark.parametrize(
    ("text", "check", "more", "blames"),
    [
        (ONE, "tool_call_dropped", {}, "parser"),
        (TWO_OPEN, "tool_call_dropped", {}, "output"),
        (TWO_OPEN, "tool_call_dropped", {"span": Span(22, 23)}, "output"),
        (THIRD_OPEN, "tool_call_dropped", {"span": Span(22, 23)}, "parser"),
        (THIRD_OPEN, "tool_call_dropped", {"span": Span(90, 91)}, "output"),
        (TWO_OPEN, "all_output_lost", {"span": Span(0, 90)}, "output"),
        (TWO_OPEN, "arguments_prefix", {}, "output"),
        (TWO_OPEN, "parser_raised", {}, "parser"),
        (TWO_OPEN, "chunking", {}, "parser"),
        (TWO_OPEN, "index_dense", {}, "parser"),
        (TWO_OPEN, "spans_cover_input", {"policy": "a=b"}, "parser"),
    ],
)
def test_what_differs_from_there_on_is_about_the_output(
    text: str, check: str, more: dict[str, Any], blames: str
) -> None:
    found = judged(text, check, **more)
    assert found.about == blames
    assert (found.topic is Topic.GRAMMAR) is (blames == "output")
    if blames == "output":
        assert found.severity == "warning"
        assert "leaves its grammar at character" in found.message


def test_a_lesser_finding_stays_as_mild() -> None:
    assert judged(TWO_OPEN, "spans_cover_input", severity="info").severity == "info"


class Strict:
    """A parser that reads whole calls only, in the whole output."""

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        calls = 0 if OPEN + "<tool_call>" in self.text else self.text.count(ONE)
        return MessageDelta(tool_calls=[ToolCallDelta(n, f"c{n}", "f", '{"a": 1}') for n in range(calls)])


@pytest.mark.parametrize("tools", [(Tool("f"),), ()])
def test_a_stricter_parser_is_not_blamed_for_an_output_that_leaves_its_grammar(tools: tuple[Tool, ...]) -> None:
    for text, kind in ((ONE, "all_hold"), (TWO_OPEN, "output_flawed")):
        open_box = replayer(text, context=Context(tools=tools))
        given = replace(open_box, black_box=True, make=lambda: BlackBox("strict", Strict()))
        report = run_checks(subject_of(given, given.trace(TRACED), given.trace(WHOLE), ()))
        said = verdict(report.findings, given.trace(TRACED), given)
        assert said.kind == kind, said.headline
        assert [one for one in report.findings if one.about == "parser" and one.severity != "info"] == []


def test_of_an_unknown_grammar_a_mended_reading_is_no_proof_that_the_parser_is_the_wrong_one() -> None:
    kinds = []
    for text in (ONE, TWO_OPEN):
        given = replace(replayer(text, "passthrough"), black_box=True, format=None, terminals={})
        given = replace(given, make=lambda: BlackBox("strict", Nothing()))
        trace = given.trace(TRACED)
        kinds.append(verdict(run_checks(subject_of(given, trace, trace, ())).findings, trace, given).kind)
    assert kinds == ["wrong_parser", "text_lost"]


class Nothing(Strict):
    """A parser that reads nothing."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None
