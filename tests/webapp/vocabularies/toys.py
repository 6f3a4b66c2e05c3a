"""Small tokenizers to change and to break."""

from __future__ import annotations

from typing import Any

from webapp.vocabularies.spelling import BYTE_OF

Data = dict[str, Any]

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w", "æ Ŀ", "o r", "Ġw or"]


def byte_level() -> Data:
    """A byte-level BPE with eight merges and three added tokens, one of them special, their ids with a gap."""
    strings = [*sorted(BYTE_OF, key=lambda char: BYTE_OF[char]), *(merge.replace(" ", "") for merge in MERGES)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added(264, "<|end|>", special=True),
            added(265, "<think>"),
            added(300, "<tool_call>"),
        ],
        "normalizer": None,
        "pre_tokenizer": dict(level),
        "post_processor": dict(level),
        "decoder": dict(level),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {string: token_id for token_id, string in enumerate(strings)},
            "merges": list(MERGES),
        },
    }


def byte_fallback() -> Data:
    """A BPE as SentencePiece makes them: blanks as U+2581, bytes as <0xHH>, a blank put before the text."""
    letters = [*"▁abcdefghijklmnopqrstuvwxyzH!", "▁w", "or", "▁wor", "▁▁"]
    strings = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters]
    return {
        "added_tokens": [added(i, text, special=True) for i, text in enumerate(("<unk>", "<s>", "</s>"))],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {string: token_id for token_id, string in enumerate(strings)},
            "merges": [["▁", "w"], ["o", "r"], ["▁w", "or"], ["▁", "▁"]],
        },
    }


def unigram() -> Data:
    """A Unigram with a Metaspace decoder."""
    rows = [["<unk>", 0.0], ["▁", -2.0], ["▁he", -3.0], ["llo", -3.5], *([char, -5.0] for char in "helowrd")]
    meta = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "added_tokens": [added(0, "<unk>", special=True)],
        "pre_tokenizer": dict(meta),
        "decoder": dict(meta),
        "model": {"type": "Unigram", "unk_id": 0, "vocab": rows},
    }


def added(token_id: int, content: str, *, special: bool = False) -> Data:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": token_id, "content": content, "special": special, **flags}


def word_piece() -> Data:
    """A WordPiece vocabulary as BERT's, without the member `type` that old files lack, and with an added token."""
    markers = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = ["hello", "world", "do", "not", "get", "n't", "'s", "東", *"{}\":.,?!_'", "a", "##a", "##s", "##get", "##"]
    vocab = {string: token_id for token_id, string in enumerate([*markers, *words])}
    return {
        "added_tokens": [
            *(added(token_id, text, special=True) for token_id, text in enumerate(markers)),
            added(len(vocab), "<tool_call>"),
        ],
        "normalizer": {
            "type": "BertNormalizer",
            **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True),
            "strip_accents": None,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    }
