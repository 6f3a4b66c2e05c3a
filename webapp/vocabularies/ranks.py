"""Byte-level ranks (tiktoken files, Mistral's tekken.json) made into a tokenizer.json with the same ids.

A rank list says which byte strings are tokens; the lower of two ranks is joined first. A `BPE` of the tokenizers
library wants the joins themselves: for each token, every way to cut it into two tokens, by the ranks of its halves.
With `ignore_merges` a word that is a token is taken whole, as tiktoken does (openai/tiktoken, src/lib.rs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.vocabularies.components import Part
from webapp.vocabularies.spelling import spelled


def tokenizer_json(
    ranks: Mapping[bytes, int], regex: str, markers: Mapping[int, tuple[str, bool]], shift: int = 0
) -> Part:
    """A tokenizer.json: `ranks` moved up by `shift`, words cut by `regex`, `markers` by id with their special flag."""
    strings = {raw: spelled(raw) for raw in ranks}
    by_rank = sorted(ranks, key=ranks.__getitem__)
    return {
        "added_tokens": [_added(token_id, *marker) for token_id, marker in sorted(markers.items())],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [_split(regex), _byte_level()]},
        "decoder": _byte_level(),
        "model": {
            "type": "BPE",
            "ignore_merges": True,
            "vocab": {strings[raw]: ranks[raw] + shift for raw in by_rank},
            "merges": [pair for raw in by_rank for pair in _joins(raw, ranks, strings)],
        },
    }


def _joins(raw: bytes, ranks: Mapping[bytes, int], strings: Mapping[bytes, str]) -> list[list[str]]:
    halves = [(raw[:at], raw[at:]) for at in range(1, len(raw)) if raw[:at] in ranks and raw[at:] in ranks]
    halves.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return [[strings[left], strings[right]] for left, right in halves]


def _split(regex: str) -> Part:
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def _byte_level() -> Part:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def _added(token_id: int, content: str, special: bool) -> dict[str, Any]:
    return {"id": token_id, "content": content, "normalized": False, "special": special}
