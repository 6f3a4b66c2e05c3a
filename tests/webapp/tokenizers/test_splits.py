"""The embedded tokenizer cuts markup as a format's models do, and what was cut without stays what it was."""

from __future__ import annotations

import hashlib

import pytest

from parsers.cases.io import load_case
from parsers.formats.model import builtin_formats
from parsers.replays.cut_grades import Grader
from parsers.replays.replayer import Replayer
from parsers.selection.registry import get_format, maker
from webapp.tokenizers import get_tokenizer, markers_of
from webapp.tokenizers.installed import PACKAGES

CODER = "<tool_call>\n<function=f>\n<parameter=a>\nParis\n</parameter>\n</function>\n</tool_call>"
REAL = {"deepseek": "deepseek", "deepseek_v32": "deepseek", "mistral": "mistral-v3"}


def texts(name: str, text: str, tokenizer: str = "embedded") -> list[str]:
    return [piece.text for piece in get_tokenizer(tokenizer, format=get_format(name)).pieces(text)]


def test_markup_comes_in_the_tokens_that_the_format_says() -> None:
    assert texts("qwen_coder", CODER)[-8:] == [
        "\n", "</", "parameter", ">\n", "</", "function", ">\n", "</tool_call>",
    ]  # fmt: skip


def test_tokens_tile_the_text_and_their_ids_spell_it() -> None:
    for fmt in builtin_formats().values():
        adapter = get_tokenizer(format=fmt)
        assert "".join([piece.text for piece in adapter.pieces(fmt.example)]) == fmt.example
        assert adapter.decode(adapter.encode(fmt.example)) == fmt.example


def test_a_vocabulary_with_splits_only_adds_tokens() -> None:
    fmt = get_format("qwen_coder")
    plain, split = get_tokenizer(markers=markers_of(fmt)), get_tokenizer(format=fmt)
    assert split.marker_ids == plain.marker_ids
    assert split.fingerprint != plain.fingerprint
    ids = {piece.token_id for piece in split.pieces(CODER)}
    added = {one for one in ids if one is not None and plain.token(one).kind == "unknown"}
    assert {split.token(one).text for one in added} == {"parameter"}


def test_a_case_that_was_cut_without_splits_keeps_its_tokens() -> None:
    fmt = get_format("qwen_coder")
    plain = get_tokenizer(markers=markers_of(fmt))
    data = {"schema": 1, "parser": {"name": "qwen_coder"}, "input": {"text": CODER}}
    old = load_case({**data, "tokenizer": {"name": "embedded", "fingerprint": plain.fingerprint}})
    assert get_tokenizer(format=fmt, case=old) is plain
    assert get_tokenizer(format=fmt, case=load_case(data)).fingerprint != plain.fingerprint


def test_ids_of_old_vocabularies_never_change() -> None:
    ids = get_tokenizer(markers=markers_of(get_format("qwen_coder"))).encode(CODER)
    assert hashlib.sha256(repr(ids).encode()).hexdigest()[:16] == "3fcac284e6902cd5"


@pytest.mark.replays
@pytest.mark.parametrize("name", REAL)
def test_a_real_tokenizer_cuts_the_markup_so(name: str) -> None:
    tokenizer = REAL[name]
    if PACKAGES[tokenizer].source is None:
        pytest.skip(f"the package of {tokenizer} is not installed")
    fmt = get_format(name)
    assert fmt.splits is not None
    for parts in fmt.splits.markup:
        text = f"x{''.join(parts)}y"
        own = [piece.text for piece in get_tokenizer(tokenizer, format=fmt).pieces(text)]
        ends = {sum(map(len, own[:count])) for count in range(len(own) + 1)}
        inner = {1 + sum(map(len, parts[:count])) for count in range(1, len(parts))}
        assert inner <= ends, (parts, own)


def test_most_cuts_of_a_pasted_call_are_honest() -> None:
    fmt = get_format("qwen_coder")
    pieces = get_tokenizer(format=fmt).pieces(CODER)
    made = Grader(Replayer(maker(fmt), pieces, format=fmt))
    bounds = [one for one in made.bounds if 0 < one < len(CODER)]
    assert sum([one in made.honest for one in bounds]) > len(bounds) / 2
