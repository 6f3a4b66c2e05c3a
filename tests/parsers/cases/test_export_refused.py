"""What a test of a suite cannot say is refused in a sentence, not written as a test that says something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.case import Expect
from parsers.cases.export.suite_subject import Subject, subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.run import run_case
from parsers.vocabulary.types import UsageError
from tests.parsers.cases.test_export_suites import CALL, case, emitted, subject

AS_TEXT = f"So.{CALL % 1}"
OF_CALLS = ("vllm_format", "sglang", "vllm_rust", "tool_parser", "llamacpp")  # these ask a parser whatever is requested
UNREAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"context": {"tool_choice": "none"}}, {}, "with tool_choice 'none'"),
    ({"context": {"tool_choice": "none"}}, {"engine": "sglang"}, "with tool_choice 'none'"),
    ({"tools": []}, {"engine": "sglang"}, "without tools"),
    ({"tools": []}, {"engine": "vllm"}, "without tools"),
]


def as_text(keys: dict[str, Any], how: dict[str, Any]) -> Subject:
    """A case whose call is text of it, as a server has it that asks no parser of calls."""
    return subject(case(AS_TEXT, expect={"content": AS_TEXT, "tool_calls": []}, **keys), **how)


@pytest.mark.parametrize("expect", [{}, {"finish_reason": "stop"}])
def test_a_case_of_which_a_parser_decides_nothing_is_refused(expect: dict[str, Any]) -> None:
    for given_case, accepted in ((case(expect=expect), None), (case(), Expect.model_validate(expect))):
        with pytest.raises(UsageError, match="this case expects nothing that a parser decides"):
            subject_of(run_case(given_case), expect=accepted)


@pytest.mark.parametrize(("keys", "how", "why"), UNREAD)
@pytest.mark.parametrize("target", OF_CALLS)
def test_a_suite_that_asks_a_parser_of_calls_refuses_what_a_server_does_not_ask_it(
    target: str, keys: dict[str, Any], how: dict[str, Any], why: str
) -> None:
    found = as_text(keys, how)
    if target == "llamacpp" and not found.tools:  # it is told of the request, and reads no calls then
        assert ".tools(" not in suite_file(SUITES[target], found).text
        return
    with pytest.raises(
        UsageError, match=f"a server reads no call of a request {why}, and .*: export the case to pytest"
    ):
        suite_file(SUITES[target], found)


def test_dynamos_suite_refuses_a_request_without_tools_of_a_server_that_needs_them() -> None:
    with pytest.raises(UsageError, match="without tools, and Dynamo's suite asks"):
        suite_file(SUITES["dynamo"], as_text({"tools": []}, {"engine": "vllm"}))


def test_a_test_of_vllms_harness_is_told_of_the_choice() -> None:
    assert '"tool_choice": "none"' in suite_file(SUITES["vllm"], as_text(*UNREAD[0][:2])).text


def test_a_case_of_ours_without_tools_is_one_of_parsers_that_read_calls_all_the_same() -> None:
    assert as_text({"tools": []}, {}).reads_calls
    assert "FunctionCallParser" in emitted("sglang", case("So.", tools=[]))


def test_where_sglang_asks_no_parser_of_calls_that_of_reasoning_reads_alone() -> None:
    found = as_text({"context": {"tool_choice": "none", "reasoning_open": True}}, {"engine": "sglang"})
    source = suite_file(SUITES["sglang"], replace(found, parser="qwen3")).text
    assert "ReasoningParser(model_type=" in source
    assert "detector = " not in source


@pytest.mark.parametrize(("choice", "reads"), [("auto", True), ("none", False)])
def test_a_detector_of_sglang_that_needs_no_tools_is_asked_without_them(choice: str, reads: bool) -> None:
    found = replace(
        as_text({"tools": [], "context": {"tool_choice": choice}}, {"engine": "sglang"}), parser="minimax-m3"
    )
    if reads:
        assert 'ToolCallParserEnum["minimax-m3"]' in suite_file(SUITES["sglang"], found).text
        return
    with pytest.raises(UsageError, match="a server reads no call"):
        suite_file(SUITES["sglang"], found)


@pytest.mark.parametrize("choice", ["required", {"name": "f"}])
def test_a_format_fixture_refuses_what_vllms_server_reads_without_its_parser(choice: Any) -> None:
    found = subject(case(context={"tool_choice": choice}), engine="vllm")
    with pytest.raises(UsageError, match="calls them as for tool_choice 'auto': export the case to vllm"):
        suite_file(SUITES["vllm_format"], replace(found, parser="hermes"))


def test_the_head_has_the_blanks_of_what_it_quotes() -> None:
    source = emitted(
        "vllm", case("Größe 🙂  nach", expect={"content": "Größe  🙂 nach"}, title="Two  blanks\nof a title")
    )
    assert "content: expected 'Größe  🙂 nach', came 'Größe 🙂  nach'" in source
    assert "# Two  blanks of a title\n" in source
