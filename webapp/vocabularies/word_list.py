"""A vocab.txt of WordPiece: one token on each line, whose number is its id, and nothing said of how a text is changed.

What it does not say is taken from what BERT does: text in lower case where no token has a capital, words of at most 100
characters, `##` before what goes on with a word (huggingface/transformers 5.23, models/bert/tokenization_bert.py). A
tokenizer_config.json beside it wins.
"""

from __future__ import annotations

import re
from typing import Any

from webapp.vocabularies.plain_json import VocabularyError

UNKNOWN = "[UNK]"
_SPECIAL = (UNKNOWN, "[PAD]", "[CLS]", "[SEP]", "[MASK]")
_ALONE = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|\n)\[(?:UNK|CLS|PAD)\]\r?(?:\n|\Z)")
_PREFIX = "##"
_LONGEST_WORD = 100


def is_word_list(data: bytes) -> bool:
    """Return whether a file has a special token of BERT alone on a line, as no JSON has."""
    return not data.startswith(b"{") and _ALONE.search(data) is not None


def word_list_json(data: bytes) -> dict[str, Any]:
    """The tokenizer.json that such a list stands for. Raises VocabularyError."""
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise VocabularyError(f"the list of tokens is not UTF-8 (byte {error.start}); fetch it again") from None
    vocab = {line.removesuffix("\r"): number for number, line in enumerate(lines)}
    if UNKNOWN not in vocab:
        raise VocabularyError(f"the list of tokens has no {UNKNOWN}; give the tokenizer.json of the model")
    return {
        "added_tokens": [
            {"id": vocab[text], "content": text, "special": True, "normalized": False}
            for text in _SPECIAL
            if text in vocab
        ],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": not any(text != text.lower() for text in vocab if text not in _SPECIAL and text[0:1] != "["),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": _PREFIX, "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": UNKNOWN, "continuing_subword_prefix": _PREFIX,
            "max_input_chars_per_word": _LONGEST_WORD, "vocab": vocab,
        },
    }  # fmt: skip
