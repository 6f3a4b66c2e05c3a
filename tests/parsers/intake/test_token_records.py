"""Token ids in the ways people paste them, and records of a replay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.token_records import read_replay_record, read_token_ids, read_token_pairs
from parsers.vocabulary.types import Piece

Row = tuple[tuple[int, ...], tuple[int, ...] | None]
IDS: list[tuple[str, list[Row] | None, list[str]]] = [
    ("[1, 2, 3]", [((1, 2, 3), None)], []),
    ("(1, 2)", [((1, 2), None)], []),
    ("[0]", [((0,), None)], []),
    ("[[1], [], [2, 3]]", [((1, 2, 3), (1, 0, 2))], []),
    ("ids = [1, 2]\n>>> ", [((1, 2), None)], []),
    ("1, 2, 3", [((1, 2, 3), None)], []),
    ("1 2\n3\n", [((1, 2, 3), None)], []),
    ("[ 1  2 3]", [((1, 2, 3), None)], []),
    ("1 2 99999999999999", [((1, 2), None)], ["not_an_id"]),
    ("tensor([1, 2])", [((1, 2), None)], []),
    ("np.array([1, 2], dtype=int32)", [((1, 2), None)], []),
    ("tensor([[1, 2]], device='cuda:0')", [((1, 2), None)], []),
    ("torch.tensor([[1, 2],\n [3, 4]])", [((1, 2), None), ((3, 4), None)], []),
    ("[1, 2]\n[3]\n", [((1, 2, 3), (2, 1))], ["lists_joined"]),
    ("[[1], [2]]\n[[3]]", [((1, 2), (1, 1)), ((3,), (1,))], []),
    ("token_ids=[1, 2], text='x'", [((1, 2), None)], []),
    ("'output_token_ids': [[1], [2]]}", [((1, 2), (1, 1))], []),
    ("INFO 11-22 03:00:00 done, token_ids: [1, 2], x", [((1, 2), None)], []),
    ("token_ids=[1, 2", [((1,), None)], ["broken_off"]),
    ("[1, 2, 33", [((1, 2), None)], ["broken_off"]),
    ("[[1], [2, 3", [((1, 2), (1, 1))], ["broken_off"]),
    ("[1, -100, 5000000, 99999999999]", [((1, 5000000), None)], ["not_an_id", "id_out_of_range"]),
    ("tensor([1, ..., 9])", [], ["ids_cut"]),
    ("[[1, 2], ..., [3]]", [], ["ids_cut"]),
    ("token_ids=[1, ..., 2] x", [], ["ids_cut"]),
    ("12", None, []),
    ("1 2", None, []),
    ("1.5 2 3", None, []),
    ("[]", None, []),
    ("[[]]", None, []),
    ("[1.5]", None, []),
    ("[True]", None, []),
    ("[1, 'a']", None, []),
    ("see [1, 2]", None, []),
    ("# Title\n[1, 2]\n", None, []),
    ("[f(1)]", None, []),
    ("tensor(1)", None, []),
    ("tensor([])", None, []),
    ("[1, 2] or so", None, []),
    ("token_ids=[]", None, []),
    ("token_ids=['a']", None, []),
    ("token_ids=(!", None, []),
    ("other([1, 2])", None, []),
]


@pytest.mark.parametrize(("body", "rows", "warnings"), IDS)
def test_ids_are_read_with_what_is_known_of_their_deltas(
    body: str, rows: list[Row] | None, warnings: list[str]
) -> None:
    found = read_token_ids(body)
    assert (None if found is None else [(output.ids, output.counts) for output in found.outputs]) == rows
    assert [warn.code for warn in found.warnings] == warnings if found else not warnings
    assert found is None or (found.usable, found.kind) == (bool(rows), "token_ids")


RECORD: dict[str, Any] = {
    "prompt_token_ids": [1], "output_token_ids": [5, 6, 7], "output_chunk_lens": [1, 2],
    "chat_request": {"model": "m", "messages": [], "tools": []},
}  # fmt: skip
STATED = {
    "chunk": {"object": "chat.completion.chunk"},
    "stream_state": {"output_token_ids": [5], "output_chunk_lens": [1]},
}
RECORDS: list[tuple[str, list[Row] | None, list[str]]] = [
    (json.dumps(RECORD), [((5, 6, 7), (1, 2))], []),
    (repr(RECORD), [((5, 6, 7), (1, 2))], []),
    (json.dumps([RECORD, RECORD]), [((5, 6, 7), (1, 2))] * 2, []),
    (json.dumps({**RECORD, "output_chunk_lens": [1]}), [((5, 6, 7), None)], ["chunk_lengths_wrong"]),
    (json.dumps({"output_token_ids": [5, "x", -1]}), [((5,), None)], ["not_an_id", "chunk_lengths_missing"]),
    (json.dumps(RECORD)[:60], [((5, 6, 7), None)], ["chunk_lengths_missing", "broken_off"]),
    (json.dumps(STATED), [((5,), (1,))], []),
    ("data: " + json.dumps(STATED) + "\n\ndata: {", [((5,), (1,))], ["broken_off"]),
    ("data: " + json.dumps(STATED) + "\n\ndata: {}\n", None, []),
    ('{"output_token_ids": []}', None, []),
    ('{"output_token_ids": 1}', None, []),
    ('the "output_token_ids" are', None, []),
    (json.dumps(RECORD) + " and so on", None, []),
    ('["output_token_ids"]', None, []),
]


@pytest.mark.parametrize(("body", "rows", "warnings"), RECORDS)
def test_records_are_read_with_their_chunk_lengths(body: str, rows: list[Row] | None, warnings: list[str]) -> None:
    found = read_replay_record(body)
    assert (None if found is None else [(output.ids, output.counts) for output in found.outputs]) == rows
    assert [warn.code for warn in found.warnings] == warnings if found else not warnings


SAMPLE: dict[str, Any] = {
    "id": "qwen-1", "vocab": {"<tool_call>": 7}, "tokens": [[7, "<tool_call>"], [8, "é"]], "expected_content": None,
    "expected_reasoning": "r", "expected_tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"arguments": "x"}],
    "tools": [{"type": "function", "function": {"name": "f"}}], "chat_template_kwargs": {"enable_thinking": False},
    "prompt_token_ids": [1, 2],
}  # fmt: skip


def test_a_sample_is_an_output_with_all_that_belongs_to_it() -> None:
    found = recognise(json.dumps(SAMPLE).encode(), pasted=False)
    assert (found.kind, found.title) == ("replay_record", "2 token ids with their texts")
    (output,) = found.outputs
    assert (output.text, output.ids, output.prompt_ids, output.label) == ("<tool_call>é", (7, 8), (1, 2), "qwen-1")
    assert output.pieces == (
        Piece("<tool_call>", 7, b"<tool_call>", "special", recorded=True),
        Piece("é", 8, "é".encode(), recorded=True),
    )
    assert output.request is not None
    assert output.request.tools == tuple(SAMPLE["tools"])
    assert output.request.template_kwargs == {"enable_thinking": False}
    assert output.expect == {
        "reasoning": "r", "tool_calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "", "arguments": {}}],
    }  # fmt: skip


def test_samples_on_lines_are_outputs_of_their_own() -> None:
    lines = [{"tokens": [[1, "a"]]}, {"tokens": [[2, "b"]], "id": "x"}, {"tokens": [[3, "c"]], "id": "x"}]
    found = read_token_pairs("\n".join(map(json.dumps, lines)))
    assert found is not None
    assert [(output.label, output.text, output.expect) for output in found.outputs] == [
        ("sample 1", "a", None), ("x", "b", None), ("x (2)", "c", None),
    ]  # fmt: skip
    assert found.title == "3 token ids with their texts in 3 samples"


def test_pairs_alone_are_tokens() -> None:
    found = read_token_pairs('[[1, "a"], [2, ""]]')
    assert found is not None
    assert found.kind == "token_ids"
    assert [(output.text, output.ids) for output in found.outputs] == [("a", (1, 2))]


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "{}", "[[1]]", '[[1, "a", 2]]', '[["a", 1]]', "[[1, 2]]", '[[1, "\\ud83d"]]', "[1]", '[[1, "a"]] and',
        '{"tokens": []}', '{"tokens": [[1, "a"]]} {}', '{"tokens"', "text",
    ],
)  # fmt: skip
def test_other_text_is_not_taken(body: str) -> None:
    assert read_token_pairs(body) is None
