"""Running a case: what is compared, what is chosen and why, and what the JSON of a run holds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import builtin, policy_of
from parsers.cases.io import load_case
from parsers.cases.run import run_case, run_json, step_json
from parsers.cases.tested import as_test
from parsers.checks import CHECKS
from parsers.machine.machine import Machine
from parsers.selection.registry import Evidence
from parsers.vocabulary.events import CallArguments
from parsers.vocabulary.observed import Attribute, Observed, ObservedStep
from parsers.vocabulary.types import Delta, FormatError, Piece, UsageError
from tests.parsers.search.faulty import drops_text_after_call, engines, loses_brace, loses_second_call

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>\n'
KIMI = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"


def case(text: str = CALL, name: str = "auto", **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": name}, "input": {"text": [text]}, **more})


def test_a_run_compares_the_usual_chunkings_with_the_traced_one() -> None:
    run = run_case(case())
    assert [other.label for other in run.compared[:4]] == ["2 tokens", "3 tokens", "5 tokens", "character by character"]
    assert all(other.same for other in run.compared)
    assert {*run.holding, *(name for name, _ in run.skipped)} == set(CHECKS)


def test_a_case_may_name_the_chunkings_itself() -> None:
    run = run_case(case(replay=[{"by": "whole"}, {"by": "char", "size": 3}]))
    assert run.trace.chunking["by"] == "whole"
    assert [other.label for other in run.compared] == ["3 characters"]


def test_a_case_may_have_its_message_compared_under_honest_cuts_alone() -> None:
    run = run_case(case(compare={"cuts": "honest"}))
    assert [other.label for other in run.compared] == ["whole"]
    ids = [[1, "Hello "], [2, "there"]]
    recorded = load_case(
        {"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": ids}, "compare": {"cuts": "honest"}}
    )
    compared = [other.label for other in run_case(recorded).compared]
    assert compared[:3] == ["2 tokens", "3 tokens", "5 tokens"]
    assert "character by character" not in compared


@pytest.mark.replays
@pytest.mark.parametrize("change", [loses_second_call, drops_text_after_call, loses_brace])
def test_what_one_delta_loses_is_an_error_whatever_the_models_tokens_are(change: Any) -> None:
    """A server may send all in one delta, and cut an output at its markers: that both make it is certain."""
    asked, text = ParserRef(name="qwen", engine="faulty"), f"{CALL}{CALL}Done."
    pieces = [Piece(part) for part in re.findall(r"\w+|\s+|.", text)]
    run = run_case(case(text).model_copy(update={"parser": asked}), pieces=pieces, engines=engines(change))
    assert "error" in {finding.severity for finding in run.findings}
    assert as_test(run).outcome == "FAIL"


def test_other_chunkings_can_be_left_out() -> None:
    assert run_case(case(), compare=False).compared == []


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "more", "evidence", "name"),
    [
        (CALL, {}, None, "qwen"),
        (CALL, {"context": {"model": "moonshotai/Kimi-K2"}}, None, "qwen"),
        ("plain", {"context": {"model": "moonshotai/Kimi-K2"}}, None, "kimik2"),
        ("plain", {}, Evidence(model_type="llama"), "llama"),
        (CALL, {}, Evidence(model_type="llama"), "qwen"),
        (CALL, {}, Evidence(model_id="mistral-small"), "qwen"),
        ("plain", {}, Evidence(model_id="mistral-small"), "mistral"),
        ("plain", {}, None, "passthrough"),
    ],
)
def test_auto_chooses_by_the_evidence_and_says_why(
    text: str, more: dict[str, Any], evidence: Evidence | None, name: str
) -> None:
    run = run_case(case(text, **more), evidence=evidence)
    assert run.selection.name == name
    assert run.trace.reasons == run.selection.reasons
    assert run.selection.reasons


def test_our_own_marker_ids_are_no_evidence_for_a_format() -> None:
    tokens = [[2048, "<tool_call>"], [10, "\n"], [1, "<function=f>\n"]]
    body = {"input": {"tokens": tokens}, "tokenizer": {"vocab": {"<tool_call>": 2048, "</tool_call>": 2049}}}
    own = load_case({"schema": 1, "parser": {"name": "auto"}, **body})
    recorded = load_case({"schema": 1, "source": {"kind": "recorded"}, "parser": {"name": "auto"}, **body})
    assert run_case(own).selection.name == "qwen_coder"
    assert "vocabulary" in run_case(recorded).selection.reasons[0]


def test_a_format_of_the_case_is_run_and_a_broken_one_refused() -> None:
    states = {"A": {"text": "content", "rows": [{"on": "END", "to": "A"}]}}
    own = {"schema": 1, "name": "mine", "title": "Mine", "initial": "A", "states": states}
    run = run_case(load_case({"schema": 1, "parser": {"name": "mine", "format": own}, "input": {"text": ["x"]}}))
    assert (run.format.name, run.trace.message.content) == ("mine", "x")
    broken = {**own, "initial": "B"}
    with pytest.raises(FormatError, match="/initial"):
        run_case(load_case({"schema": 1, "parser": {"name": "mine", "format": broken}, "input": {"text": ["x"]}}))


def test_an_engine_that_is_not_there_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'vllm' is not available here; available: builtin"):
        run_case(load_case({"schema": 1, "parser": {"name": "qwen", "engine": "vllm"}, "input": {"text": ["x"]}}))


def test_an_engine_that_is_given_runs_the_case() -> None:
    asked = load_case({"schema": 1, "parser": {"name": "x", "engine": "mine"}, "input": {"text": ["x"]}})
    run = run_case(asked, engines={"mine": lambda case, _: builtin(replaced(case, "passthrough"), Evidence())})
    assert run.trace.message.content == "x"


def replaced(case: Case, name: str) -> Case:
    return case.model_copy(update={"parser": ParserRef(name=name)})


def test_options_without_an_engine_are_refused() -> None:
    with pytest.raises(UsageError, match="policies instead"):
        run_case(load_case({"schema": 1, "parser": {"name": "qwen", "options": {"a": 1}}, "input": {"text": ["x"]}}))


def test_a_prompt_that_opens_reasoning_and_a_request_that_denies_it_contradict_each_other() -> None:
    tail = {"prompt_tail": "assistant\n<think>\n"}
    assert run_case(case("why</think>so", "qwen", context=tail)).trace.message.reasoning == "why"
    with pytest.raises(UsageError, match="leave one of them out"):
        run_case(case("why</think>so", "qwen", context={**tail, "reasoning_open": False}))


def test_strict_requests_are_parsed_strictly_unless_the_case_says_otherwise() -> None:
    assert policy_of(case(context={"strict": True})) == {"invalid_call": "strict"}
    own = load_case(
        {
            "schema": 1,
            "parser": {"name": "qwen", "policy": {"invalid_call": "lenient"}},
            "input": {"text": [CALL]},
            "context": {"strict": True},
        }
    )
    assert policy_of(own) == {"invalid_call": "lenient"}


@pytest.mark.replays
def test_a_long_output_is_not_counted() -> None:
    run = run_case(case("word " * 5_000), compare=False)
    assert "linear_time" in [name for name, _ in run.skipped]


def broken_feed(self: Machine, delta: Delta) -> list[Any]:
    """A parser that loses what arguments it finds in a delta of one character."""
    events = feed(self, delta)
    return [event for event in events if len(delta.text) > 1 or not isinstance(event, CallArguments)]


feed = Machine.feed


def test_a_chunking_that_differs_is_traced_and_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "feed", broken_feed)
    replay = [{"by": "whole"}, {"by": "char"}, {"by": "char", "size": 2}]
    run = run_case(case(replay=replay, tokenizer={"name": "own"}), pieces=[Piece(char, ord(char)) for char in CALL])
    char = run.compared[0]
    assert not char.same
    assert char.divergence is not None
    assert char.trace.steps
    assert [found.check for found in run.findings if found.severity == "error"]


def test_the_json_of_a_run_has_the_contract_keys() -> None:
    found = json.loads(json.dumps(run_json(run_case(case(KIMI + "x", tools=[{"name": "f"}])))))
    assert list(found) == [
        "parser",
        "reasons",
        "mode",
        "message",
        "finish_reason",
        "known",
        "findings",
        "whole",
        "rejected_calls",
        "chunking",
        "partition",
        "deltas",
        "steps",
    ]
    assert found["message"]["tool_calls"] == [{"id": "functions.f:0", "name": "f", "arguments": "{}", "complete": True}]
    assert found["partition"][0] == [0, 19, "marker", None]
    assert found["message"] == found["whole"]
    kinds = {event["type"] for step in found["steps"] for event in step["events"]}
    assert kinds == {"CallStart", "CallId", "CallName", "CallArguments", "CallEnd", "Marker", "ContentText"}


def test_events_say_what_their_type_carries() -> None:
    text = 'a\n<tool_call>{oops</tool_call>\n<tool_call>{"name": "f", "arguments": {"n": "1"}}</tool_call>\n'
    tools = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]
    events = [e for step in run_json(run_case(case(text, "qwen", tools=tools)))["steps"] for e in step["events"]]
    by_type = {event["type"]: event for event in events}
    assert by_type["Dropped"]["reason"]
    assert {"code", "severity", "message"} <= set(by_type["Diagnostic"])
    assert by_type["CallEnd"]["complete"] is True
    assert "converted" in [s["kind"] for e in events if e["type"] == "CallArguments" for s in e["segments"]]


@pytest.mark.replays
def test_long_holds_are_cut_in_the_json_and_said_in_full() -> None:
    text = '{"name": "f", "parameters": {}} ' + "x" * 2_000
    run = run_case(
        load_case(
            {
                "schema": 1,
                "parser": {"name": "llama", "policy": {"llama_content": "seed_literal"}},
                "input": {"text": [text]},
                "replay": [{"by": "char", "size": 500}],
            }
        ),
        pieces=[Piece(char) for char in text],
    )
    last = run_json(run)["steps"][-2]
    assert (len(last["held"]), last["held"][-1]) == (513, "…")
    assert last["holds"][0]["span"] == [0, len(text)]
    assert len(run.trace.held_text(run.trace.steps[-2])) == len(text)
    assert run.trace.held_text(run.trace.steps[-1]) == ""


def test_a_step_has_what_a_parser_elsewhere_showed_of_itself() -> None:
    trace = run_case(case("a b", "qwen")).trace
    assert "observed" not in step_json(trace, trace.steps[0])
    grown = Attribute("Mine.buffer", "", "a", "a")
    trace.observed = Observed(steps=(ObservedStep((grown,)), ObservedStep()), micros=(7,))
    assert [step_json(trace, step).get("observed") for step in trace.steps[:3]] == [
        {"micros": 7, "changed": [{"name": "Mine.buffer", "before": "", "after": "a", "grown": "a"}]},
        {"micros": None, "changed": []},
        None,
    ]
