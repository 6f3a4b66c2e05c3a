"""What a tokenizer_config.json says of the normalizer of a BERT vocabulary, which wins over the tokenizer.json.

BertTokenizer makes its normalizer anew from these keys (transformers 5.23, models/bert/tokenization_bert.py), and so do
the classes after it. Those that take any tokenizer.json as it is do not look at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.vocabularies.components import Part
from webapp.vocabularies.plain_json import VocabularyError

_KEYS: Mapping[str, str] = {
    "do_lower_case": "lowercase",
    "tokenize_chinese_chars": "handle_chinese_chars",
    "strip_accents": "strip_accents",
}
_AS_IT_IS = frozenset({"PreTrainedTokenizerFast", "TokenizersBackend"})


def with_bert_config(tokenizer: Part, config: Any) -> Part:
    """A checked tokenizer.json, with the normalizer that the config asks for. Raises VocabularyError."""
    normalizer = tokenizer["normalizer"]
    asks = isinstance(config, dict) and config.get("tokenizer_class") not in _AS_IT_IS
    if not asks or normalizer is None or normalizer["type"] != "BertNormalizer":
        return tokenizer
    said = {name: config[key] for key, name in _KEYS.items() if config.get(key) is not None}
    for key, name in _KEYS.items():
        if not isinstance(said.get(name, False), bool):
            raise VocabularyError("expected true or false", f"tokenizer_config.json/{key}")
    return {**tokenizer, "normalizer": normalizer | said}
