"""Outputs that vLLM logs: what each line holds, and what stands there in place of a text."""

from __future__ import annotations

import pytest

from parsers.intake.server_logs import read_server_log

PREFIX = "(APIServer pid=12) INFO 11-22 03:11:12 [logger.py:70] Generated response "
Row = tuple[str, str | None, tuple[int, ...] | None, tuple[int, ...] | None, int | None, str | None]
# lines, [(label, text, ids, counts, chunks, finish reason)], warnings
VLLM: list[tuple[str, list[Row], list[str]]] = [
    (
        "chatcmpl-1: output: 'hi', output_token_ids: [1, 2], finish_reason: stop",
        [("", None, (1, 2), None, 1, "stop")],
        ["parsed"],
    ),
    (
        "chatcmpl-1: output: '<think>x</think>', finish_reason: stop",
        [("", "<think>x</think>", None, None, None, "stop")],
        ["special_tokens"],
    ),
    ("chatcmpl-1: output: 'hi', finish_reason: None", [("", None, None, None, 1, None)], ["parsed"]),
    (
        "cmpl-1: output: 'hi', output_token_ids: None, finish_reason: length",
        [("", "hi", None, None, None, "length")],
        ["special_tokens"],
    ),
    ("c (streaming complete): output: 'half", [("", "half", None, None, None, None)], ["broken_off", "special_tokens"]),
    (
        f"c (streaming complete): output: {'a' * 100!r}",
        [("", "a" * 100, None, None, None, None)],
        ["text_maybe_cut", "special_tokens"],
    ),
    (
        f"c (streaming complete): output: 'abcdefghij', output_token_ids: {list(range(10))}",
        [("", "abcdefghij", tuple(range(10)), None, None, None)],
        ["text_cut", "special_tokens"],
    ),
    ("c (streaming complete) details: output_token_ids: [7, 8]", [("", None, (7, 8), None, None, None)], []),
    ("c (streaming complete) details: output_token_ids: [7, 8", [], []),
    (
        "c (streaming complete): output: '\\ud83d'",
        [("", "\ufffd", None, None, None, None)],
        ["special_tokens", "lossy_text"],
    ),
    (
        f"c (streaming delta): output: 'a', output_token_ids: [1]\n{PREFIX}c (streaming delta): output: 'b', "
        "output_token_ids: [2, 3], finish_reason: stop",
        [("", None, (1, 2, 3), (1, 2), 2, "stop")],
        ["parsed", "ids_swallowed"],
    ),
    (
        f"c (streaming delta): output: 'a'\n{PREFIX}d (streaming delta): output: 'b'",
        [("c", None, None, None, 1, None), ("d", None, None, None, 1, None)],
        ["parsed"],
    ),
    (
        "c (streaming delta) details: output_token_ids: [4]",
        [("", None, (4,), (1,), 1, None)],
        ["parsed", "ids_swallowed"],
    ),
    ("c was slow: no output", [], []),
]


@pytest.mark.parametrize(("lines", "rows", "warnings"), VLLM)
def test_lines_of_vllm_are_taken_by_request(lines: str, rows: list[Row], warnings: list[str]) -> None:
    found = read_server_log(PREFIX + lines + "\n")
    outputs = found.outputs if found else ()
    assert [
        (o.label, o.text, o.ids, o.counts, None if o.stream is None else len(o.stream), o.finish_reason)
        for o in outputs
    ] == rows
    assert [warn.code for warn in found.warnings] == warnings if found else not warnings


def test_advice_follows_from_what_is_there() -> None:
    for line, part in (("output: 'a'", "chatcmpl"), ("output: 'a', output_token_ids: [1]", "chatcmpl")):
        found = read_server_log(f"{PREFIX}{part}-1: {line}")
        assert found is not None
        assert ("tokenizer" in found.advice) == ("ids" in line)


def test_a_prompt_that_breaks_off_is_not_taken() -> None:
    found = read_server_log(f"Received request cmpl-1: prompt: 'half\n{PREFIX}cmpl-1: output: 'a'")
    assert found is not None
    assert found.outputs[0].prompt_text is None


def line(mode: str, text: str, tail: str = "") -> str:
    return f"{PREFIX}chatcmpl-7 (streaming {mode}): output: {text!r}{tail}\n"


STAND_IN = line("complete", "<streaming_complete: 4 tokens>", ", finish_reason: streaming_complete")
UNPARSED = line("delta", '<tool_call>\n{"name": "feed_cat", ') + line("delta", '"arguments": {}}\n</tool_call>')


def test_deltas_that_no_parser_took_apart_are_the_output_and_a_stand_in_is_none() -> None:
    found = read_server_log(UNPARSED + STAND_IN)
    output = found.outputs[0] if found else None
    assert output is not None
    assert output.text == '<tool_call>\n{"name": "feed_cat", "arguments": {}}\n</tool_call>'
    assert len(output.deltas or ()) == 2


def test_a_log_that_has_only_the_stand_in_says_which_lines_are_missing() -> None:
    found = read_server_log(STAND_IN)
    assert found is not None
    assert not found.usable
    assert "--enable-log-deltas" in found.advice


# the text of a delta, what its chunk says
WRAPPED: list[tuple[str, dict[str, object]]] = [
    ("[reasoning: The cat ]", {"reasoning": "The cat "}),
    ("Fed. [reasoning: sure]", {"content": "Fed.", "reasoning": "sure"}),
    ('[tool_calls: {"gram]', {"tool_calls": [{"index": 0, "function": {"arguments": '{"gram'}}]}),
    (
        "So [reasoning: x] [tool_calls: s]",
        {"content": "So", "reasoning": "x", "tool_calls": [{"index": 0, "function": {"arguments": "s"}}]},
    ),
    ("a list[reasoning: 1]", {"content": "a list[reasoning: 1]"}),
    ("[reasoning: open", {"content": "[reasoning: open"}),
]


@pytest.mark.parametrize(("text", "delta"), WRAPPED)
def test_the_wrappers_of_a_delta_are_no_content(text: str, delta: dict[str, object]) -> None:
    found = read_server_log(line("delta", text) + STAND_IN)
    assert found is not None
    assert [chunk["choices"][0]["delta"] for chunk in found.outputs[0].stream or ()] == [delta]
    assert found.outputs[0].gaps == ("tool_calls" in delta)


def test_a_delta_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    found = read_server_log(line("delta", "[tool_calls: {").rstrip().removesuffix("'"))
    assert found is not None
    assert "broken_off" in [warn.code for warn in found.warnings]
    assert (found.outputs[0].stream or ())[0]["choices"][0]["delta"] == {
        "tool_calls": [{"index": 0, "function": {"arguments": "{"}}]
    }


# the described calls of an answer, names and arguments
DESCRIBED: list[tuple[str, list[tuple[str, str]]]] = [
    ('[tool_calls: feed({"n": ")"}), pet({})]', [("feed", '{"n": ")"}'), ("pet", "{}")]),
    ('[tool_calls: feed({"n": 1)]', [("feed", '{"n": 1')]),
    ("[tool_calls: none]", []),
    ("[tool_calls: (x)]", []),
]


@pytest.mark.parametrize(("text", "calls"), DESCRIBED)
def test_calls_that_an_answer_describes_are_no_content(text: str, calls: list[tuple[str, str]]) -> None:
    found = read_server_log(f"{PREFIX}chatcmpl-7: output: {text!r}, finish_reason: stop")
    message = (found.outputs[0].stream or ())[0]["choices"][0]["message"] if found else {}
    functions = [call["function"] for call in message.get("tool_calls", [])]
    assert [(one["name"], one["arguments"]) for one in functions] == calls
    assert message["content"] == (None if calls else text)
