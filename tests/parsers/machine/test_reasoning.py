"""What ids say about reasoning, and where a prompt makes an output begin."""

from __future__ import annotations

import pytest

from parsers.machine.reasoning import (
    content_ids,
    count_reasoning_tokens,
    is_reasoning_end,
    marked_reasoning_tokens,
    prompt_opens,
    reasoning_markers,
)
from parsers.replays.chunking import Chunking, apply
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context, Piece
from tests.parsers.parsing import calls, deltas, trace_of

QWEN = get_format("qwen")
START, END, WORD = 1, 2, 9
VOCABULARY = {"<think>": START, "</think>": END}


@pytest.mark.parametrize(
    ("name", "openers", "closers"),
    [
        ("qwen", ("<think>",), ("</think>",)),
        ("mistral", ("[THINK]", "<think>"), ("[/THINK]", "</think>")),
        ("llama", (), ()),
        ("passthrough", (), ()),
    ],
)
def test_a_format_knows_its_reasoning_markers(name: str, openers: tuple[str, ...], closers: tuple[str, ...]) -> None:
    markers = reasoning_markers(get_format(name))
    assert (markers.openers, markers.closers) == (openers, closers)


@pytest.mark.parametrize(
    ("tail", "opened"),
    [
        (None, False),
        ("", False),
        ("<|im_start|>assistant\n", False),
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<think>a</think>b<think>", True),
    ],
)
def test_the_end_of_the_prompt_says_where_an_output_begins(tail: str | None, opened: bool) -> None:
    assert prompt_opens(QWEN, tail) is opened
    message = trace_of("qwen", "why</think>so", context=Context(prompt_tail=tail)).message
    assert message.content == ("so" if opened else "whyso")
    assert message.reasoning == ("why" if opened else None)


@pytest.mark.parametrize(
    ("ids", "opened", "ended"),
    [
        ([], False, True),
        ([], True, False),
        ([WORD], False, False),
        ([START, WORD], False, False),
        ([START, WORD, END], False, True),
        ([WORD, END, WORD], True, True),
        ([START, WORD, END, START], False, False),
    ],
)
def test_the_last_marker_says_whether_reasoning_has_ended(ids: list[int], opened: bool, ended: bool) -> None:
    assert is_reasoning_end(QWEN, ids, VOCABULARY, opened=opened) is ended


@pytest.mark.parametrize(
    ("ids", "content"),
    [
        ([], []),
        ([WORD, WORD], [WORD, WORD]),
        ([START, WORD, END, 7, 8], [7, 8]),
        ([START, END, 7, END, 8], [8]),
    ],
)
def test_content_is_what_follows_the_last_closer(ids: list[int], content: list[int]) -> None:
    assert content_ids(QWEN, ids, VOCABULARY) == content


@pytest.mark.parametrize(
    ("ids", "count"),
    [
        ([], 0),
        ([WORD, WORD, END], 0),
        ([START, 9, START, 9, END, 9, END, 9], 3),
        ([END, START, 9, END, 9], 1),
    ],
)
def test_ids_alone_count_what_stands_between_markers(ids: list[int], count: int) -> None:
    assert marked_reasoning_tokens(QWEN, ids, VOCABULARY) == count


@pytest.mark.parametrize(
    ("pieces", "opened", "count"),
    [
        (["<think>", "a", " b", "</think>", "c"], False, 2),
        (["a", " b", "</think>", "c"], True, 2),
        (["a", "b"], False, 0),
        (["<think>a", "", "b</think>c"], False, 2),
        ([], False, 0),
    ],
)
def test_a_replay_counts_reasoning_whoever_opened_it(pieces: list[str], opened: bool, count: int) -> None:
    trace = trace_of("qwen", fed=deltas(*pieces), context=Context(reasoning_open=opened))
    assert count_reasoning_tokens(trace) == count


def test_without_tools_a_call_marker_ends_reasoning_and_is_content() -> None:
    text = 'why<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    for size in (1, 5, 100):
        fed = apply(Chunking(by="char", size=size), tuple([Piece(char) for char in text]), "text")
        context = Context(reasoning_open=True, tool_choice="none")
        message = trace_of("qwen", fed=fed, context=context).message
        assert (message.reasoning, message.content, calls(message)) == ("why", text[3:], [])
