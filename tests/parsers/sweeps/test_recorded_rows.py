"""What is no table is read by the intake: its outputs are rows, and of what has no text it is said why."""

from __future__ import annotations

import gzip
import json

import pytest

from parsers.cases.io import load_case
from parsers.sweeps.recorded_rows import is_log, is_recording, recorded_rows
from parsers.sweeps.shard import Plan, run_shard
from parsers.sweeps.summary import Skip

LOGGED = "INFO 07-10 12:00:00 [logger.py:43] Generated response cmpl-{}: output: '{}', output_token_ids: {}"
LOG = "\n".join([LOGGED.format("a", "one", "None"), "INFO 07-10 12:00:01 up", LOGGED.format("b", r"t\nwo", "[1, 2]")])
CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"content": "It rains."}, "finish_reason": "stop"}]})
CASE = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "It rains."}}, indent=2)


@pytest.mark.parametrize("data", [LOG.encode(), gzip.compress(LOG.encode())])
def test_each_output_of_a_log_is_a_case(data: bytes) -> None:
    rows = recorded_rows(data, "server.log")
    assert [load_case(row).text() for row in rows] == ["one", "t\nwo"]
    assert rows[0]["parser"] == {"name": "auto"}


def test_the_text_of_tokens_is_that_of_all_of_them() -> None:
    tokens = [{"token": word, "bytes": [*word.encode()], "logprob": 0} for word in ("It ", "rains.")]
    answer = {"choices": [{"index": 0, "message": {"content": None}, "logprobs": {"content": tokens}}]}
    (row,) = recorded_rows(json.dumps(answer).encode(), "answer.json")
    assert row["input"] == {"text": "It rains."}


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (f"data: {CHUNK}\n\ndata: [DONE]\n", "stream.sse", [Skip.PARSED]),
        ("[[1, 2, 3], [4]]", "ids.json", [Skip.IDS]),
        ("", "empty.log", [Skip.NO_OUTPUT]),
        ('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": NaN}}', "a.case.json", [Skip.NO_CASE]),
        ("nothing of interest\n", "server.log", [Skip.NO_OUTPUT]),
    ],
)
def test_what_has_no_text_says_why(data: str, name: str, found: list[Skip]) -> None:
    assert recorded_rows(data.encode(), name) == found


def test_a_text_file_that_is_nothing_else_is_one_output() -> None:
    (row,) = recorded_rows(b"It rains.", "output.txt")
    assert row["input"] == {"text": "It rains."}


def test_a_case_file_is_its_case() -> None:
    (row,) = recorded_rows(CASE.encode(), "a.case.json")
    assert (row["parser"], row["input"]) == ({"name": "qwen"}, {"text": "It rains."})


def test_rows_of_a_table_are_no_recording() -> None:
    assert not is_recording(b'{"output": "It rains."}\n', "a.log")
    assert is_recording(f"{CHUNK}\n".encode(), "a.log")
    assert is_log(LOG.encode(), "a.log")
    assert not is_log(CHUNK.encode(), "a.log")


def test_among_cases_what_is_none_has_no_output() -> None:
    summary = run_shard(Plan({}), [(1, json.loads(CASE)), (2, {"a": 3})], (0, 0)).summary
    assert (summary.outputs, summary.skipped[Skip.NO_OUTPUT].count) == (1, 1)
