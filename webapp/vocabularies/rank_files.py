"""Byte-level ranks made into a tokenizer.json with the same ids: tiktoken files, and Mistral's tekken.json.

A rank list says which byte strings are tokens; the lower of two ranks is joined first. A `BPE` of the tokenizers
library wants the joins themselves: for each token, every way to cut it into two tokens, by the ranks of its halves.
With `ignore_merges` a word that is a token is taken whole, as tiktoken does (openai/tiktoken, src/lib.rs).

========  ===========================================================================================================
tiktoken  one base64 token and its rank a line, and nothing else. How words are cut and which tokens are special is
          known for the vocabularies of KNOWN, told apart by how many ranks they have; others are cut as cl100k_base
          cuts, which is approximate. Special tokens that a tokenizer_config.json beside the file names win
tekken    JSON with ranks, the word pattern and the number of special slots; the slots come first, so every rank is
          moved up by their number. Files up to v3 do not name their slots, later formats named more of them
========  ===========================================================================================================

Sources: openai/tiktoken 0.14 (tiktoken_ext/openai_public.py), llama-models 0.3 (llama3 and llama4 tokenizer), Qwen's
published tokenizer.json (Qwen2.5, Qwen3), mistral-common 1.13 (tokens/tokenizers/tekken.py).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from webapp.vocabularies.components import MAX_REGEX, Part
from webapp.vocabularies.plain_json import VocabularyError, require_member, require_type
from webapp.vocabularies.sanitize import MAX_ADDED, MAX_VOCAB
from webapp.vocabularies.spelling import CHAR_OF

Markers = Mapping[int, tuple[str, bool]]

_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} [0-9]{1,7}\r?\n")
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = _ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _REST
QWEN = _ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _REST
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SLOTS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)


class _Known(NamedTuple):
    """Holds what is known of a rank file: its name, its word pattern and its special tokens."""

    name: str
    regex: str
    markers: Markers


def _special(**tokens: int) -> dict[int, tuple[str, bool]]:
    return {token_id: (f"<|{name}|>", True) for name, token_id in tokens.items()}


_HARMONY = _special(startoftext=199998, endoftext=199999, constrain=200003, channel=200005, start=200006, end=200007)
_HARMONY |= {200002: ("<|return|>", True), 200008: ("<|message|>", True), 200012: ("<|call|>", True)}
_LLAMA3 = _special(begin_of_text=128000, end_of_text=128001, finetune_right_pad_id=128004, start_header_id=128006)
_LLAMA3 |= _special(end_header_id=128007, eom_id=128008, eot_id=128009, python_tag=128010)
_LLAMA4 = _special(begin_of_text=200000, end_of_text=200001, header_start=200005, header_end=200006, eom=200007)
_LLAMA4 |= _special(eot=200008, python_start=200016, python_end=200017)
_QWEN = _special(endoftext=151643, im_start=151644, im_end=151645) | {
    151657: ("<tool_call>", False),
    151658: ("</tool_call>", False),
    151665: ("<tool_response>", False),
    151666: ("</tool_response>", False),
    151667: ("<think>", False),
    151668: ("</think>", False),
}
KNOWN: Mapping[int, _Known] = {
    50256: _Known("GPT-2 (r50k_base)", GPT2, _special(endoftext=50256)),
    50280: _Known("p50k_base", GPT2, _special(endoftext=50256)),
    100256: _Known("cl100k_base", CL100K, _special(endoftext=100257, endofprompt=100276)),
    128000: _Known("Llama 3", CL100K, _LLAMA3),
    151643: _Known("Qwen2.5 and Qwen3", QWEN, _QWEN),
    199998: _Known("o200k_harmony", O200K, _HARMONY),
    200000: _Known("Llama 4", O200K, _LLAMA4),
}


_UNKNOWN = _Known("of another size", CL100K, {})


def is_known(data: bytes) -> bool:
    """Return whether it is known how a rank file's words are cut; else they are cut as those of cl100k_base."""
    return sum([not line.isspace() for line in data.splitlines() if line]) in KNOWN


def is_tiktoken(data: bytes) -> bool:
    """Return whether a file begins as a list of ranks."""
    return bool(_LINE.match(data[:4096]))


def tiktoken_json(data: bytes, markers: Markers | None) -> Part:
    """The tokenizer.json for a rank file; `markers` stand in the place of the known ones. Raises VocabularyError."""
    ranks: dict[bytes, int] = {}
    seen: set[int] = set()
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        if len(ranks) >= MAX_VOCAB:
            raise VocabularyError(f"the file has more than {MAX_VOCAB:,} ranks")
        raw, rank = _rank(line, number)
        if raw in ranks or rank in seen:
            raise VocabularyError(f"line {number}: the token or its rank {rank} stands twice; fetch the file again")
        ranks[raw] = rank
        seen.add(rank)
    known = KNOWN.get(len(ranks))
    if known is None and not all(bytes([byte]) in ranks for byte in range(256)):
        raise VocabularyError(
            f"the file has {len(ranks):,} ranks, and not all 256 single bytes are among them; fetch it again"
        )
    known = known or _UNKNOWN
    return _tokenizer_json(ranks, known.regex, known.markers if markers is None else markers)


def _rank(line: bytes, number: int) -> tuple[bytes, int]:
    try:
        token, rank = line.split()
        raw = base64.b64decode(token, validate=True)
        if raw and len(rank) <= 7 and rank.isdigit():
            return raw, int(rank)
    except (ValueError, binascii.Error):
        pass
    raise VocabularyError(f"line {number} is not a base64 token and its rank; fetch the file again")


def is_tekken(data: Any) -> bool:
    """Return whether a parsed file is a tekken.json."""
    return isinstance(data, dict) and isinstance(data.get("vocab"), list) and "config" in data


def tekken_json(data: Any, slots: Mapping[int, str]) -> Part:
    """The tokenizer.json for a tekken.json, with the names of `slots`. Raises VocabularyError."""
    config = require_member(data, "config", dict, "")
    regex = require_member(config, "pattern", str, "/config")
    if len(regex.encode()) > MAX_REGEX:
        raise VocabularyError(f"the pattern has more than {MAX_REGEX:,} bytes", "/config/pattern")
    special = _count(config, "default_num_special_tokens", MAX_ADDED)
    size = _count(config, "default_vocab_size", MAX_VOCAB)
    ranks = _tekken_ranks(data["vocab"][: max(size - special, 0)])
    named = dict(enumerate(SLOTS))
    if data.get("special_tokens") is not None:
        rows = require_type(data["special_tokens"], list, "/special_tokens")
        named = dict(_slot(row, f"/special_tokens/{index}") for index, row in enumerate(rows))
    named |= slots
    markers = {slot: (named.get(slot, f"<SPECIAL_{slot}>"), True) for slot in range(special)}
    return _tokenizer_json(ranks, regex, markers, shift=special)


def _count(config: Part, key: str, most: int) -> int:
    found = require_member(config, key, int, "/config")
    if not 0 <= found <= most:
        raise VocabularyError(f"{found} is out of range: from 0 to {most:,}", f"/config/{key}")
    return found


def _tekken_ranks(rows: list[Any]) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for index, row in enumerate(rows):
        place = f"/vocab/{index}"
        text = require_member(require_type(row, dict, place), "token_bytes", str, place)
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


def _slot(row: Any, place: str) -> tuple[int, str]:
    found = require_type(row, dict, place)
    return require_member(found, "rank", int, place), require_member(found, "token_str", str, place)


def _tokenizer_json(ranks: Mapping[bytes, int], regex: str, markers: Markers, shift: int = 0) -> Part:
    """A tokenizer.json: `ranks` moved up by `shift`, words cut by `regex`, `markers` by id with their special flag."""
    strings = {raw: "".join([CHAR_OF[byte] for byte in raw]) for raw in ranks}
    by_rank = sorted(ranks, key=ranks.__getitem__)
    split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "added_tokens": [
            {"id": token_id, "content": content, "normalized": False, "special": special}
            for token_id, (content, special) in sorted(markers.items())
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "decoder": dict(level),
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
