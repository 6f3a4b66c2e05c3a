"""The prefix of a container or the journal before every line, and the parts of a report that may be data."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake.server_logs import read_server_log
from parsers.intake.surroundings import (
    MOST,
    TRIES,
    blocks_by_kind,
    code_blocks,
    without_prefixes,
)

PREFIXES = [
    "llama-1  | ",
    "[pod/vllm-0/server] ",
    "Nov 22 03:11:12 host llama-server[12]: ",
    "Nov  2 03:11:12 host srv: ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_of_every_line_is_taken_off(prefix: str) -> None:
    lines = ["srv a", "unparsed peg-native output: <tool_call>", "{}", "srv b"]
    body = "\n".join(prefix + line for line in lines) + "\n"
    assert without_prefixes(body) == "\n".join(lines) + "\n"
    found = read_server_log(body)
    assert found is not None
    assert [output.text for output in found.outputs] == ["<tool_call>\n{}"]


@pytest.mark.parametrize("body", ["", "text", "a | b\nc", "\na | b"])
def test_anything_else_stays(body: str) -> None:
    assert without_prefixes(body) == body


def texts(text: str) -> list[list[str]]:
    """The parts of each kind: code blocks, an event stream, JSON."""
    return [[block.text for block in blocks] for blocks in blocks_by_kind(text)]


def test_only_fences_make_blocks_of_code() -> None:
    text = "said:\n\n    set in\n\n> cited\n\n```\na\n```\n"
    assert [block.text for block in code_blocks(text)] == ["a"]


def test_a_longer_fence_ends_a_block_and_a_shorter_one_does_not() -> None:
    text = "````\na\n```\nb\n~~~~\nc\n`````\nd\n```\ne\n``` f\n"
    assert [block.text for block in code_blocks(text)] == ["a\n```\nb\n~~~~\nc", "e\n``` f\n"]


def test_so_many_parts_are_looked_at() -> None:
    assert [len(blocks) for blocks in blocks_by_kind("```\nx\n```\n" * (MOST + 1))] == [MOST, 0, 0]
    assert [len(blocks) for blocks in blocks_by_kind("{}\nx\n" * (MOST + 1))] == [0, 0, MOST]
    assert texts("{\n" * (TRIES - 1) + "{}\n")[2] == ["{}"]
    assert texts("{\n" * TRIES + "{}\n")[2] == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\ndata: 1\n\ndata: 2\nb", "data: 1\n\ndata: 2"),
        ("data: 1\ndata: 2", "data: 1\ndata: 2"),
        ("data: 1\n", None),
        ("a\ndata: 1", None),
        ("a", None),
    ],
)
def test_a_stream_is_its_first_line_to_its_last(text: str, lines: str | None) -> None:
    assert texts(text)[1] == ([] if lines is None else [lines])


PIECES = ("```", "````", "~~~", "  ```", "a", "{}", "{", "[1]", "data:", "\r", "\n", "\n", "\n", " ")


@given(st.lists(st.sampled_from(PIECES)))
def test_every_part_stands_where_it_says(pieces: list[str]) -> None:
    text = "".join(pieces)
    for block in chain.from_iterable(blocks_by_kind(text)):
        assert 0 <= block.start <= block.end <= len(text)
        found = text[block.start : block.end]
        assert "".join(block.text.split()) == "".join(found.split())
