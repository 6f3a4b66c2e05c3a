"""What is known of a prepared tokenizer without loading it, and the small file that keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from webapp.tokenizers.base import Origin, Realism, TokenizerInfo
from webapp.tokenizers.detokenize import Entry, entry
from webapp.vocabularies.spelling import Spelling, of_data


@dataclass(frozen=True)
class Vocabulary:
    """A checked tokenizer.json at `path`, and what the child said of it."""

    name: str
    title: str
    kind: Origin
    path: Path
    fingerprint: str
    vocab_size: int
    spelling: Spelling
    markers: tuple[tuple[int, str, bool], ...] = ()
    templates: Mapping[str, Any] = field(default_factory=dict)
    size: int = 0
    date: str = ""

    @property
    def realism(self) -> Realism:
        """SentencePiece vocabularies cut blanks otherwise than SentencePiece itself does, so they are approximate."""
        return "real" if self.spelling.decoder == "byte_level" else "approximate"

    @property
    def label(self) -> str:
        return f"{self.title}, {self.vocab_size:,}"

    @property
    def info(self) -> TokenizerInfo:
        return TokenizerInfo(
            name=self.name,
            kind=self.kind,
            vocab_size=self.vocab_size,
            label=self.label,
            realism=self.realism,
            decoder=self.spelling.decoder,
            fingerprint=self.fingerprint,
        )

    @cached_property
    def ids(self) -> dict[str, int]:
        """The added tokens by text."""
        return {text: token_id for token_id, text, _ in self.markers}

    @cached_property
    def added(self) -> dict[int, Entry]:
        """The added tokens by id. They stand for their own text, whatever the decoder makes of others."""
        return {i: entry(text, text.encode(), "special" if flag else "added") for i, text, flag in self.markers}


@dataclass(slots=True, frozen=True)
class Source:
    """A tokenizer file of the operator's: where it lies, and what is known before it is read.

    `template` is a chat template in a file of its own, `slots` are names for special ids that the file leaves without.
    """

    name: str
    title: str
    kind: Origin
    file: Path
    config: Path | None = None
    template: Path | None = None
    slots: Mapping[int, str] = field(default_factory=dict)
    vocab_size: int = 0

    @property
    def files(self) -> list[Path]:
        """All its files."""
        return [path for path in (self.file, self.config, self.template) if path is not None]

    @property
    def info(self) -> TokenizerInfo:
        """Its row as long as the file has not been read."""
        return TokenizerInfo(
            name=self.name,
            kind=self.kind,
            vocab_size=self.vocab_size,
            label=f"{self.title}, {self.vocab_size:,}" if self.vocab_size else self.title,
            realism="real",
            decoder="byte_level",
            fingerprint="",
        )


def of_answer(answer: dict[str, Any], *, name: str, title: str, kind: Origin, path: Path, date: str = "") -> Vocabulary:
    """The vocabulary for what a child's `prepare` answered."""
    return Vocabulary(
        name=name,
        title=title,
        kind=kind,
        path=path,
        fingerprint=answer["fingerprint"],
        vocab_size=answer["vocab_size"],
        spelling=of_data(answer["spelling"]),
        markers=tuple((token_id, text, special) for token_id, text, special in answer["added"]),
        templates=answer["templates"],
        size=answer["bytes"],
        date=date,
    )


def write_note(path: Path, answer: dict[str, Any], **more: Any) -> None:
    """Keep an answer in a file of its own, whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(answer | more, ensure_ascii=False), encoding="utf-8")
    fresh.replace(path)


def read_note(path: Path) -> dict[str, Any] | None:
    """What `write_note` kept; None where there is nothing, or nothing whole. It must not be changed."""
    try:
        stat = path.stat()
        return _read(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _read(path: Path, _changed: int, _size: int) -> dict[str, Any] | None:
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else None
