"""The tokenizer in the header of a GGUF file: its tokens, kinds, scores or merges, and its chat template.

A model file has gigabytes, and what is read here stands before the tensors: nothing behind the header is looked at, and
a file that was cut off behind it is whole for us. Layout: ggml-org/ggml, docs/gguf.md (version 3; 2 is the same). What
the names of `tokenizer.ggml.model` and `.pre` mean: ggml-org/llama.cpp, src/llama-vocab.cpp (2025).

========  ===========================================================================================================
llama     SentencePiece BPE: pieces with scores and kinds
t5        SentencePiece Unigram, with the table of its normal form
gpt2      byte-level BPE with merges; `pre` names how words are cut
========  ===========================================================================================================
"""

from __future__ import annotations

import base64
import struct
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.vocabularies.components import Part
from webapp.vocabularies.piece_table import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Algorithm, piece_table
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.rank_files import CL100K, GPT2, O200K, QWEN

MAGIC = b"GGUF"
MOST_HEADER = 64_000_000  # of the file: the largest vocabularies take some 20,000,000
_MOST_KEYS = 10_000
_SECTION = "tokenizer."
_NUMBERS: Mapping[int, str] = {
    **{0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"},
}
_STRING, _ARRAY = 8, 9
_CUT_OFF = "the GGUF header is not whole; give the beginning of the file up to the first tensor"

_DIGITS = r"\p{N}"
_DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# How words are cut, by the name in the file.
WORDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "granite-docling"), (GPT2,)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "smaug-bpe", "dbrx"), (CL100K,)),
    **dict.fromkeys(("qwen2", "stablelm2", "hunyuan", "deepseek-r1-qwen", "solar-open"), (QWEN,)),
    **dict.fromkeys(("gpt-4o", "llama4", "minimax-m2"), (O200K,)),
    **dict.fromkeys(("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone"), (_DIGITS, GPT2)),
    **dict.fromkeys(("deepseek-v3", "hunyuan-dense"), _DEEPSEEK),
    "tekken": (_TEKKEN,),
}
_WHOLE_WORDS = frozenset(("llama-bpe", "llama3", "llama-v3", "tekken"))


def is_gguf(data: bytes) -> bool:
    """Return whether a file begins as a GGUF file."""
    return data.startswith(MAGIC)


def gguf_metadata(data: bytes) -> dict[str, Any]:
    """What the header says of the tokenizer, by key without `tokenizer.`. Raises VocabularyError."""
    try:
        return _metadata(_Reader(data))
    except (struct.error, UnicodeDecodeError, IndexError):
        raise VocabularyError(_CUT_OFF) from None


def gguf_tokenizer(data: bytes) -> Part:
    """The tokenizer.json or the table of pieces in a GGUF file. Raises VocabularyError."""
    found = gguf_metadata(data)
    kind = found.get("ggml.model")
    tokens = _list_of(found, "ggml.tokens", str)
    if kind == "gpt2":
        return _byte_level(found, tokens)
    if kind in ("llama", "t5"):
        return _pieces("bpe" if kind == "llama" else "unigram", found, tokens)
    raise VocabularyError(f"the GGUF file has the tokenizer {str(kind)[:40]!r}; llama, t5 and gpt2 are read")


def gguf_config(data: bytes) -> dict[str, Any]:
    """What a tokenizer_config.json would say: the chat template, and the special tokens that it writes."""
    found = gguf_metadata(data)
    tokens = _list_of(found, "ggml.tokens", str)
    config: dict[str, Any] = {"chat_template": found.get("chat_template")}
    for name, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"), ("sep", "seperator")):
        at = found.get(f"ggml.{key}_token_id")
        if isinstance(at, int) and 0 <= at < len(tokens):
            config[f"{name}_token"] = tokens[at]
    return config


def _metadata(reader: _Reader) -> dict[str, Any]:
    magic, version, _tensors, count = reader.take("<4sIQQ")
    if magic != MAGIC or version not in (2, 3) or count > _MOST_KEYS:
        raise VocabularyError(f"the GGUF file is of version {version} with {count:,} keys; 2 and 3 are read")
    found: dict[str, Any] = {}
    for _ in range(count):
        key = reader.text()
        (kind,) = reader.take("<I")
        wanted = key.startswith(_SECTION)
        value = reader.value(kind, wanted=wanted)
        if wanted:
            found[key.removeprefix(_SECTION)] = value
    if "ggml.tokens" not in found:
        raise VocabularyError("the GGUF file has no tokenizer; give the model file, not an adapter or a projector")
    return found


class _Reader:
    """Takes values from the front of a header. Raises struct.error where it ends."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def raw(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise VocabularyError(_CUT_OFF)
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        return self.raw(*self.take("<Q")).decode()

    def value(self, kind: int, *, wanted: bool) -> Any:
        """A value; None for one that is only passed over."""
        if kind == _ARRAY:
            inner, count = self.take("<IQ")
            return self._array(inner, count, wanted=wanted)
        if kind == _STRING:
            return self.text() if wanted else self.raw(*self.take("<Q")) and None
        return self.take(f"<{self._letter(kind)}")[0]

    def _array(self, kind: int, count: int, *, wanted: bool) -> list[Any] | None:
        if kind == _STRING:
            if count * 8 > len(self._data) - self._at:
                raise VocabularyError(_CUT_OFF)
            found = [self.raw(*self.take("<Q")) for _ in range(count)]
            return [one.decode("utf-8", "replace") for one in found] if wanted else None
        letter = self._letter(kind)
        raw = self.raw(count * struct.calcsize(f"<{letter}"))
        return list(struct.unpack(f"<{count}{letter}", raw)) if wanted else None

    def _letter(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise VocabularyError(f"the GGUF header has a value of the unknown kind {kind}; fetch the file again")
        return _NUMBERS[kind]


def _list_of(found: Mapping[str, Any], key: str, kind: type[Any], size: int | None = None) -> list[Any]:
    rows = found.get(key)
    if not isinstance(rows, list) or not all(map(kind.__instancecheck__, rows)) or size not in (None, len(rows)):
        raise VocabularyError(f"the GGUF file has no whole list {_SECTION}{key}; fetch the file again")
    return rows


def _kinds(found: Mapping[str, Any], tokens: list[str]) -> list[int]:
    if "ggml.token_type" not in found:
        return [NORMAL] * len(tokens)
    return _list_of(found, "ggml.token_type", int, len(tokens))


def _pieces(algorithm: Algorithm, found: Mapping[str, Any], tokens: list[str]) -> Part:
    kinds = _kinds(found, tokens)
    scores = _list_of(found, "ggml.scores", float, len(tokens))
    unknown = found.get("ggml.unknown_token_id", 0)
    if UNKNOWN not in kinds and isinstance(unknown, int) and 0 <= unknown < len(tokens):
        kinds = [UNKNOWN if at == unknown else kind for at, kind in enumerate(kinds)]
    map_of = found.get("ggml.precompiled_charsmap") or []
    charsmap = array("B", [byte & 255 for byte in map_of if isinstance(byte, int)]).tobytes()
    return piece_table(
        algorithm,
        list(zip(tokens, scores, kinds, strict=True)),
        byte_fallback=BYTE in kinds,
        charsmap=base64.b64encode(charsmap).decode(),
        prefix=bool(found.get("ggml.add_space_prefix", True)),
        fewer_blanks=bool(found.get("ggml.remove_extra_whitespaces", False)),
    )


def _byte_level(found: Mapping[str, Any], tokens: list[str]) -> Part:
    pre = found.get("ggml.pre", "gpt-2")
    if pre not in WORDS:
        raise VocabularyError(
            f"the GGUF file cuts words as {str(pre)[:40]!r}, which is not known here; give the tokenizer.json of the"
            " model it was made from"
        )
    kinds = _kinds(found, tokens)
    added = [
        {"id": at, "content": text, "normalized": False, "special": kind != USER_DEFINED}
        for at, (text, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (CONTROL, UNKNOWN, USER_DEFINED)
    ]
    splits = [
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False} for regex in WORDS[pre]
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, level]},
        "decoder": dict(level),
        "model": {
            "type": "BPE",
            "ignore_merges": pre in _WHOLE_WORDS,
            "vocab": _numbered(tokens),
            "merges": _list_of(found, "ggml.merges", str),
        },
    }


def _numbered(tokens: list[str]) -> dict[str, int]:
    numbered = {text: at for at, text in enumerate(tokens)}
    if len(numbered) < len(tokens):
        raise VocabularyError("two tokens of the GGUF file are the same; ids must be unique")
    return numbered
