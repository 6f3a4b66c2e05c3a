"""Marker texts that are too long for a diagram: each can still be told from the others."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.formats.told_apart import told_apart

TABLE = {
    ("<call>",): ["<call>"],
    ("<|tool_calls_begin|>",): ["<|tool…gin|>"],
    ("<|tool_calls_begin|>", "<|tool_call_end|>"): ["…calls_begin", "…call_end"],
    ("<|tool_calls|>", "<|tool_call_1|>"): ["…calls|>", "…call_1|>"],
    ("<|tool_calls_begin|>", "<|tool.calls_begin|>"): ["…_", "…."],
    ("<a_beginning_1>", "[a_beginning_1]", "[a_beginning_2]"): ["<a_beg…ng_1>", "…1]", "…2]"],
    ("<a_beginning_1>", "<a_beginning_2>", "[a_beginning_1]", "[a_beginning_2]"): [
        *("…1>", "…2>", "…1]", "…2]"),
    ],
    ("<|aaaaaaaaaaaaaaaaaaa|>", "<|aaaaaaaaaaaaaaaaaab|>"): ["<|aaaa…aaa|>", "<|aaaa…aab|>"],
    ("xxxxxxx1xxxxxxx", "xxxxxxx2xxxxxxx"): ["xxxxxxx1xxxxxxx", "xxxxxxx2xxxxxxx"],
}


@pytest.mark.parametrize(("texts", "shown"), TABLE.items())
def test_what_differs_stays(texts: tuple[str, ...], shown: list[str]) -> None:
    assert list(told_apart(texts, 12).values()) == shown


@pytest.mark.parametrize("name", list(builtin_formats()))
@pytest.mark.parametrize("longest", [12, 18])
def test_no_two_markers_of_a_format_look_alike(name: str, longest: int) -> None:
    texts = set(builtin_formats()[name].terminals.values())
    shown = told_apart(texts, longest)
    assert shown.keys() == texts
    assert len(set(shown.values())) == len(texts)
