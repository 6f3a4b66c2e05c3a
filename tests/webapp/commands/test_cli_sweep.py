"""`sweep` and `corpus make`: from a generated corpus to the table of what is wrong with it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]


@pytest.fixture
def corpus(program: Program, tmp_path: Path) -> Path:
    path = tmp_path / "new" / "corpus.jsonl"
    how = ("--format", "qwen,mistral", "--malformed", "0.5", "--fault", "unknown_tool", "--seed", "2")
    done = program("corpus", "make", path, "--count", "12", *how)
    assert (done.code, done.out) == (0, "")
    assert f"12 outputs written to {path}" in done.err
    return path


@pytest.mark.replays
def test_what_was_planted_is_found_and_nothing_else(program: Program, corpus: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    planted = [f"{corpus}:{number}" for number, row in enumerate(rows, 1) if "planted" in row]
    done = program("sweep", corpus, "-o", tmp_path / "out", "--json")
    (found,) = done.json["signatures"]
    assert (done.code, found["check"], found["count"]) == (1, "known_tool", len(planted))
    assert found["examples"] == planted[:3]
    assert "columns: text=output (guessed), title=id (guessed)" in done.err
    case = tmp_path / "out" / "cases" / f"{found['id']}.case.json"
    assert json.loads(case.read_text("utf-8")) == found["smallest"]["case"]
    text = program("sweep", corpus, "-o", tmp_path / "out", "--jobs", "1")
    assert (text.code, text.out.splitlines()[0]) == (1, done.json["sentence"])
    assert "the tool is not declared in the name" in text.out
    assert "read by: mistral 6" in text.out


def test_a_corpus_with_which_nothing_is_wrong_passes(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"said": "It rains."}\n{"said": "It rains."}\n{\n')
    done = program("sweep", path, "--column", "text=said", "--parser", "qwen", "--policy", "reasoning_tail=keep")
    assert done.code == 0
    assert "Nothing is wrong with any of 2 outputs." in done.out
    assert "the same as one before: 1 output" in done.out
    assert f"not read: 1 row: the line is no JSON ({path}:3)" in done.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("sweep", "none.jsonl"), "there is no such file"),
        (("sweep", "{}", "--policy", "x"), "--policy x: give it as KEY=VALUE"),
        (("sweep", "{}", "--column", "x"), "--column 'x': give a column as KEY=PATH"),
        (("sweep", "{}", "--parser", "nonsense"), "nonsense"),
        (("sweep", "--dask"), "give a CORPUS"),
        (("sweep", "--dask", "none.jsonl"), "none.jsonl: there is no such file"),
        (("sweep", "{}", "--dask", "tcp://127.0.0.1:1", "--jobs", "2"), "is up to the workers of the scheduler"),
        (("corpus", "make", "-", "--fault", "x"), "--fault x: there is no fault of that name"),
        (("corpus", "make", "-", "--malformed", "0.6", "--truncated", "0.6"), "together at most 1"),
        (("corpus", "make", "-", "--format", ","), "--format: give the name of a format"),
        (("corpus", "make", "-", "--tools", "{}"), "tools are declared as"),
        (("corpus", "make", "{}/a.jsonl"), "cannot be written"),
    ],
)
def test_a_mistake_is_one_line(program: Program, tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"output": "It rains."}]')
    done = program(*[arg.replace("{}", str(path)) for arg in args])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_a_corpus_goes_to_standard_output_or_is_packed(program: Program, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools.write_text(json.dumps({"type": "function", "function": {"name": "f", "parameters": schema}}))
    how = ("--count", "3", "--tools", tools, "--words", "5", "--format", "qwen")
    printed = program("corpus", "make", "-", *how)
    assert {tool["function"]["name"] for line in printed.out.splitlines() for tool in json.loads(line)["tools"]} == {
        "f"
    }
    packed = tmp_path / "a.jsonl.gz"
    program("corpus", "make", packed, *how)
    assert gzip.decompress(packed.read_bytes()).decode() == printed.out


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_a_corpus_and_is_not_kept(program: Program, tmp_path: Path, pack: Any) -> None:
    rows = b'{"output": "It rains."}\n{\n'
    for _ in range(2):  # taken up again
        done = program("sweep", "-", "--parser", "qwen", "-o", tmp_path / "out", stdin=pack(rows))
        assert (done.code, done.out.splitlines()[0]) == (0, "Nothing is wrong with any of 1 output.")
        assert "not read: 1 row: the line is no JSON (-:2)" in done.out
    assert not (tmp_path / "out" / "stdin").exists()
    other = program("sweep", "-", "--parser", "qwen", "-o", tmp_path / "out", stdin=pack(rows + rows))
    assert (other.code, "holds another sweep" in other.err) == (2, True)
    (tmp_path / "file").write_text("")
    assert "standard input cannot be kept" in program("sweep", "-", "-o", tmp_path / "file", stdin=rows).err


def test_a_log_of_a_server_is_a_corpus(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(
        "INFO 07-10 12:00:00 [logger.py:43] Generated response cmpl-1: output: 'It rains.', output_token_ids: None\n"
    )
    done = program("sweep", tmp_path, "--parser", "qwen")
    assert (done.code, done.out.splitlines()[0]) == (0, "Nothing is wrong with any of 1 output.")
    assert "columns:" not in done.err


@pytest.mark.slow
@pytest.mark.replays
@pytest.mark.parametrize("args", [("--dask", "{}"), ("{}", "--dask", "--jobs", "1")])
def test_a_cluster_of_this_machine_runs_the_parts(program: Program, tmp_path: Path, args: tuple[str, ...]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"output": "It rains."}\n')
    done = program("sweep", "--parser", "qwen", *[arg.replace("{}", str(path)) for arg in args])
    assert (done.code, done.out.splitlines()[0]) == (0, "Nothing is wrong with any of 1 output.")
