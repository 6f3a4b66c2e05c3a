"""A tokenizer for suites that name one on a hub: markers are one token each, other text is cut at words.

Ids are given in the order in which texts are first seen, markers first. What it cuts is not what the model's own
tokenizer would cut; the suites' assertions are about the text. For our own reading by ids the tokens are the model's
own, or else those of the demonstration tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from parsers.formats.model import Format, builtin_formats
from parsers.selection.claims import SHORT, telling_literals
from parsers.vocabulary.types import Piece
from webapp.tokenizers.adapter import markers_of
from webapp.tokenizers.embedded import EMBEDDED
from webapp.tokenizers.installed import PACKAGES
from webapp.tokenizers.library import library

# Formats, by how their names begin, whose models' vocabulary is in a package.
_REAL = {"mistral": "mistral-v13", "deepseek": "deepseek"}


@cache
def _markers() -> tuple[str, ...]:
    """Literals of all formats that are spelled like special tokens, longest first."""
    literals = {text for fmt in builtin_formats().values() for text in telling_literals(fmt)}
    tokens = [
        text for text in literals if re.fullmatch(r"(?:<[^<>\s=\"]+>|\[/?[A-Z_]+\])", text) and len(text) >= SHORT
    ]
    return tuple(sorted(tokens, key=lambda text: (-len(text), text)))


@cache
def _cuts() -> re.Pattern[str]:
    return re.compile("|".join([*map(re.escape, _markers()), r" ?\w{1,5}", r"\s", r"."]), re.DOTALL)


class StandInTokenizer:
    """As much of a tokenizer as the parsers' tests ask for."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {text: number for number, text in enumerate(_markers(), 1)}
        self._texts = {number: text for text, number in self._ids.items()}
        self.all_special_tokens = list(_markers())
        self.all_special_ids = list(self._ids.values())
        self.is_fast = True
        self.eos_token_id = self.bos_token_id = 0

    def __getattr__(self, name: str) -> Any:
        """What else a tokenizer has is not asked by parsers: the test is about the tokenizer."""
        if name.startswith("__") or name == "tokenizer":
            raise AttributeError(name)
        pytest.skip(f"tokenizer: {name}")

    def _id(self, text: str) -> int:
        number = self._ids.setdefault(text, len(self._ids) + 1)
        self._texts[number] = text
        return number

    def tokenize(self, text: str, **_options: Any) -> list[str]:
        """The texts of the tokens."""
        tokens: list[str] = _cuts().findall(text)
        self.encode(text)
        return tokens

    def encode(self, text: str, **_options: Any) -> list[int]:
        """The ids of the tokens."""
        return [self._id(token) for token in _cuts().findall(text)]

    def decode(self, ids: int | Sequence[int], **_options: Any) -> str:
        """The text of some ids."""
        return "".join([self._texts.get(one, "") for one in ([ids] if isinstance(ids, int) else ids)])

    def add_tokens(self, tokens: Sequence[str], **_options: Any) -> int:
        """Give these texts ids."""
        return len([self._id(token) for token in tokens])

    def get_vocab(self) -> dict[str, int]:
        """Ids by text, of all that was seen."""
        return self._ids

    def convert_ids_to_tokens(self, ids: int | Sequence[int], **_options: Any) -> Any:
        """The texts of some ids, or of one."""
        return self._texts.get(ids) if isinstance(ids, int) else [self._texts.get(one, "") for one in ids]

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> Any:
        """The ids of some texts, or of one."""
        return self._id(tokens) if isinstance(tokens, str) else [self._id(token) for token in tokens]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text of some tokens."""
        return "".join(tokens)

    def __len__(self) -> int:
        return len(self._ids)


def decode_next(
    *, tokenizer: Any, all_input_ids: Sequence[int], prev_tokens: list[str] | None, **offsets: Any
) -> tuple[list[str], str, int, int]:
    """The text of the last of some tokens, by the names and in the shape of vLLM's detokenize_incrementally."""
    tokens = tokenizer.convert_ids_to_tokens(all_input_ids if prev_tokens is None else all_input_ids[-1:])
    return tokens, tokens[-1], offsets.get("prefix_offset", 0), offsets.get("read_offset", 0)


@dataclass(frozen=True, slots=True)
class Tokens:
    """An output's tokens, recorded, and the ids of the markers that its vocabulary has."""

    pieces: tuple[Piece, ...]
    ids: Mapping[str, int]


def ordinary_tokens(fmt: Format, text: str) -> Tokens:
    """The tokens of a text in a vocabulary without markers: the demonstration tokenizer's."""
    return Tokens(_recorded(library().get(EMBEDDED, {}, _splits(fmt)).pieces(text)), {})


def special_tokens(fmt: Format, text: str, typed: Collection[int]) -> Tokens:
    """The tokens of a text with its markers as one id each, but for those at the places `typed`, of ordinary tokens.

    The vocabulary is the model's own where a package that is installed has it, else the demonstration tokenizer's.
    """
    name = next((one for start, one in _REAL.items() if fmt.name.startswith(start) and _is_installed(one)), EMBEDDED)
    markers = {text: special for text, special in markers_of(fmt).items() if text.strip() == text}
    tokenizer = library().get(name, markers, _splits(fmt) if name == EMBEDDED else ())
    ids = dict(tokenizer.marker_ids)
    found = re.compile("|".join(map(re.escape, sorted(ids, key=len, reverse=True))) or r"(?!)")
    cuts = [hit.start() + 1 for hit in found.finditer(text) if hit.start() in typed]
    parts = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    return Tokens(_recorded([piece for part in parts for piece in tokenizer.pieces(part)]), ids)


def _recorded(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple([replace(piece, recorded=True) for piece in pieces])


def _splits(fmt: Format) -> tuple[tuple[str, ...], ...]:
    return () if fmt.splits is None else fmt.splits.markup


def _is_installed(name: str) -> bool:
    return PACKAGES[name].source is not None
