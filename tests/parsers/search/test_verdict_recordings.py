"""Verdicts on recorded streams, shape by shape: nobody is blamed beyond what was recorded, nothing broken passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.find import CaseFound, CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import characters, replayer_of, run_case
from parsers.checks import CHECKS, run_checks
from parsers.checks.known import Fact, known_of
from parsers.checks.subject import subject_of
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.found import Verdict, Why
from parsers.search.verdict import verdict
from tests.corpus import case_named, case_names
from tests.parsers.checks.subjects import without
from tests.parsers.search.test_verdict import CODER, ONE, TWO, replayer

WHOLE_ARGUMENTS, CUT_ARGUMENTS = '{"city": "Paris"}', '{"city": "Paris"'
LEFT = f"Let me see. {ONE}"


def call(arguments: str, index: int | None = 0) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {**place, "id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}


def streamed(*deltas: dict[str, Any], finish: str | None = "tool_calls", key: bool = True) -> list[dict[str, Any]]:
    """Chunks of chat completions; `key`: whether they have a place for the finish reason."""
    place: dict[str, Any] = {"finish_reason": None} if key else {}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta, **place}]} for delta in deltas]
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return chunks


def answered(message: dict[str, Any], **choice: Any) -> list[dict[str, Any]]:
    """One whole answer, or, without a finish reason, a printed message."""
    return [{"choices": [{"index": 0, "message": {"role": "assistant", **message}, **choice}]}]


def begun(arguments: str, index: int = 0) -> dict[str, Any]:
    return {"tool_calls": [call(arguments, index)]}


def more(arguments: str, index: int = 0) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def searched(stream: list[dict[str, Any]], *, how: dict[str, Any] | None = None, **given: Any) -> CaseFound:
    """The search of a stream; `how` it was recorded."""
    body = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream, **(how or {})}, **given}
    search = CaseSearch(load_case(body))
    assert list(search.run())
    return search.result()


def counting(tokens: int, **apart: Any) -> dict[str, Any]:
    """The chunk that counts what was generated."""
    return {"choices": [], "usage": {"completion_tokens": tokens, **apart}}


FAILED: dict[str, Any] = {"error": {"message": "out of memory", "code": 500}}
GOOD = streamed(begun(""), more('{"city": '), more('"Paris"}'))
SHAPES: dict[str, tuple[list[dict[str, Any]], str, str, str | None, str]] = {
    "a stream": (GOOD, "all_hold", "pass", None, "the raw output is unknown"),
    "a whole answer": (
        answered({"content": None, "tool_calls": [call(WHOLE_ARGUMENTS, None)]}, finish_reason="tool_calls"),
        "all_hold", "pass", None, "1 complete call (",
    ),
    "a printed message": (
        answered({"tool_calls": [call(WHOLE_ARGUMENTS, None)]}),
        "all_hold", "pass", None, "checks on what the server sent; the raw output is unknown",
    ),
    "single deltas": (streamed(begun(WHOLE_ARGUMENTS), finish=None, key=False), "all_hold", "pass", None, "1 complete"),
    "a cut recording": (GOOD[:-1], "recording_cut", "warning", "request", "ends before a finish reason"),
    "a stream that loses a brace": (
        streamed(begun(""), more(CUT_ARGUMENTS)),
        "broken_arguments", "error", "parser", "The server sent broken arguments: the arguments of call 0 (`f`) end",
    ),
    "the same with stop": (
        streamed(begun(CUT_ARGUMENTS), finish="stop"),
        "broken_arguments", "error", "parser", "the finish reason is `stop`",
    ),
    "an answer that loses a brace": (
        answered({"tool_calls": [call(CUT_ARGUMENTS, None)]}, finish_reason="tool_calls"),
        "broken_arguments", "error", "parser", "the finish reason is `tool_calls`",
    ),
    "a printed message that loses a brace": (
        answered({"tool_calls": [call(CUT_ARGUMENTS, None)]}),
        "recording_cut", "warning", "request", "end before their JSON does.",
    ),
    "cut off by its length": (
        streamed(begun(CUT_ARGUMENTS), finish="length"), "all_hold", "pass", None, "1 call cut off",
    ),
    "a call that loses a brace before one that its length cuts off": (
        streamed(begun(CUT_ARGUMENTS), {"tool_calls": [{**call('{"ci', 1), "id": "b"}]}, finish="length"),
        "broken_arguments", "error", "parser", "(`f`) end before their JSON does, and the next call begins.",
    ),
    "a printed message with a call that loses a brace before another one": (
        answered({"tool_calls": [call(CUT_ARGUMENTS, None), {**call(WHOLE_ARGUMENTS, None), "id": "b"}]}),
        "broken_arguments", "error", "parser", "(`f`) end before their JSON does, and the next call begins.",
    ),
    "a recording that ends early behind a call that loses a brace": (
        streamed(begun(CUT_ARGUMENTS), {"tool_calls": [{**call('{"ci', 1), "id": "b"}]}, finish=None),
        "recording_cut", "warning", "request", "The arguments of call 0 (`f`) end before their JSON does.",
    ),
    "arguments that come twice": (
        streamed(begun(WHOLE_ARGUMENTS), more(WHOLE_ARGUMENTS)),
        "text_added", "error", "parser", "The server sent text twice: every delta of the arguments of call 0",
    ),
    "an index from 1 on": (
        streamed(begun("", 1), more(WHOLE_ARGUMENTS, 1)),
        "broken_stream", "error", "parser", "The server's deltas do not build the message: call 1 begins",
    ),
    "a call left in the content": (
        streamed({"content": LEFT}, finish="stop"),
        "marker_leak", "error", "parser", "The server left markup in what it sent: `<tool_call>` is left in the",
    ),
    "the end of reasoning left": (
        streamed({"content": "Hm.</think>Hi"}, finish="stop"),
        "marker_leak", "warning", "parser", "`</think>` is left in the content",
    ),
    "the end of reasoning left, and no finish reason": (
        streamed({"content": "Hm.</think>Hi"}, finish=None),
        "marker_leak", "warning", "parser", "`</think>` is left in the content",
    ),
    "an error at the end": (
        [*streamed({"content": "The weather"}, finish=None), FAILED],
        "server_failed", "error", "parser", "The server ended with an error: out of memory.",
    ),
    "an error inside a call": (
        [*streamed(begun(""), more('{"city": '), finish=None), FAILED],
        "server_failed", "error", "parser", "The server ended with an error: out of memory.",
    ),
    "an error and nothing else": ([FAILED], "server_failed", "error", "parser", "ended with an error: out of memory."),
    "an error that did not end it": (
        [FAILED, *streamed({"content": "Hi"}, finish="stop")],
        "parser_flawed", "error", "parser", "chunk 1: The server reports an error: out of memory.",
    ),
    "calls promised": (
        streamed({"content": "I look it up."}), "parser_flawed", "warning", "parser",
        "The finish reason is `tool_calls`, but no call came.",
    ),
    "calls promised, and nothing sent": (
        streamed({"role": "assistant"}, finish="function_call"), "parser_flawed", "warning", "parser",
        "The finish reason is `function_call`, but no call came.",
    ),
    "a sentence twice": (
        streamed({"content": "The sun is out today. "}, {"content": "The sun is out today. Yes."}, finish="stop"),
        "text_added", "warning", "parser", "`The sun is out today.` came twice in a row in the content",
    ),
    "half a character in each of two chunks": (
        streamed({"content": "Hi \ud83d"}, {"content": "\ude00!"}, finish="stop"),
        "all_hold", "pass", None, "plain answer",
    ),
    "nothing at all": (
        answered({"content": None}, finish_reason="stop"), "no_answer", "warning", "request", "no text and no call",
    ),
    "nothing, and no end": (
        answered({"content": None}), "no_output", "warning", "request", "a message without text",
    ),
    "nothing of many tokens": (
        [*streamed({"content": ""}, finish="stop"), counting(57)],
        "text_lost", "warning", "parser", "The server sent nothing of 57 generated tokens.",
    ),
    "nothing of many tokens in one answer": (
        [counting(257) | answered({"content": "\n", "tool_calls": []}, finish_reason="stop")[0]],
        "text_lost", "warning", "parser", "The server sent nothing of 257 generated tokens.",
    ),
    "nothing of tokens that reasoning took": (
        [*streamed({"content": ""}, finish="stop"), counting(57, completion_tokens_details={"reasoning_tokens": 55})],
        "no_answer", "warning", "request", "The server sent no text and no call",
    ),
    "nothing of tokens that SGLang says reasoning took": (
        [*streamed({"content": ""}, finish="stop"), counting(57, reasoning_tokens=55)],
        "no_answer", "warning", "request", "The server sent no text and no call",
    ),
    "nothing of the few tokens that markers take": (
        [*streamed({"content": ""}, finish="stop"), counting(5)],
        "no_answer", "warning", "request", "The server sent no text and no call",
    ),
    "no arguments": (
        streamed(begun("")),
        "broken_arguments", "warning", "parser", "are empty, not a JSON object",
    ),
    "reasoning alone": (
        streamed({"reasoning_content": "Hm."}, finish="stop"),
        "no_answer", "warning", "request", "without an answer: whether it was closed is not known",
    ),
    "reasoning alone, cut off": (
        streamed({"reasoning_content": "Hm."}, finish="length"),
        "no_answer", "info", "request", "its length limit cut it off",
    ),
}  # fmt: skip


HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi"
LEFT_IN_CONTENT = {
    "Hm.</think>Hi": ("`</think>`", True),
    "<think>Hm.</think>Hi": ("`<think>`", True),
    "[THINK]Hm.[/THINK]Hi": ("`[THINK]`", True),
    "<|channel>thought\nHm.<channel|>Hi": ("`<|channel>`", True),
    HARMONY: ("`<|channel|>`", True),
    "analysisHm.assistantfinalHi": ("`assistantfinal`", True),
    "Let me look. <|python_tag|>": ("`<|python_tag|>`", False),
}
MODELS = (
    None, "Qwen/Qwen3-8B", "openai/gpt-oss-20b", "meta-llama/Llama-3.1-8B-Instruct", "deepseek-ai/DeepSeek-R1",
    "mistralai/Mistral-7B-Instruct-v0.3", "google/gemma-3-27b-it", "my-finetune",
)  # fmt: skip


@pytest.mark.replays
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("content", LEFT_IN_CONTENT)
def test_no_model_hides_what_the_server_left(content: str, model: str | None) -> None:
    marker, replayable = LEFT_IN_CONTENT[content]
    stream = streamed({"role": "assistant", "content": content}, finish="stop")
    said = searched(stream, context={} if model is None else {"model": model}).found.verdict
    assert (said.kind, said.severity, said.why) == ("marker_leak", "warning", Why.LEFT), said.headline
    assert said.headline.startswith(f"The server left markup in what it sent: {marker} is left in the content")
    assert (said.offer == content) == replayable


@pytest.mark.parametrize(
    "content",
    [
        "So <answer>4</answer> is <b>it</b>.",
        "In HTML <b>bold</b> is </s> <s>.",
        "assistant, final analysis",
        "a|b",
    ],
)
def test_tags_of_one_plain_word_are_anybodys(content: str) -> None:
    stream = streamed({"content": content}, finish="stop")
    assert searched(stream, checks=["no_terminal_leak"]).found.verdict.kind == "all_hold"


CALLED = {
    '{"name": "f", "parameters": {"a": 1}}': "`llama` reads 1 complete call in it",
    "[f(a=1)]": "reads 1 complete call in it",
    '{"name": "h", "parameters": {"a": 1}}': None,
    'Use `{"name": "f", "parameters": {"a": 1}}` for it.': None,
    "f is a function.": None,
}


@pytest.mark.parametrize("content", CALLED)
def test_a_call_of_a_declared_tool_in_the_content_was_left_there(content: str) -> None:
    stream, words = streamed({"content": content}, finish="stop"), CALLED[content]
    said = searched(stream, tools=[{"name": "f"}]).found.verdict
    assert (said.kind, said.offer) == (("marker_leak", content) if words else ("all_hold", None)), said.headline
    assert (words or "") in said.headline
    assert searched(stream, tools=[{"name": "f"}], context={"tool_choice": "none"}).found.verdict.kind == "all_hold"
    assert searched(stream).found.verdict.kind == "all_hold"


@pytest.mark.replays
@pytest.mark.parametrize(
    ("content", "kind", "severity"),
    [
        ("<p>Old price: <s>$5</s> now <s>$4</s> $3</p>", "all_hold", "pass"),
        ("Tokens such as <|im_start|> and <|im_end|> delimit turns.", "all_hold", "pass"),
        ("Wrap your thoughts in <think> tags.", "all_hold", "pass"),
        ("The tags are:\n- <tool_call>\n- </tool_call>\n", "marker_leak", "warning"),
        ("Hello.</s>", "marker_leak", "warning"),
        ("<s>Hello</s>", "marker_leak", "warning"),
        ("Hi.</s><s>Bye", "marker_leak", "warning"),
        ("Hello. <think>", "marker_leak", "warning"),
        ("I wonder <think> about that </think> and so on", "marker_leak", "warning"),
    ],
)
def test_prose_about_tokens_is_no_leak_and_tokens_in_prose_are(content: str, kind: str, severity: str) -> None:
    said = searched(streamed({"content": content}, finish="stop")).found.verdict
    assert (said.kind, said.severity, said.cause) == (kind, severity, ""), said.headline
    assert not any("has no such marker" in words for words in said.sentences)


@pytest.mark.replays
@pytest.mark.parametrize(
    "content", ["Use the `<tool_call>` tag.", "```\n<think>x</think>\n```", 'Say "<|python_tag|>".']
)
def test_what_is_code_or_quoted_was_not_left_there(content: str) -> None:
    found = searched(streamed({"content": content}, finish="stop")).found
    assert found.verdict.kind == "all_hold"
    assert all("is mentioned in the content" in one.message for one in found.findings)
    often = searched(streamed({"content": content * 30}, finish="stop")).found
    assert often.verdict.kind == "marker_leak", "nobody looks at so many places one by one"


def test_a_name_that_is_sent_empty_is_one_error() -> None:
    nameless = call(WHOLE_ARGUMENTS)
    nameless["function"]["name"] = ""
    found = searched(streamed({"tool_calls": [nameless]})).found
    assert [one.check for one in found.findings] == ["no_empty_delta"]


@pytest.mark.replays
def test_markers_of_reasoning_are_left_there_also_where_calls_are_forbidden() -> None:
    def found(content: str) -> str:
        return searched(
            streamed({"content": content}, finish="stop"), context={"tool_choice": "none"}
        ).found.verdict.kind

    assert (found("Hm.</think>Hi"), found(LEFT)) == ("marker_leak", "all_hold")


@pytest.mark.parametrize(
    ("reasoning", "called", "kind"),
    [
        ("I could use <tool_call> for it.", False, "all_hold"),
        (f"A draft: {ONE}", True, "all_hold"),
        (f"A draft: {ONE}", False, "marker_leak"),
        ("<think>Okay.", False, "marker_leak"),
    ],
)
def test_what_reasoning_only_mentions_is_not_left_there(reasoning: str, called: bool, kind: str) -> None:
    calls = [begun(WHOLE_ARGUMENTS)] if called else [{"content": "Hi"}]
    stream = streamed({"reasoning_content": reasoning}, *calls, finish="tool_calls" if called else "stop")
    assert searched(stream).found.verdict.kind == kind


@pytest.mark.parametrize("name", SHAPES)
def test_a_recorded_shape_gets_the_verdict_that_it_shows(name: str) -> None:
    stream, kind, severity, about, words = SHAPES[name]
    said = searched(stream).found.verdict
    assert (said.kind, said.severity, said.about) == (kind, severity, about), said.headline
    assert words in said.headline
    assert "model wrote" not in said.headline
    assert not any("built-in" in sentence for sentence in said.sentences)


def test_of_an_error_nothing_is_said_that_follows_from_it() -> None:
    found = searched([*streamed(begun(""), more('{"city": '), finish=None), FAILED]).found
    assert [one.check for one in found.findings] == ["chunk_shape"]
    assert {one.check for one in found.findings[0].follows} == {"arguments_json", "finish_reason"}


def finished(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


@pytest.mark.parametrize(
    ("reasons", "severity", "words"),
    [
        (("tool_calls", "stop"), "error", "It has a second finish reason, `stop`, after `tool_calls`"),
        (("stop", "tool_calls"), "error", "It has a second finish reason, `tool_calls`, after `stop`"),
        (("tool_calls", "tool_calls"), "warning", "It has the finish reason `tool_calls` again."),
    ],
)
def test_a_second_finish_reason_is_told_of_once(reasons: tuple[str, ...], severity: str, words: str) -> None:
    found = searched([*streamed(begun(WHOLE_ARGUMENTS), finish=None), *map(finished, reasons)]).found
    assert [(one.check, one.severity, one.follows) for one in found.findings] == [("chunk_shape", severity, ())]
    assert words in found.verdict.headline


def test_of_arguments_that_a_shape_without_an_end_lacks_it_is_said_how_far_it_was_recorded() -> None:
    message = {"content": None, "tool_calls": [call("", None)]}
    said = searched(answered(message)).found.verdict
    assert said.headline == "The arguments of call 0 (`f`) are empty, as far as it was recorded."


HOW: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str, str | None, str]] = {
    "the stream's own end came": (
        GOOD[:-1], {"done": True}, "parser_flawed", "parser",
        "The server ended its stream without a finish reason.",
    ),
    "it came inside arguments": (
        GOOD[:-2], {"done": True}, "broken_arguments", "parser",
        "end before their JSON does, and what the server sent ends there.",
    ),
    "a whole answer names no reason": (
        answered({"content": "Hi"}, finish_reason=None), {}, "parser_flawed", "parser",
        "The server's answer is whole, and has no finish reason.",
    ),
    "a whole answer ends inside arguments": (
        answered({"content": None, "tool_calls": [call(CUT_ARGUMENTS, None)]}, finish_reason=None), {},
        "broken_arguments", "parser", "end before their JSON does, and what the server sent ends there.",
    ),
    "a chunk is missing of one that names no reason": (
        GOOD[:-1], {"done": True, "gaps": True}, "recording_cut", "request",
        "What was recorded ends before a finish reason",
    ),
    "it came, and all is well": (GOOD, {"done": True}, "all_hold", None, "1 complete call"),
    "chunks are missing": (
        [GOOD[0], GOOD[2], GOOD[3]], {"gaps": True}, "recording_cut", "request",
        "Chunks of what was recorded are missing: from character 0 of the arguments on, what is streamed of call 0",
    ),
    "chunks are missing, and it does not show": (
        streamed({"content": "Hi"}, finish="stop"), {"gaps": True}, "recording_cut", "request",
        "Parts of what was recorded are missing, a chunk or an end: nothing is wrong in what is there.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOW)
def test_how_it_was_recorded_decides_who_answers_for_it(name: str) -> None:
    stream, how, kind, about, words = HOW[name]
    said = searched(stream, how=how).found.verdict
    assert (said.kind, said.about) == (kind, about), said.headline
    assert words in said.headline


BESIDE: dict[str, tuple[str, str | None, str, str, str]] = {
    "a closing marker": (
        "Hm.</think>Hi", None, "marker_leak", "stop",
        "The server left `</think>` in the content; `qwen` reads it as a marker.",
    ),
    "a marker beside one that is text": (
        "Use </tool_call> or not.</think>Hi", None, "marker_leak", "stop", "The server left `",
    ),
    "a marker of the final channel": (
        "<|channel|>final<|message|>Hi", "harmony", "marker_leak", "stop",
        "The server left `<|channel|>` in the content",
    ),
    "all of it": (
        f"<think>Hm.</think>{ONE}", None, "server_unparsed", "stop",
        "The server left markup in the content: it sent the whole",
    ),
    "a call that is cut off": (ONE[:44], None, "recording_cut", "", "What was recorded ends inside a call, before a"),
    "an answer, without a finish reason": ("Well. It may go on", None, "recording_cut", "", "ends before a finish"),
    "a whole call, without a finish reason": (ONE, None, "server_unparsed", "", "it sent the whole output as content"),
}  # fmt: skip


def test_an_error_of_the_server_comes_before_what_it_left() -> None:
    stream = [*streamed({"content": ONE[:20]}, {"content": ONE[20:44]}, finish=None), FAILED]
    body = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": [ONE[:44]], "stream": stream}}
    search = CaseSearch(load_case(body), max_replays=60)
    assert list(search.run())
    said = search.result().found.verdict
    assert (said.kind, said.severity, said.about) == ("server_failed", "error", "parser")
    assert said.headline == "The server ended with an error: out of memory."


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.replays(but=("a marker beside one that is text",))
def test_what_the_server_left_in_a_known_output_comes_first(name: str) -> None:
    """The content is the output itself, as the intake takes it where markers are in it."""
    text, parser, kind, finish, words = BESIDE[name]
    parts = [text[:9], text[9:]]
    stream = streamed(*[{"content": part} for part in parts], finish=finish or None)
    body = {"schema": 1, "parser": {"name": parser or "qwen"}, "input": {"text": [text], "stream": stream}}
    search = CaseSearch(load_case(body), max_replays=60)
    assert list(search.run())
    said = search.result().found.verdict
    assert said.kind == kind, said.headline
    assert words in said.headline


NEEDED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FREE = {"type": "object", "properties": {"city": {"type": "string"}}}
EMPTY = {
    "required": (
        NEEDED,
        "tool_calls",
        "broken_arguments",
        "error",
        "are empty, though the schema requires some, and the",
    ),
    "required, with stop": (NEEDED, "stop", "broken_arguments", "error", "and the finish reason is `stop`"),
    "required, cut off": (NEEDED, "length", "all_hold", "pass", "1 call cut off"),
    "required, cut recording": (NEEDED, None, "recording_cut", "warning", "ends before a finish reason"),
    "nothing required": (FREE, "tool_calls", "all_hold", "pass", "1 call without arguments"),
    "no parameters": (
        {"type": "object", "properties": {}},
        "tool_calls",
        "all_hold",
        "pass",
        "1 call without arguments",
    ),
    "no schema": (None, "tool_calls", "all_hold", "pass", "1 call without arguments"),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("answer", [False, True], ids=["stream", "answer"])
def test_empty_arguments_are_a_fault_where_the_schema_requires_some(name: str, answer: bool) -> None:
    schema, finish, kind, severity, words = EMPTY[name]
    tool = {"name": "f"} if schema is None else {"name": "f", "parameters": schema}
    whole = answered({"tool_calls": [call("", None)]}, finish_reason=finish)
    stream, how = (whole if answer else streamed(begun(""), finish=finish)), {"gaps": answer and finish is None}
    found = searched(stream, how=how, tools=[tool]).found
    assert (found.verdict.kind, found.verdict.severity) == (kind, severity), found.verdict.headline
    assert words in found.verdict.headline
    assert sum(one.severity == "error" for one in found.findings) == (severity == "error"), "one cause, one finding"


ASKED = {
    "required": (
        {"tool_choice": "required"},
        {"content": "Hi"},
        "stop",
        "warning",
        "requires a call (`tool_choice: required`)",
    ),
    "required, cut off": ({"tool_choice": "required"}, {"content": "Hi"}, "length", "info", "length limit cut it off"),
    "named": (
        {"tool_choice": {"name": "f"}},
        {"content": "Hi"},
        "stop",
        "warning",
        "requires a call of `f`, and the server sent none",
    ),
    "another one": (
        {"tool_choice": {"name": "g"}},
        begun(WHOLE_ARGUMENTS),
        "tool_calls",
        "warning",
        "sent only one of `f`",
    ),
    "forbidden": ({"tool_choice": "none"}, begun(WHOLE_ARGUMENTS), "tool_calls", "warning", "forbids calls"),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_server_answers_for_the_call_that_was_asked_for(name: str) -> None:
    context, delta, finish, severity, words = ASKED[name]
    said = searched(streamed(delta, finish=finish), context=context, tools=[{"name": "f"}, {"name": "g"}]).found.verdict
    assert (said.kind, said.severity, said.about) == ("no_answer", severity, "parser"), said.headline
    assert words in said.headline


def test_of_a_cut_recording_nobody_knows_whether_the_call_came() -> None:
    found = searched(streamed({"content": "Hi"}, finish=None), context={"tool_choice": "required"}).found
    assert (found.verdict.kind, "call_as_asked" in found.holding) == ("recording_cut", True)


def test_an_index_from_1_on_is_one_error() -> None:
    found = searched(streamed(begun("", 1), more(WHOLE_ARGUMENTS, 1))).found
    assert [one.check for one in found.findings] == ["index_dense"]


def test_arguments_that_do_not_fit_are_not_called_the_models() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "integer"}}}}]
    said = searched(GOOD, tools=tools).found.verdict
    assert (said.kind, said.headline.split(":")[0]) == ("output_flawed", "Arguments do not fit the schema")
    unknown = searched(GOOD, tools=[{"name": "g"}]).found.verdict
    assert unknown.headline.startswith("A call has a made-up name: `f`")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("content", "parser", "words", "context"),
    [
        (LEFT, "qwen", "1 complete call in it (so do `qwen3`", {}),
        (CODER, "qwen_coder", "1 complete call in it", {}),
        ("Hm.</think>Hi", None, "reasoning, which the prompt opened, in it", {"reasoning_open": True}),
        ("<think>Hm.</think>Hi", None, "reads reasoning in it", {}),
    ],
)
def test_what_leaked_is_offered_for_replay(
    content: str, parser: str | None, words: str, context: dict[str, Any]
) -> None:
    said = searched(streamed({"content": content}, finish="stop")).found.verdict
    assert said.offer == content
    assert said.proof is not None
    assert said.proof.edits == ((0, 0, content),)
    assert said.proof.context == context
    assert parser in (None, said.proof.parser)
    assert words in said.sentences[0]
    again = {"schema": 1, "parser": {"name": said.proof.parser}, "input": {"text": content}, "context": context}
    message = run_case(load_case(again)).trace.message
    assert message.tool_calls or message.reasoning


def test_a_call_that_was_left_in_the_content_is_told_before_the_finish_reason() -> None:
    left = {"content": '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'}
    tools = [{"type": "function", "function": {"name": name}} for name in ("f", "g")]
    result = searched(streamed(begun("{}"), left, finish="stop"), tools=tools).found
    verdict = result.verdict
    assert (verdict.kind, verdict.severity) == ("marker_leak", "error")
    assert any(found.check == "finish_reason" for found in result.findings)


@pytest.mark.replays
@pytest.mark.parametrize("delta", [{"content": "A <tool_call> b"}, {"content": "<tool_call>", "reasoning": "Hm."}])
def test_what_makes_up_no_output_is_not_offered(delta: dict[str, Any]) -> None:
    said = searched(streamed(delta, finish="stop")).found.verdict
    assert (said.kind, said.offer, said.proof) == ("marker_leak", None, None)


def test_what_looks_like_a_call_in_a_recorded_content_is_what_the_server_left() -> None:
    text = 'Let me search. functions.go:0{"to": "Rome"}'
    recorded = {"text": text, "stream": streamed({"content": text}, finish="stop")}
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "passthrough"}, "input": recorded}))
    assert list(search.run())
    said = search.result().found.verdict
    assert (said.kind, said.severity, said.about) == ("server_unparsed", "warning", "request")
    assert said.headline.startswith("The server left markup in the content: `functions.go:0`")
    assert said.sentences[0].startswith("Special tokens may be missing in it")


@pytest.mark.replays
def test_a_paste_that_is_no_output_does_not_pass() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: <tool_call>\n' + ONE
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": [text]}}))
    assert list(search.run())
    said = search.result().found.verdict
    assert (said.kind, said.severity, said.about, said.why) == ("no_output", "warning", "request", Why.NO_OUTPUT)
    assert "a Python traceback" in said.headline
    assert "quoted part" in said.sentences[0]


ERROR = "ERROR 07-21 14:03:55 [serving_chat.py:889] Error in tool parser creation.\n"


def read_as(parser: str, text: str) -> Verdict:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": parser}, "input": {"text": [text]}}))
    assert list(search.run())
    return search.result().found.verdict


@pytest.mark.replays
@pytest.mark.parametrize(
    ("parser", "quote", "fits"),
    [("qwen", CODER, "qwen_coder"), ("qwen", ONE, "qwen"), ("qwen", "<tool_call> and no more", "qwen")],
)
def test_what_a_log_quotes_is_offered(parser: str, quote: str, fits: str) -> None:
    text = f"{ERROR}{quote}\n{ERROR}"
    said = read_as(parser, text)
    assert (said.kind, said.offer) == ("no_output", quote.strip())
    assert said.proof is not None
    assert said.proof.edits == ((0, len(text), said.offer),)
    assert said.proof.parser is not None
    assert fits in (said.proof.parser, parser)


def test_what_an_error_quotes_for_a_parser_of_no_known_format_is_offered_alone() -> None:
    given = replace(replayer(f"{ERROR}<tool_call> and no more\n"), format=None)
    trace = given.trace(WHOLE)
    trace.parser = "mine"
    said = verdict([], trace, given)
    assert (said.kind, said.offer, said.proof) == ("no_output", "<tool_call> and no more", None)


@pytest.mark.replays
def test_what_a_model_may_have_written_is_blamed_with_a_note() -> None:
    said = read_as("qwen", "[2024-03-01 12:00:00] INFO call\n[2024-03-01 12:00:05] WARN <tool_call>{]</tool_call>\n")
    assert said.kind == "no_output"
    said = read_as("qwen", "System: You call tools.\nHuman: Weather?\nAI: <tool_call>{]</tool_call>\nHuman: Well?\n")
    assert said.severity != "pass"
    assert said.sentences[0].startswith("It looks like a whole conversation. If a model wrote it, the verdict stands")


def test_what_a_model_may_have_written_gets_a_note_in_place_of_a_pass() -> None:
    said = read_as("qwen", "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert (said.kind, said.severity) == ("perhaps_no_output", "info")
    assert said.headline == "This may be no output of a model: it looks like a change to source code."


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.replays
def test_a_start_that_was_given_is_not_called_unknown(said: bool) -> None:
    body = {"schema": 1, "parser": {"name": "deepseek_r1"}, "input": {"text": "Hm.</think>Bern."}}
    given = {"context": {"reasoning_open": False}} if said else {}
    search = CaseSearch(load_case({**body, **given}))
    assert list(search.run())
    assert (search.result().found.verdict.kind == "prompt_state_unknown") is not said


# Nothing is said of what is not known: each verdict and each sentence names the facts it rests on.

TEXTS = {"one": f"Hm.</think>{ONE}", "two": f"<think>a</think>{TWO}", "coder": CODER, "cut": ONE[:44], "leak": LEFT}
RECORDED = list(case_names("recorded"))


def given_as(name: str) -> Replayer:
    if name in TEXTS:
        return replayer(TEXTS[name])
    case = case_named(name)
    return replayer_of(case, choose(case), case.pieces() or characters(case.text()))


@pytest.mark.replays
@pytest.mark.parametrize("fact", Fact)
@pytest.mark.parametrize("name", [*TEXTS, *RECORDED])
def test_no_verdict_says_more_than_is_known(name: str, fact: Fact) -> None:
    given = given_as(name)
    known = without(known_of(given), fact)
    trace = given.trace(given.traced)
    whole = trace if given.plays else given.trace(WHOLE)
    report = run_checks(subject_of(given, trace, whole, (), known=known))
    said = verdict(report.findings, trace, given, known=known, held=len(report.holding))
    assert fact not in said.facts
    assert not any(fact in detail.facts for detail in said.details)
    ran = {*report.holding, *[finding.check for finding in report.findings]}
    assert not any(fact in CHECKS[check].facts for check in ran)


@pytest.mark.replays
@pytest.mark.parametrize("name", RECORDED)
def test_without_the_raw_output_another_one_changes_nothing(name: str) -> None:
    given = given_as(name)
    known, trace = without(known_of(given), Fact.RAW), given.trace(given.traced)
    report = run_checks(subject_of(given, trace, trace, (), known=known))
    before = verdict(report.findings, trace, given, known=known)
    trace.text = "<tool_call>" * len(trace.text)
    after = verdict(report.findings, trace, given, known=known)
    assert (before.kind, before.headline, before.sentences) == (after.kind, after.headline, after.sentences)


def test_arguments_that_end_early_are_nobodys_fault_where_the_end_is_not_known() -> None:
    body = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": streamed(begun(CUT_ARGUMENTS))}}
    case = load_case(body)
    given = replayer_of(case, choose(case), ())
    known, trace = without(known_of(given), Fact.FINISH), given.trace(given.traced)
    report = run_checks(subject_of(given, trace, trace, (), known=known))
    said = verdict(report.findings, trace, given, known=known)
    assert (said.kind, said.about) == ("recording_cut", "request")
    assert "finish reason is" not in said.headline


def test_a_server_that_sent_what_its_parser_reads_departs_from_nothing() -> None:
    case = case_named("recorded/beside-the-output")
    given = replayer_of(case, choose(case), case.pieces() or characters(case.text()))
    assert verdict([], given.trace(WHOLE), given).kind == "all_hold"
