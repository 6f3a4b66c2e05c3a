"""A tokenizer of Mistral's own, a `tekken.json` or a `.model.v3`, as a TokenTable asks it.

mistral-common of the engine's interpreter reads it (1.11 and 1.13). Markers are what it calls special tokens.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from itertools import groupby
from types import SimpleNamespace
from typing import Any

FILES = re.compile(r"(?:tekken.*\.json|.*\.model\.v\d+(?:m\d+)?)")  # as mistral-common names them


class MistralTokens:
    """The tokenizer in a file. Raises ImportError where mistral-common is not there, and what that raises."""

    def __init__(self, file: str) -> None:
        base = importlib.import_module("mistral_common.tokens.tokenizers.base")
        read = importlib.import_module("mistral_common.tokens.tokenizers.mistral").MistralTokenizer
        self._inner = read.from_file(file).instruct_tokenizer.tokenizer
        self._policies = base.SpecialTokenPolicy
        self.token_to_id = lru_cache(maxsize=None)(self._id)

    def get_vocab(self) -> dict[str, int]:
        """Ids by text; several tokens of bytes may have one text, of which the first stays."""
        texts = self._inner.vocab()
        return {text: number for number, text in reversed([*enumerate(texts)])}

    def get_vocab_size(self) -> int:
        """How many tokens there are."""
        return int(self._inner.n_words)

    def encode(self, text: str, **_options: Any) -> Any:
        """The `ids` of a text, whose markers are no tokens."""
        return SimpleNamespace(ids=list(self._inner.encode(text, bos=False, eos=False)))

    def decode(self, ids: list[int], **_options: Any) -> str:
        """The text of some ids, markers with them."""
        kept, ignored = self._policies.KEEP, self._policies.IGNORE  # SentencePiece's own spelling of words is kept, too
        runs = [(kept if special else ignored, list(run)) for special, run in groupby(ids, self._inner.is_special)]
        return "".join([self._inner.decode(run, special_token_policy=policy) for policy, run in runs])

    def _id(self, text: str) -> int | None:
        """The id of a marker, or of a text that is one token."""
        try:
            found = int(self._inner.get_special_token(text))
            return found if self.decode([found]) == text else None  # SentencePiece has one for what it does not know
        except (KeyError, ValueError):
            found, *more = self._inner.encode(text, bos=False, eos=False) or [None]
            return None if more else found
