"""The tokenizers of a process that starts none of their children: it asks the process that does.

So all processes of a server keep within one limit of loaded tokenizers, and prepare a file once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.settings import Settings
from webapp.tokenizers.adapter import TokenizerInfo
from webapp.tokenizers.hosted import Ask
from webapp.tokenizers.installed import Source
from webapp.tokenizers.library import TokenizerLibrary
from webapp.tokenizers.prepared import Vocabulary

TASKS = ("encode", "strings")

AskOther = Callable[[dict[str, Any]], Mapping[str, Any]]


class SharedTokenizers(TokenizerLibrary):
    """The same tokenizers, by the same names. `other` asks the process whose `answer` replies."""

    def __init__(self, settings: Settings, other: AskOther) -> None:
        super().__init__(settings)
        self._other = other

    def add_upload(
        self, name: str, data: bytes, config: bytes | None = None, key_hash: str | None = None
    ) -> TokenizerInfo:
        sizes = {"size": len(data), "config": config is not None, "key_hash": key_hash}
        found = self._other({"do": "upload", "title": name, **sizes, "raw": data + (config or b"")})
        info: TokenizerInfo = found["info"]
        return info

    def asker(self, vocabulary: Vocabulary) -> Ask:
        def ask(task: str, requests: Any) -> Any:
            name = vocabulary.info["name"]
            return self._other({"do": "ask", "name": name, "task": task, "requests": list(requests)})["answers"]

        return ask

    def _prepared(self, source: Source) -> Vocabulary:
        found = self._converted.ready(source)
        if found is None:
            self._other({"do": "prepare", "name": source.name})
        return found or super()._prepared(source)


def answer(library: TokenizerLibrary, question: Mapping[str, Any]) -> dict[str, Any]:
    """What a process of `SharedTokenizers` is told. Raises UsageError where they would have."""
    if question["do"] == "upload":
        data, size = question["raw"], question["size"]
        config = data[size:] if question["config"] else None
        return {"info": dict(library.add_upload(question["title"], data[:size], config, question["key_hash"]))}
    vocabulary = library.vocabulary(question["name"])
    if question["do"] == "prepare":
        return {}
    if question["task"] not in TASKS:
        raise UsageError("a tokenizer has no such task")
    return {"answers": list(library.asker(vocabulary)(question["task"], question["requests"]))}
