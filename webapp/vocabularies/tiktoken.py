"""tiktoken rank files (one base64 token and its rank a line) as a tokenizer.json.

Such a file has neither the pattern that cuts words nor the special tokens. Both are known for the vocabularies below,
told apart by how many ranks they have; special tokens that a tokenizer_config.json beside the file names win.
Sources: openai/tiktoken 0.14 (tiktoken_ext/openai_public.py), llama-models 0.3 (llama3 and llama4 tokenizer), Qwen's
published tokenizer.json (Qwen2.5, Qwen3).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import NamedTuple

from webapp.vocabularies.components import Part
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.ranks import tokenizer_json
from webapp.vocabularies.sanitize import MAX_VOCAB

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


class Vocabulary(NamedTuple):
    """What is known of a rank file: its name, its word pattern and its special tokens."""

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
KNOWN: Mapping[int, Vocabulary] = {
    50256: Vocabulary("GPT-2 (r50k_base)", GPT2, _special(endoftext=50256)),
    50280: Vocabulary("p50k_base", GPT2, _special(endoftext=50256)),
    100256: Vocabulary("cl100k_base", CL100K, _special(endoftext=100257, endofprompt=100276)),
    128000: Vocabulary("Llama 3", CL100K, _LLAMA3),
    151643: Vocabulary("Qwen2.5 and Qwen3", QWEN, _QWEN),
    199998: Vocabulary("o200k_harmony", O200K, _HARMONY),
    200000: Vocabulary("Llama 4", O200K, _LLAMA4),
}


def is_tiktoken(data: bytes) -> bool:
    """Whether a file begins as a list of ranks."""
    return bool(_LINE.match(data[:4096]))


def converted(data: bytes, markers: Markers | None) -> Part:
    """The tokenizer.json for a rank file; `markers` stand in the place of the known ones."""
    ranks = _ranks(data)
    known = KNOWN.get(len(ranks))
    if known is None:
        raise VocabularyError(
            f"the file has {len(ranks):,} ranks and does not say how words are cut, and no vocabulary of this size is"
            f" known ({', '.join(f'{v.name}: {n:,}' for n, v in KNOWN.items())}); give the model's tokenizer.json"
        )
    return tokenizer_json(ranks, known.regex, known.markers if markers is None else markers)


def _ranks(data: bytes) -> dict[bytes, int]:
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
    return ranks


def _rank(line: bytes, number: int) -> tuple[bytes, int]:
    try:
        token, rank = line.split()
        raw = base64.b64decode(token, validate=True)
        if raw and len(rank) <= 7 and rank.isdigit():
            return raw, int(rank)
    except (ValueError, binascii.Error):
        pass
    raise VocabularyError(f"line {number} is not a base64 token and its rank; fetch the file again")
