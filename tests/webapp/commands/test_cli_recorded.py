"""Cases with a recorded stream on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import case_data, corpus_file

Program = Callable[..., Any]
CASES = corpus_file("recorded")
RIGHT, FAULTY, BESIDE = (f"{CASES}::{name}" for name in ("right", "stop-with-calls", "beside-the-output"))


def test_a_stream_is_replayed_as_it_was_recorded(program: Program) -> None:
    out = program("replay", RIGHT).out
    assert "recorded: Recorded stream" in out
    assert "output    unknown" in out
    assert "as recorded, 12 deltas" in out
    assert "other chunkings: none, a recorded stream has one" in out
    assert "(the raw output is unknown)" in out


def test_another_chunking_of_it_is_a_clear_error(program: Program) -> None:
    done = program("replay", RIGHT, "--chunk", "char")
    assert (done.code, done.out) == (2, "")
    assert "a recorded stream is replayed as it was recorded, under no other chunking" in done.err
    assert program("replay", RIGHT, "--chunk", "recorded").code == 0


def test_another_parser_has_nothing_to_read(program: Program) -> None:
    done = program("replay", RIGHT, "--parser", "qwen")
    assert done.code == 2
    assert "nothing for qwen to parse: use the parser recorded" in done.err


def test_the_stream_beside_an_output_is_played_when_asked_for(program: Program) -> None:
    found = program("replay", BESIDE, "--parser", "recorded", "--json").json
    assert (found["parser"], found["chunking"]["by"]) == ("recorded", "recorded")
    assert [step["text"] for step in found["steps"]][:3] == ["<think>", "\nTwo", " calls"]
    assert "parser    qwen" in program("replay", BESIDE).out


@pytest.mark.parametrize("case", [RIGHT, BESIDE], ids=["stream only", "with its output"])
def test_another_tokenizer_leaves_the_stream(program: Program, case: str) -> None:
    found = program("replay", case, "--tokenizer", "characters", "--parser", "recorded", "--json").json
    assert found["parser"] == "recorded"
    assert program("replay", case, "--tokenizer", "characters", "--parser", "recorded").code == 0


def test_find_judges_it_and_says_that_nothing_was_searched(program: Program) -> None:
    done = program("find", FAULTY)
    assert done.code == 1
    assert "searched  1 replay, 1 outcome" in done.out
    assert "nothing was searched" in done.out
    assert "--chunk recorded" in done.out
    assert program("find", RIGHT).code == 0


def test_check_runs_it_once(program: Program) -> None:
    done = program("check", RIGHT, FAULTY)
    assert done.code == 0
    assert "1 replay," in done.out
    assert "1 ok, 1 known bug" in done.out


def test_the_transcript_is_the_recording_and_a_pytest_file_is_refused(program: Program) -> None:
    sent = case_data("recorded/right")["input"]["stream"]
    lines = program("export", RIGHT, "--to", "sse").out.split("\n\n")
    assert [json.loads(line.removeprefix("data: ")) for line in lines[: len(sent)]] == sent
    refused = program("export", RIGHT, "--to", "pytest")
    assert refused.code == 2
    assert "a recorded stream is played back" in refused.err


@pytest.mark.parametrize("target", ["case", "jsonl", "markdown"])
def test_other_exports_hold_the_stream_and_no_tokens(program: Program, target: str) -> None:
    out = program("export", RIGHT, "--to", target).out
    assert "chat.completion.chunk" in out
    assert '"tokens"' not in out
    if target == "markdown":
        assert "Not recorded: the case holds what the server made of it." in out


def test_a_stream_beside_an_output_is_saved_with_the_tokens_of_that(program: Program, tmp_path: Path) -> None:
    data = case_data("recorded/one-answer")
    data["input"]["stream"].append({"choices": []})
    data["input"]["text"] = "An output."
    (tmp_path / "a.case.json").write_text(json.dumps(data), encoding="utf-8")
    saved = json.loads(program("export", tmp_path / "a.case.json", "--to", "case").out)
    assert "".join([token[1] for token in saved["input"]["tokens"]]) == "An output."
    assert "Nobody knows which of the raw output came with which chunk" in "".join(
        program("replay", tmp_path / "a.case.json", "--json").json["reasons"]
    )
