"""The parts of a tokenizer around its model: which are allowed, with which members, rebuilt from checked values only.

==============  ====================================================================================================
allow-list      a part that is not in the tables below is refused, and a member that is not named here is left out
growth          what a part may put in the place of a character is at most MAX_CONTENT characters long
regex           at most MAX_REGEX bytes; whether it compiles and how long it runs is found out in the child process
decoder         only what decodes each token by itself: bytes as visible characters, blanks as U+2581 with <0xHH>,
                or words of WordPiece, all but the first with a blank before them
==============  ====================================================================================================

Part names and members: huggingface/tokenizers 0.23.3, bindings/python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from webapp.vocabularies.double_array import require_charsmap
from webapp.vocabularies.plain_json import VocabularyError, require_member, require_type

MAX_CONTENT = 16
MAX_REGEX = 2_000
MAX_PARTS = 64
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
SCHEMES = ("first", "always", "never")

Check = Callable[[Any, str], Any]
Part = dict[str, Any]


def _short(value: Any, pointer: str) -> str:
    """A text that a part writes: long ones make a small text huge."""
    text = require_type(value, str, pointer)
    if len(text) > MAX_CONTENT:
        raise VocabularyError(
            f"the text has {len(text):,} characters; at most {MAX_CONTENT} may be put in by a part", pointer
        )
    return text


def _flag(value: Any, pointer: str) -> bool:
    return require_type(value, bool, pointer)


def _maybe_flag(value: Any, pointer: str) -> bool | None:
    return None if value is None else _flag(value, pointer)


def _count(value: Any, pointer: str) -> int:
    number = require_type(value, int, pointer)
    if not 0 <= number <= MAX_CONTENT:
        raise VocabularyError(f"{number} is out of range: from 0 to {MAX_CONTENT}", pointer)
    return number


def _pattern(value: Any, pointer: str) -> Part:
    found = require_type(value, dict, pointer)
    if list(found) not in (["String"], ["Regex"]):
        raise VocabularyError("expected an object with 'String' or 'Regex'", pointer)
    ((kind, text),) = found.items()
    if not require_type(text, str, f"{pointer}/{kind}"):
        raise VocabularyError("an empty pattern matches everywhere", f"{pointer}/{kind}")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_REGEX:
        raise VocabularyError(f"the pattern has {size:,} bytes; at most {MAX_REGEX:,} are taken", f"{pointer}/{kind}")
    return {kind: text}


def _literal(value: Any, pointer: str) -> Part:
    found = _pattern(value, pointer)
    if "Regex" in found:
        raise VocabularyError("a decoder may replace a text, not a regex", pointer)
    return {"String": _short(found["String"], f"{pointer}/String")}


def _one_of(*words: str) -> Check:
    def check(value: Any, pointer: str) -> str:
        word = require_type(value, str, pointer)
        if word not in words:
            raise VocabularyError(f"{word[:40]!r} is not one of: {', '.join(words)}", pointer)
        return word

    return check


def _letter(value: Any, pointer: str) -> str:
    text = require_type(value, str, pointer)
    if len(text) != 1:
        raise VocabularyError("expected a single character", pointer)
    return text


def _charsmap(value: Any, pointer: str) -> str:
    text = require_type(value, str, pointer)
    try:
        require_charsmap(text)
    except VocabularyError as error:
        raise VocabularyError(str(error), pointer) from None
    return text


BYTE_LEVEL: Mapping[str, Check] = {"add_prefix_space": _flag, "trim_offsets": _flag, "use_regex": _flag}
METASPACE: Mapping[str, Check] = {"replacement": _letter, "prepend_scheme": _one_of(*SCHEMES), "split": _flag}
NORMALIZERS: Mapping[str, Mapping[str, Check]] = {
    **{kind: {} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents", "ByteLevel")},
    "Strip": {"strip_left": _flag, "strip_right": _flag},
    "BertNormalizer": {
        **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), _flag),
        "strip_accents": _maybe_flag,
    },
    "Replace": {"pattern": _pattern, "content": _short},
    "Prepend": {"prepend": _short},
    "Precompiled": {"precompiled_charsmap": _charsmap},
}
PRE_TOKENIZERS: Mapping[str, Mapping[str, Check]] = {
    **{kind: {} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")},
    "ByteLevel": BYTE_LEVEL,
    "Metaspace": METASPACE,
    "Split": {"pattern": _pattern, "behavior": _one_of(*BEHAVIORS), "invert": _flag},
    "Digits": {"individual_digits": _flag},
    "Punctuation": {"behavior": _one_of(*BEHAVIORS)},
    "CharDelimiterSplit": {"delimiter": _letter},
}
DECODERS: Mapping[str, Mapping[str, Check]] = {
    "ByteLevel": BYTE_LEVEL,
    "Metaspace": METASPACE,
    "Replace": {"pattern": _literal, "content": _short},
    "ByteFallback": {},
    "Fuse": {},
    "Strip": {"content": _letter, "start": _count, "stop": _count},
    "WordPiece": {"prefix": _short, "cleanup": _flag},
}
# The name of the list inside a Sequence, and the parts that stand in it.
SLOTS: Mapping[str, tuple[str, Mapping[str, Mapping[str, Check]]]] = {
    "normalizer": ("normalizers", NORMALIZERS),
    "pre_tokenizer": ("pretokenizers", PRE_TOKENIZERS),
    "decoder": ("decoders", DECODERS),
}
# Members without which a part does nothing that can be foreseen; others have a default.
NEEDED = {
    *("pattern", "content", "prepend", "delimiter", "start", "stop", "precompiled_charsmap"),
    *("clean_text", "handle_chinese_chars", "lowercase", "prefix", "cleanup"),
}


def rebuild_part(slot: str, value: Any) -> Part | None:
    """The part for `slot`, made anew; None stays None. Raises VocabularyError for what is not allowed."""
    if value is None:
        return None
    made = _part(slot, value, f"/{slot}")
    if sum(1 for _ in leaves(made)) > MAX_PARTS:
        raise VocabularyError(f"more than {MAX_PARTS} parts; real tokenizers have a handful", f"/{slot}")
    return made


def leaves(part: Part | None) -> list[Part]:
    """The parts that do something, in order: those inside sequences, at any depth."""
    if part is None:
        return []
    inside = next((part[key] for key, _ in SLOTS.values() if key in part), None)
    return [part] if inside is None else [leaf for each in inside for leaf in leaves(each)]


def _part(slot: str, value: Any, pointer: str) -> Part:
    found = require_type(value, dict, pointer)
    kind = require_member(found, "type", str, pointer)
    inside, known = SLOTS[slot]
    if kind == "Sequence":
        parts = require_member(found, inside, list, pointer)
        return {"type": kind, inside: [_part(slot, one, f"{pointer}/{inside}/{i}") for i, one in enumerate(parts)]}
    if kind not in known:
        words = f"the {slot.replace('_', '-')} {kind[:40]!r} is not taken: known are: {', '.join(known)}"
        raise VocabularyError(words, f"{pointer}/type")
    for key in sorted(NEEDED & known[kind].keys() - found.keys()):
        raise VocabularyError(f"{key!r} is missing; give the tokenizer.json as it was published", pointer)
    members = {key: check(found[key], f"{pointer}/{key}") for key, check in known[kind].items() if key in found}
    return {"type": kind} | members
