"""Cases with a recorded stream: who plays it back, under which chunking, and what searches and exports make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import BUILTIN, RECORDED, choose, engine_of, traced_chunking
from parsers.cases.expect import differences
from parsers.cases.export.replay_command import replay_command
from parsers.cases.find import CaseSearch, find_json
from parsers.cases.io import case_id, load_case
from parsers.cases.run import UNSHARED, CaseRun, replayer_of, run_case, run_json, sse
from parsers.replays.chunking import RECORDED as AS_RECORDED
from parsers.replays.chunking import TRACED, Chunking
from parsers.selection.registry import Evidence
from parsers.vocabulary.types import Piece, UsageError
from tests.corpus import case_named, case_names
from webapp.engines import ENGINES

Payload = dict[str, Any]


def chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


CALL = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]})
STREAM = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Hi"}), CALL, chunk({}, "tool_calls")]
TEXT = 'Hi<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def case(parser: Any = "auto", stream: list[Payload] | None = STREAM, **more: Any) -> Case:
    given = {"stream": stream} if stream is not None else {}
    named = {"name": parser} if isinstance(parser, str) else parser
    return load_case({"schema": 1, "parser": named, "input": given | more.pop("input", {}), **more})


@pytest.mark.parametrize(
    ("found", "engine"),
    [
        (case(), RECORDED),
        (case("recorded"), RECORDED),
        (case("recorded", input={"text": TEXT}), RECORDED),
        (case({"name": "recorded", "engine": "recorded"}), RECORDED),
        (case(input={"text": TEXT}), BUILTIN),
        (case("qwen"), BUILTIN),
        (case({"name": "qwen", "engine": "fallback"}), "fallback"),
    ],
)
def test_the_stream_is_played_where_it_is_asked_for_and_where_nothing_else_is_there(found: Case, engine: str) -> None:
    assert engine_of(found) == engine
    assert traced_chunking(found) == (AS_RECORDED if engine == RECORDED else TRACED)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (case("qwen"), "nothing for qwen to parse: use the parser recorded"),
        (case({"name": "recorded", "engine": "fallback"}), "the engine fallback cannot run it"),
        (case({"name": "qwen", "engine": "recorded"}), "the parser of this engine is called recorded, not 'qwen'"),
        (case("recorded", None, input={"text": "Hi"}), "there is no recorded stream to play back"),
        (case({"name": "recorded", "policy": {"unknown_tool": "drop"}}), "takes no policies"),
        (case({"name": "recorded", "engine": "recorded", "options": {"a": 1}}), "takes no options"),
        (case(replay=[{"by": "recorded"}, {"by": "char"}]), "/replay/1: a recorded stream is replayed as it was"),
    ],
)
def test_what_cannot_be_played_says_why(found: Case, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", "\\(")):
        run_case(found)


@pytest.mark.parametrize(
    ("source", "contract"),
    [
        (None, "openai"),
        ({"kind": "recorded"}, "openai"),
        ({"kind": "recorded", "engine": "vLLM 0.33.0"}, "vllm"),
        ({"kind": "recorded", "engine": "sglang"}, "sglang"),
        ({"kind": "recorded", "engine": "llama.cpp b1"}, "openai"),
    ],
)
def test_a_stream_is_judged_by_the_contract_of_the_server_it_is_said_to_come_from(
    source: Payload | None, contract: str
) -> None:
    more: Payload = {} if source is None else {"source": source}
    assert choose(case(**more)).contract == contract
    found = case(contract="dynamo", **more)
    assert replayer_of(found, choose(found), ()).contract.name == "dynamo"
    assert replayer_of(case(**more), choose(case(**more)), ()).contract.name == contract


def test_markers_of_an_unknown_grammar_count_in_a_stream_and_none_are_declared_for_a_built_in_parser() -> None:
    sent = [chunk({"content": "Hi {call}x"}), chunk({}, "stop")]
    plain, declared = case("recorded", sent), case({"name": "recorded", "markers": ["{call}", "{end}"]}, sent)
    assert [one.severity for one in run_case(plain).findings] == []
    assert "{call}" in replayer_of(declared, choose(declared), ()).terminals
    for engine in (None, "fallback"):
        wrong = case({"name": "qwen", "engine": engine, "markers": ["{call}"]}, None, input={"text": TEXT})
        with pytest.raises(CaseError, match="the markers of a built-in parser are known"):
            run_case(wrong)


def test_an_inline_format_is_nothing_for_a_stream() -> None:
    fmt = {"schema": 1, "name": "recorded", "title": "x", "initial": "C", "states": {"C": {"text": "content"}}}
    with pytest.raises(CaseError, match="it takes no format") as caught:
        run_case(case({"name": "recorded", "engine": "recorded", "format": fmt}))
    assert caught.value.pointer == "/parser/format"


def test_a_stream_is_compared_with_nothing_and_says_what_is_not_known() -> None:
    run = run_case(case())
    assert (run.compared, run.whole is run.trace, run.plays, run.pieces) == ([], True, True, ())
    assert run.trace.reasons[-1] == "The raw output was not recorded: checks that need it are skipped."
    assert (run.trace.chunking, run.trace.finish_reason) == ({"by": "recorded", "cuts": []}, "tool_calls")
    assert run.findings == []
    assert not run_case(case("qwen", input={"text": TEXT})).plays


def test_the_tokens_that_came_with_a_chunk_are_its_step() -> None:
    texts = ["", "Hi", TEXT[2:], ""]
    shared = run_case(case("recorded", input={"deltas": [{"text": text} for text in texts]}))
    assert [shared.trace.text[step.span.start : step.span.end] for step in shared.trace.steps] == [*texts, ""]
    unshared = run_case(case("recorded", input={"text": TEXT}))
    assert (unshared.trace.text, unshared.trace.reasons[-1]) == ("", UNSHARED)


@pytest.mark.parametrize(
    ("content", "evidence", "name"),
    [
        ("Hi", Evidence(), None),
        ("Hi", Evidence(model_id="Qwen/Qwen2.5-7B-Instruct"), "qwen"),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', Evidence(), "mistral"),
    ],
)
def test_the_grammar_follows_the_model_or_the_text_and_any_marker_counts(
    content: str, evidence: Evidence, name: str | None
) -> None:
    found = case(stream=[chunk({"content": content}, "stop")])
    choice = choose(found, evidence)
    assert (choice.grammar.name if choice.grammar else None) == name
    assert choice.format.name == "recorded"
    markers = replayer_of(found, choice, ()).terminals.values()
    assert {"[TOOL_CALLS]", "</think>", "<|channel|>"} <= {*markers}, "no model hides the markers of another one"


def test_a_finish_reason_of_the_servers_own_goes_before_none() -> None:
    stream = [chunk({"content": "Hi"}), chunk({}, "length")]
    assert run_case(case(stream=stream)).context.finish_reason == "length"
    said = case(stream=stream, context={"finish_reason": "stop"})
    assert run_case(said).context.finish_reason == "stop"


def test_a_search_judges_what_was_recorded_and_says_why_it_is_no_search() -> None:
    search = CaseSearch(case(stream=[*STREAM[:3], chunk({}, "stop")]))
    assert [(at.stage, at.done, at.total) for at in search.run()] == [("replay", 0, 1), ("done", 1, 1)]
    found = json.loads(json.dumps(find_json(search.result())))
    assert (found["replays"], found["complete"], found["minimized"], found["groups"]) == (1, True, None, [])
    assert [one["check"] for one in found["findings"]] == ["finish_reason"]
    assert [(one["count"], one["smallest"]) for one in found["outcomes"]] == [(1, {"by": "recorded"})]
    assert found["verdict"]["details"][-1].startswith("This is a recorded stream: it has one chunking")


def test_a_search_of_a_right_stream_finds_nothing() -> None:
    found = CaseSearch(case()).result().found
    assert (found.findings, found.verdict.kind) == ([], "all_hold")


def test_a_stream_under_another_chunking_cannot_be_searched_either() -> None:
    with pytest.raises(CaseError, match="under no other chunking"):
        CaseSearch(case(replay=[{"by": "char"}]))


def test_reasoning_alone_raises_no_question_about_the_prompt() -> None:
    found = CaseSearch(case(stream=[chunk({"reasoning": "Hm."}), chunk({}, "stop")])).result().found
    assert found.verdict.kind != "prompt_state_unknown"


def test_what_a_server_sent_is_not_laid_to_a_smaller_output() -> None:
    departs = case("qwen", [chunk({"content": "Ho"}), chunk({}, "stop")], input={"text": "Hi there"})
    search = CaseSearch(departs, pieces=tuple([Piece(char) for char in "Hi there"]))
    list(search.run())
    result = search.result()
    assert [one.check for one in result.found.findings] == ["server_agrees"]
    assert result.minimized is None


def test_the_transcript_of_a_stream_is_the_stream() -> None:
    lines = sse(run_case(case()), "reasoning_content").split("\n\n")
    assert [json.loads(line.removeprefix("data: ")) for line in lines[:-2]] == STREAM
    assert lines[-2:] == ["data: [DONE]", ""]


def test_the_command_that_repeats_it_names_its_chunking() -> None:
    run = run_case(case())
    assert replay_command(run.trace.chunking, "x.json") == "toolcall-inspector replay x.json --chunk recorded"


def test_a_case_of_a_stream_has_an_id_and_its_run_is_json() -> None:
    assert case_id(case("recorded")) != case_id(case("recorded", STREAM[:1]))
    found = json.loads(json.dumps(run_json(run_case(case()))))
    assert (found["parser"], found["mode"], found["partition"]) == ("recorded", "text", [])
    assert [step["text"] for step in found["steps"]] == [""] * 5
    assert found["message"] == found["whole"]


def played(name: str) -> CaseRun:
    found = case_named(name)
    pieces = tuple([Piece(delta.text) for delta in found.input.deltas or ()])
    return run_case(found, pieces=pieces, engines=ENGINES)


@pytest.mark.parametrize("name", case_names("recorded"))
def test_the_case_files_give_what_they_expect(name: str) -> None:
    run = played(name)
    assert run.case.expect is not None
    assert not differences(run.case.expect, run.trace.message, run.trace.finish_reason, run.case.compare)


def test_other_chunkings_of_an_output_with_a_stream_are_compared_as_ever() -> None:
    run = run_case(case("qwen", input={"text": TEXT}, replay=[{"by": "whole"}, {"by": "token"}]))
    assert [other.chunking for other in run.compared] == [Chunking(by="token")]
