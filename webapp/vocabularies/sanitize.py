"""A tokenizer.json from anybody, made harmless: read as data, checked, and written anew from what was checked.

A tokenizer file runs no code, but the library that loads it trusts it: one line can cost gigabytes, and some mistakes
end the whole process. What is rebuilt here cannot fill the memory by itself; what is left (a regex that runs long) is
met by the limits of the child process that loads it.

==============  ====================================================================================================
left out        post_processor, truncation, padding: nothing is added around a text, nothing is cut from it
model           BPE without dropout, Unigram, or WordPiece; ids unique and below MAX_ID
added tokens    with the ids the file says, or not at all: the library would give another id without a word
fingerprint     SHA-256 of the text that is written: two files that cut alike and number alike are one tokenizer
==============  ====================================================================================================

Limits: the largest real tokenizers have 262,144 tokens, 514,906 merges, and strings of 1,024 characters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from webapp.vocabularies.components import Part, rebuild_part
from webapp.vocabularies.plain_json import VocabularyError, pointer_part, require_member, require_type

MAX_VOCAB = 400_000
MAX_MERGES = 1_000_000
MAX_ADDED = 10_000
MAX_TOKEN_CHARS = 2_048
MAX_WORD = 1_000  # characters of a word that WordPiece looks at: it takes the square of them; BERT has 100
MAX_ID = 1 << 22
_PREFIX = "continuing_subword_prefix"
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def sanitize(data: Any) -> Part:
    """The tokenizer.json rebuilt. Raises VocabularyError naming the place and what to do."""
    found = require_type(data, dict, "")
    if "model" not in found:
        raise VocabularyError(_not_a_tokenizer(found))
    model = _model(require_type(found["model"], dict, "/model"))
    added = _added(found.get("added_tokens") or [])
    _join(model, added)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": rebuild_part("normalizer", found.get("normalizer")),
        "pre_tokenizer": rebuild_part("pre_tokenizer", found.get("pre_tokenizer")),
        "post_processor": None,
        "decoder": rebuild_part("decoder", found.get("decoder")),
        "model": model,
    }


def tokenizer_text(tokenizer: Part) -> bytes:
    """The text of a rebuilt tokenizer; the same for two that are equal. Raises VocabularyError."""
    try:
        return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise VocabularyError("the file has a lone surrogate, which has no UTF-8 bytes; remove it") from None


def _not_a_tokenizer(found: Part) -> str:
    if "tokenizer_class" in found or "added_tokens_decoder" in found:
        return "this is a tokenizer_config.json, which has no vocabulary; give the tokenizer.json beside it"
    if found and all(isinstance(value, int) for value in found.values()):
        return "this is a vocab.json, which has no merges; give the tokenizer.json beside it"
    return "this JSON has no 'model', so it is no tokenizer.json; give the tokenizer.json of the model"


def _model(found: Part) -> Part:
    kind = found.get("type") or next((kind for key, kind in _OLD.items() if key in found), None)
    if isinstance(kind, str) and kind in _MODELS:
        return _MODELS[kind](found)
    words = f"{kind[:40]!r}" if isinstance(kind, str) else "of no known type"
    raise VocabularyError(
        f"the model is {words}; BPE, Unigram and WordPiece are read, whose text can be told from the ids", "/model/type"
    )


def _bpe(found: Part) -> Part:
    if found.get("dropout"):
        raise VocabularyError(
            "with dropout the same text is cut differently each time; set it to null", "/model/dropout"
        )
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if found.get(key):
            raise VocabularyError(
                f"a vocabulary with {key} does not keep blanks; set it to null or take another", f"/model/{key}"
            )
    vocab = _vocab(require_member(found, "vocab", dict, "/model"))
    merges = _merges(require_member(found, "merges", list, "/model"))
    unknown = found.get("unk_token")
    if unknown is not None and (not isinstance(unknown, str) or unknown not in vocab):
        raise VocabularyError("this token is not in the vocabulary; add it or set it to null", "/model/unk_token")
    flags = {key: _flag(found, key, "/model") for key in ("fuse_unk", "byte_fallback", "ignore_merges")}
    return {"type": "BPE", "dropout": None, "unk_token": unknown} | flags | {"vocab": vocab, "merges": merges}


def _vocab(found: dict[str, Any]) -> dict[str, int]:
    _require_count(len(found), MAX_VOCAB, "tokens", "/model/vocab")
    if _all_strings(found) and _all_ids(found.values()):
        return found
    taken: dict[int, str] = {}
    for string, token_id in found.items():
        place = f"/model/vocab/{pointer_part(string)}"
        _require_string(string, place)
        _require_id(token_id, place)
        if token_id in taken:
            raise VocabularyError(
                f"the id {token_id} is also that of {taken[token_id][:40]!r}; ids must be unique", place
            )
        taken[token_id] = string
    return found


def _merges(found: list[Any]) -> list[list[str]]:
    _require_count(len(found), MAX_MERGES, "merges", "/model/merges")
    pairs = [merge.split(" ") for merge in found] if {*map(type, found)} == {str} else found
    if {*map(type, pairs)} == {list} and {*map(len, pairs)} == {2}:
        parts = [part for pair in pairs for part in pair]
        if {*map(type, parts)} == {str} and all(parts):
            return pairs
    merges = []
    for index, merge in enumerate(found):
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) and part for part in pair):
            raise VocabularyError(
                "expected two strings, or one text with a blank between them", f"/model/merges/{index}"
            )
        merges.append(pair)
    return merges


def _unigram(found: Part) -> Part:
    vocab = require_member(found, "vocab", list, "/model")
    _require_count(len(vocab), MAX_VOCAB, "tokens", "/model/vocab")
    seen: set[str] = set()
    for index, row in enumerate(() if _all_rows(vocab) else vocab):
        place = f"/model/vocab/{index}"
        if not isinstance(row, list) or len(row) != 2 or not _is_number(row[1]):
            raise VocabularyError("expected a string and a finite number", place)
        _require_string(row[0], place)
        if row[0] in seen:
            raise VocabularyError(f"{row[0][:40]!r} stands twice; ids must be unique", place)
        seen.add(row[0])
    unknown = found.get("unk_id")
    if unknown is not None and not 0 <= require_type(unknown, int, "/model/unk_id") < len(vocab):
        raise VocabularyError(f"there is no token {unknown}", "/model/unk_id")
    flag = _flag(found, "byte_fallback", "/model")
    return {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": flag}


def _word_piece(found: Part) -> Part:
    prefix = _require_string(require_member(found, "continuing_subword_prefix", str, "/model"), f"/model/{_PREFIX}")
    most = require_member(found, "max_input_chars_per_word", int, "/model")
    if not 0 < most <= MAX_WORD:
        raise VocabularyError(
            f"words of {most:,} characters; from 1 to {MAX_WORD:,} are taken", "/model/max_input_chars_per_word"
        )
    vocab = _vocab(require_member(found, "vocab", dict, "/model"))
    unknown = require_member(found, "unk_token", str, "/model")
    if unknown not in vocab:
        raise VocabularyError("this token is not in the vocabulary; add it", "/model/unk_token")
    ordered = dict(sorted(vocab.items(), key=lambda row: row[1]))
    words = {"unk_token": unknown, _PREFIX: prefix, "max_input_chars_per_word": most}
    return {"type": "WordPiece"} | words | {"vocab": ordered}


_MODELS: Mapping[str, Callable[[Part], Part]] = {"BPE": _bpe, "Unigram": _unigram, "WordPiece": _word_piece}
# What tells a model of a file that is older than its member `type`.
_OLD = {"merges": "BPE", "max_input_chars_per_word": "WordPiece"}


# What is looked at all at once, because a large file has half a million strings: where something is wrong, it is looked
# for one by one, so that its place can be named.


def _all_strings(strings: Collection[str]) -> bool:
    try:
        "".join(strings).encode()
    except UnicodeEncodeError:
        return False
    return max(map(len, strings), default=0) <= MAX_TOKEN_CHARS


def _all_ids(ids: Collection[Any]) -> bool:
    fine = {*map(type, ids)} <= {int} and len({*ids}) == len(ids)
    return fine and min(ids, default=0) >= 0 and max(ids, default=0) < MAX_ID


def _all_rows(rows: list[Any]) -> bool:
    if not {*map(type, rows)} <= {list} or not {*map(len, rows)} <= {2}:
        return False
    strings, scores = [row[0] for row in rows], [row[1] for row in rows]
    if not {*map(type, strings)} <= {str} or not {*map(type, scores)} <= {int, float}:
        return False
    return len({*strings}) == len(rows) and all(map(math.isfinite, scores)) and _all_strings(strings)


def _added(found: Any) -> list[Part]:
    rows = require_type(found, list, "/added_tokens")
    _require_count(len(rows), MAX_ADDED, "added tokens", "/added_tokens")
    made: dict[int, Part] = {}
    contents: set[str] = set()
    for index, row in enumerate(rows):
        place = f"/added_tokens/{index}"
        token = require_type(row, dict, place)
        token_id = _require_id(token.get("id"), f"{place}/id")
        content = _require_string(token.get("content"), f"{place}/content")
        if not content:
            raise VocabularyError("an added token is empty; remove it", f"{place}/content")
        if token_id in made or content in contents:
            raise VocabularyError(
                f"{content[:40]!r} with the id {token_id}: text and id of added tokens must be unique", place
            )
        contents.add(content)
        made[token_id] = {"id": token_id, "content": content} | {key: _flag(token, key, place) for key in FLAGS}
    return list(made.values())


def _join(model: Part, added: list[Part]) -> None:
    """Make sure that added tokens keep their ids: BPE takes them into its vocabulary, where ids may have gaps.

    WordPiece would find them inside words there.
    """
    rows, joins = model["vocab"], model["type"] == "BPE"
    known = rows if isinstance(rows, dict) else {row[0]: index for index, row in enumerate(rows)}
    owners = {token_id: string for string, token_id in known.items()} if added else {}
    for index, token in enumerate(added):
        content, token_id = token["content"], token["id"]
        if known.get(content, token_id) != token_id:
            raise VocabularyError(
                f"the vocabulary gives {content[:40]!r} the id {known[content]}", f"/added_tokens/{index}/id"
            )
        if owners.get(token_id, content) != content:
            raise VocabularyError(
                f"the id {token_id} is that of {owners[token_id][:40]!r} already", f"/added_tokens/{index}/id"
            )
        if isinstance(rows, dict) and joins:
            rows[content] = token_id
    ids = [*rows.values()] if isinstance(rows, dict) and joins else []
    if isinstance(rows, dict) and ids != sorted(ids):  # so that the order of a file's vocabulary makes no difference
        model["vocab"] = dict(sorted(rows.items(), key=lambda row: row[1]))


def _flag(found: Part, key: str, pointer: str) -> bool:
    value = found.get(key)
    return False if value is None else require_type(value, bool, f"{pointer}/{key}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require_count(found: int, most: int, what: str, pointer: str) -> None:
    if found > most:
        raise VocabularyError(f"{found:,} {what}; at most {most:,} are taken", pointer)


def _require_string(value: Any, pointer: str) -> str:
    string = require_type(value, str, pointer)
    if len(string) > MAX_TOKEN_CHARS:
        raise VocabularyError(
            f"the token has {len(string):,} characters; at most {MAX_TOKEN_CHARS:,} are taken", pointer
        )
    try:
        string.encode()
    except UnicodeEncodeError:
        raise VocabularyError("the token has a lone surrogate, which has no UTF-8 bytes; remove it", pointer) from None
    return string


def _require_id(value: Any, pointer: str) -> int:
    token_id = require_type(value, int, pointer)
    if not 0 <= token_id < MAX_ID:
        raise VocabularyError(f"the id {token_id} is out of range: from 0 to {MAX_ID - 1:,}", pointer)
    return token_id
