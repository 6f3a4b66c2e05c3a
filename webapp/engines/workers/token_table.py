"""The tokens of one run as a tokenizer's methods, as much as parsers ask of one: those of the output, markers with
their ids, and all of a whole tokenizer where the entry names one.

Ids that somebody made up for want of a tokenizer become those of the whole one, so that what a parser looks up is what
it is fed. A text that is no token of it becomes the tokens that it has for it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

MADE_UP = 2_000_000  # ids from here on are of parts of tokens, which no vocabulary has
END = 1  # the id of the end token of a tokenizer that nobody gave


def whole_tokenizer(path: str, module_of: Callable[[str], Any]) -> Any:
    """The tokenizer in a tokenizer.json or a file of Mistral's, or in the folder of one. Raises ImportError where
    `tokenizers`, or mistral-common, is not there, and ValueError for another file. `module_of`: our other files."""
    names = sorted(os.listdir(path)) if os.path.isdir(path) else [os.path.basename(path)]
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    mistral = module_of("mistral_tokens")
    own = next((name for name in names if mistral.FILES.fullmatch(name)), "")
    name = "tokenizer.json" if "tokenizer.json" in names else own or names[0] if names else ""
    try:
        if own and name == own:
            return mistral.MistralTokens(os.path.join(folder, own))
        return importlib.import_module("tokenizers").Tokenizer.from_file(os.path.join(folder, name))
    except ImportError:
        raise
    except Exception as error:  # of either library
        kinds = "give a tokenizer.json, a tekken.json or a .model.v3, or the folder of one"
        raise ValueError(f"{name or path} is no tokenizer that can be read ({error}); {kinds}") from error


@lru_cache(maxsize=1)
def _vocabulary(whole: Any) -> dict[str, int]:
    return dict(whole.get_vocab())


class TokenTable:
    """As much of a tokenizer as parsers ask for."""

    bos_token, eos_token, bos_token_id, eos_token_id = "<s>", "</s>", None, END
    name_or_path, chat_template, is_fast, vocab_size = "none", None, True, 1_000_000

    def __init__(self, asked: Mapping[str, Any], whole: Any = None) -> None:
        self._whole = whole
        special: dict[str, int] = asked.get("vocabulary") or {}
        texts: dict[int, str] = {number: text for text, number in special.items()}
        for number, text in asked.get("tokens") or ():
            texts.setdefault(number, text)
        self._fed: dict[int, list[int]] = {}
        if whole is not None:
            known = [(text, self._known(text, number)) for text, number in special.items()]
            self._special = special = {text: own for text, own in known if own is not None}
            self._fed = {number: self._those_of(text, number) for number, text in texts.items()}
            texts = {ids[0]: texts[number] for number, ids in self._fed.items() if len(ids) == 1}
        self._texts = texts
        stays = [(number, text) for number, text in texts.items() if number < MADE_UP or text in special]
        self._ids = {text: number for number, text in reversed(stays)}
        self._special = special
        self.all_special_tokens = list(special)
        self.all_special_ids = list(special.values())

    def fed(self, ids: Iterable[int]) -> list[int]:
        """The ids of a delta as the parser gets them."""
        if self._whole is None:
            return list(ids)
        return [own for one in ids for own in self._fed.get(one, [one])]

    @cached_property
    def vocab(self) -> dict[str, int]:
        """Ids by text. That of a whole tokenizer is one for all runs: parsers keep it, and it has megabytes."""
        if self._whole is None:
            return self._ids
        known = _vocabulary(self._whole)
        more = {text: number for text, number in self._special.items() if known.get(text) != number}
        return {**known, **more} if more else known

    def get_vocab(self) -> dict[str, int]:
        """The same."""
        return self.vocab

    def get_added_vocab(self) -> dict[str, int]:
        """Markers with their ids."""
        return self._special

    def __len__(self) -> int:
        return self.vocab_size

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or of some; None for one that is not known."""
        return [self._id(one) for one in tokens] if isinstance(tokens, list) else self._id(tokens)

    def convert_ids_to_tokens(self, ids: Any, **_options: Any) -> list[str]:
        """The tokens of some ids."""
        return [self._text(one) for one in ids]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of some tokens."""
        return "".join(tokens)

    def tokenize(self, text: str, **_options: Any) -> list[str]:
        """A text as the tokens it is known to have, else as one."""
        ids = self.encode(text)
        return self.convert_ids_to_tokens(ids) if ids else [text]

    def encode(self, text: str, **_options: Any) -> list[int]:
        """The ids of a text: those of the whole tokenizer, else of the longest tokens that are known; none where some
        of it is in no token."""
        if self._whole is not None:
            return list(self._whole.encode(text, add_special_tokens=False).ids)
        if text in self._ids:
            return [self._ids[text]]
        found: list[int] = []
        longest = max(map(len, self._ids), default=0)
        while text:
            sizes = range(min(longest, len(text)), 0, -1)
            size = next((size for size in sizes if text[:size] in self._ids), 0)
            if not size:
                return []
            found.append(self._ids[text[:size]])
            text = text[size:]
        return found

    def decode(self, ids: Any, **_options: Any) -> str:
        """The text of some ids."""
        known = ids if isinstance(ids, (list, tuple)) else [ids]
        if self._whole is not None and not any(one in self._texts for one in known):
            return str(self._whole.decode(list(known), skip_special_tokens=False))
        return "".join(self.convert_ids_to_tokens(known))

    def _id(self, token: str) -> Any:
        found = self._ids.get(token)
        return self._whole.token_to_id(token) if found is None and self._whole is not None else found

    def _text(self, token_id: int) -> str:
        if token_id in self._texts or self._whole is None:
            return self._texts.get(token_id, "")
        return str(self._whole.decode([token_id], skip_special_tokens=False))

    def _known(self, text: str, number: int) -> int | None:
        """The whole tokenizer's id of a marker, else the one that somebody recorded; None: it is no marker of it."""
        found = self._whole.token_to_id(text)
        return (number if number < MADE_UP else None) if found is None else int(found)

    def _those_of(self, text: str, number: int) -> list[int]:
        """What the whole tokenizer has for a token: itself where it is one of its own, or a marker."""
        if text in self._special:
            return [self._special[text]]
        if self._whole.token_to_id(text) is not None:
            return [self._whole.token_to_id(text)]
        if number < self._whole.get_vocab_size() and self._whole.decode([number], skip_special_tokens=False) == text:
            return [number]
        return list(self._whole.encode(text, add_special_tokens=False).ids) or [number]
