"""What a tokenizer file is, told from its content, and how each kind becomes a checked tokenizer.json.

tokenizer_config.json may come with it. It is read as data: the special tokens of a rank file, the chat template and the
response template, which are shown and never run here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.vocabularies import rank_files
from webapp.vocabularies.bert_config import with_bert_config
from webapp.vocabularies.components import Part
from webapp.vocabularies.gguf_file import gguf_config, gguf_tokenizer, is_gguf
from webapp.vocabularies.plain_json import VocabularyError, parse_json, pointer_part
from webapp.vocabularies.sanitize import MAX_ADDED, MAX_TOKEN_CHARS, sanitize
from webapp.vocabularies.sentencepiece_file import is_sentencepiece, sentencepiece_pieces
from webapp.vocabularies.spelling import Spelling
from webapp.vocabularies.word_list import is_word_list, word_list_json

MAX_TEMPLATE = 400_000
# Special tokens that chat templates write by these names.
TEMPLATE_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token")
_OTHERS = (
    (b"PK\x03\x04", "this is a zip archive; unpack it and give the tokenizer.json inside"),
    (b"\x1f\x8b", "this file is compressed with gzip; unpack it and give the tokenizer.json"),
    (b"version https://git-lfs", "this is a Git LFS pointer, not the file itself; fetch it with git lfs pull"),
    (b"<", "this is a web page, not a tokenizer.json; save the file itself (the raw download)"),
)


def rebuild(data: bytes, config: Any = None, slots: Mapping[int, str] | None = None) -> Part:
    """The checked tokenizer.json, or the table of pieces, for a file of any kind that is known.

    Raises VocabularyError for every other.
    """
    if is_gguf(data):
        made = gguf_tokenizer(data)
        return made if "sentencepiece" in made else sanitize(made)
    if is_sentencepiece(data):
        return sentencepiece_pieces(data)
    if rank_files.is_tiktoken(data):
        return sanitize(rank_files.tiktoken_json(data, _markers(config)))
    if is_word_list(data):
        return with_bert_config(sanitize(word_list_json(data)), config)
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise VocabularyError(_other(data))
    found = parse_json(data)
    if rank_files.is_tekken(found):
        return sanitize(rank_files.tekken_json(found, slots or {}))
    return with_bert_config(sanitize(found), config)


def is_exact(data: bytes, pieces: bool, spelling: Spelling) -> bool:
    """Return whether the ids are surely those of the model: not where blanks are cut otherwise than SentencePiece does
    it, nor where a rank file does not say how words are cut."""
    if rank_files.is_tiktoken(data):
        return rank_files.is_known(data)
    return pieces or spelling.decoder != "byte_fallback"


def assumed(data: bytes, tokenizer: Part, config: Any) -> str:
    """What of a tokenizer no file says, in words; "" where all is said."""
    told = isinstance(config, dict) and "do_lower_case" in config
    if told or not is_word_list(data):
        return ""
    return "lower case assumed" if tokenizer["normalizer"]["lowercase"] else "case kept, as assumed"


def _other(data: bytes) -> str:
    if not data.strip():
        return "the file is empty; give a tokenizer.json"
    for start, words in _OTHERS:
        if data.startswith(start):
            return words
    kinds = "a tokenizer.json, a tekken.json, a *.tiktoken file, a vocab.txt of WordPiece or a SentencePiece model"
    return f"this is no tokenizer file; give {kinds}"


def _markers(config: Any) -> dict[int, tuple[str, bool]] | None:
    """The special tokens that a tokenizer_config.json names, by id; None where it names none."""
    rows = config.get("added_tokens_decoder") if isinstance(config, dict) else None
    if not isinstance(rows, dict) or not rows or len(rows) > MAX_ADDED:
        return None
    markers = {}
    for token_id, row in rows.items():
        content = row.get("content") if isinstance(row, dict) else None
        if not (token_id.isascii() and token_id.isdigit() and len(token_id) <= 7 and isinstance(content, str)):
            raise VocabularyError(
                "expected an id and an object with 'content'",
                f"tokenizer_config.json/added_tokens_decoder/{pointer_part(token_id)}",
            )
        markers[int(token_id)] = (content, bool(row.get("special")))
    return markers


def config_of(data: bytes, config: Any) -> Any:
    """The tokenizer_config.json: the given one, and what a GGUF file says itself where that says nothing."""
    if not is_gguf(data):
        return config
    given = config if isinstance(config, dict) else {}
    return {**gguf_config(data), **given}


def templates(config: Any) -> dict[str, Any]:
    """The templates of a tokenizer_config.json, as they stand there; of several chat templates that for tools."""
    if not isinstance(config, dict):
        return {}
    chat = config.get("chat_template")
    if isinstance(chat, list):
        named = {row.get("name"): row.get("template") for row in chat if isinstance(row, dict)}
        chat = named.get("tool_use") or named.get("default")
    found: dict[str, Any] = {}
    if isinstance(chat, str) and len(chat) <= MAX_TEMPLATE:
        found["chat_template"] = chat
    tokens = {name: text for name in TEMPLATE_TOKENS if (text := _token_text(config.get(name))) is not None}
    if tokens:
        found["tokens"] = tokens
    if isinstance(config.get("response_template"), dict):
        found["response_template"] = config["response_template"]
    return found


def _token_text(value: Any) -> str | None:
    """The text of a special token: text, or an object with it."""
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) and len(text) <= MAX_TOKEN_CHARS else None
