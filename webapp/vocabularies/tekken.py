"""Mistral's tekken.json as a tokenizer.json.

The file has ranks, the word pattern and the number of special slots; the slots come first, so every rank is moved up
by their number. Files up to v3 do not name their slots; the names are those of mistral-common 1.13
(tokens/tokenizers/tekken.py). Later formats kept the vocabulary and named more slots: `slots` gives such names.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from webapp.vocabularies.components import MAX_REGEX, Part
from webapp.vocabularies.plain_json import VocabularyError, member, typed
from webapp.vocabularies.ranks import tokenizer_json
from webapp.vocabularies.sanitize import MAX_ADDED, MAX_VOCAB

NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)


def is_tekken(data: Any) -> bool:
    """Whether a parsed file is a tekken.json."""
    return isinstance(data, dict) and isinstance(data.get("vocab"), list) and "config" in data


def converted(data: Any, slots: Mapping[int, str]) -> Part:
    """The tokenizer.json for a tekken.json. Raises VocabularyError for one that is not whole."""
    config = member(data, "config", dict, "")
    regex = member(config, "pattern", str, "/config")
    if len(regex.encode()) > MAX_REGEX:
        raise VocabularyError(f"the pattern has more than {MAX_REGEX:,} bytes", "/config/pattern")
    special = _count(config, "default_num_special_tokens", MAX_ADDED)
    size = _count(config, "default_vocab_size", MAX_VOCAB)
    ranks = _ranks(data["vocab"][: max(size - special, 0)])
    return tokenizer_json(ranks, regex, _markers(data, special) | _named(slots, special), shift=special)


def _count(config: Part, key: str, most: int) -> int:
    found = member(config, key, int, "/config")
    if not 0 <= found <= most:
        raise VocabularyError(f"{found} is out of range: from 0 to {most:,}", f"/config/{key}")
    return found


def _ranks(rows: list[Any]) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for index, row in enumerate(rows):
        place = f"/vocab/{index}"
        text = member(typed(row, dict, place), "token_bytes", str, place)
        try:
            raw = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise VocabularyError("the bytes are not base64; fetch the file again", f"{place}/token_bytes") from None
        if row.get("rank") != index:
            raise VocabularyError(f"the rank is not {index}; ranks must be in order", f"{place}/rank")
        if not raw or raw in ranks:
            raise VocabularyError("the token is empty or stands twice; fetch the file again", f"{place}/token_bytes")
        ranks[raw] = index
    return ranks


def _markers(data: Part, count: int) -> dict[int, tuple[str, bool]]:
    named = dict(enumerate(NAMES))
    if data.get("special_tokens") is not None:
        rows = typed(data["special_tokens"], list, "/special_tokens")
        named = dict(_slot(row, f"/special_tokens/{index}") for index, row in enumerate(rows))
    return {slot: (named.get(slot, f"<SPECIAL_{slot}>"), True) for slot in range(count)}


def _slot(row: Any, place: str) -> tuple[int, str]:
    found = typed(row, dict, place)
    return member(found, "rank", int, place), member(found, "token_str", str, place)


def _named(slots: Mapping[int, str], count: int) -> dict[int, tuple[str, bool]]:
    return {slot: (name, True) for slot, name in slots.items() if slot < count}
