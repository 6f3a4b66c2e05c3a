"""mistral-common's own decoding of an answer (1.13): an oracle for whole outputs, with Mistral's tokens.

It knows no deltas. What its experimental server does with the ids of an answer is done here, with its functions: the
ids before the first `[TOOL_CALLS]` are content, `[THINK]` to `[/THINK]` of it reasoning, and calls are decoded by the
version of the tokenizer. That is what `--tokenizer` names, a `tekken.json` or a `.model.v3`; without one the package's
own Tekken vocabulary is read.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from importlib import metadata, util
from typing import Any

NAME = "mistral"
MARKER = re.compile(r"(\[/?[A-Z_]+\])")


def adapter() -> Mistral:
    """The adapter."""
    return Mistral()


class Mistral:
    """The one way of reading."""

    def __init__(self) -> None:
        self._tools = importlib.import_module("mistral_common.experimental.tools")
        self._think = importlib.import_module("mistral_common.experimental.think")
        self._base = importlib.import_module("mistral_common.tokens.tokenizers.base")
        self._read = importlib.import_module("mistral_common.tokens.tokenizers.mistral").MistralTokenizer
        self._tokenizer: Any = None

    def take_tokenizer(self, path: str) -> None:
        """Read a tokenizer of Mistral's."""
        self._tokenizer = self._read.from_file(path).instruct_tokenizer

    def hello(self) -> dict[str, Any]:
        """What there is."""
        if self._tokenizer is None:
            self.take_tokenizer(_newest())
        return {
            "name": "mistral-common",
            "version": metadata.version("mistral-common"),
            "parsers": [{"name": NAME, "kind": "tool"}],
            "wants": "ids",
            "streams": False,
            "whole": True,
            "contract": "openai",
        }

    def replay(self, asked: Mapping[str, Any]) -> Any:
        """There is no answer that streams. Raises LookupError."""
        raise LookupError("mistral-common reads whole outputs only")

    def whole(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> dict[str, Any]:
        """The message of a whole answer."""
        if asked.get("parser", NAME) != NAME:
            raise LookupError("there is no parser " + str(asked["parser"]))
        inner = self._tokenizer.tokenizer
        tokens = [own for number in self._fed(asked, text, ids) for own in number]
        content, calls = self._tools._split_content_and_tool_calls(tokens, inner.get_special_token("[TOOL_CALLS]"))
        shares = [
            {"index": at, "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for at, call in enumerate(self._tools._decode_tool_calls(calls, inner))
        ]
        reasoning, said = self._parts(content)
        return {"reasoning": reasoning or None, "content": said or None, "tool_calls": shares}

    def _parts(self, tokens: list[int]) -> tuple[str, str]:
        """Reasoning and content of what stands before the calls."""
        begin, end = (getattr(self._tokenizer, name, None) for name in ("BEGIN_THINK", "END_THINK"))
        parts = [(tokens, False)] if tokens else []
        if begin is not None and end is not None:
            parts = self._think._split_content_and_think_chunks(tokens, begin, end)
        policy = self._base.SpecialTokenPolicy.IGNORE
        said = [(self._tokenizer.decode(part, special_token_policy=policy), thinks) for part, thinks in parts]
        reasoning, content = ("".join([text for text, thinks in said if thinks is wanted]) for wanted in (True, False))
        return reasoning, content

    def _fed(self, asked: Mapping[str, Any], text: str, ids: list[int]) -> list[list[int]]:
        """The ids as they came where they spell the output, else those of its text."""
        keep = self._base.SpecialTokenPolicy.KEEP
        try:
            if ids and self._tokenizer.decode(ids, special_token_policy=keep) == text:
                return [ids]
        except Exception:  # ids of another vocabulary
            ids = []
        return [self._encoded(part) for part in MARKER.split(text) if part]

    def _encoded(self, part: str) -> list[int]:
        inner = self._tokenizer.tokenizer
        if MARKER.fullmatch(part):
            try:
                return [inner.get_special_token(part)]
            except ValueError:
                pass  # brackets that are no marker of this version
        return list(inner.encode(part, bos=False, eos=False))


def _newest() -> str:
    """The newest vocabulary that the package has."""
    found = util.find_spec("mistral_common")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    folder = os.path.join(*folders[:1], "data")
    return os.path.join(folder, max(name for name in os.listdir(folder) if name.startswith("tekken")))
