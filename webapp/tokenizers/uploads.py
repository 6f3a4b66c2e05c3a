"""Tokenizers that were given to the application, kept as they were rebuilt: uploads, and what came from the hub.

Two files for each, the tokenizer and a note with its name and date, called by the fingerprint, or for the hub by the
repository: many share one tokenizer. Giving the same one twice keeps one.
"""

from __future__ import annotations

import hashlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal

from parsers.vocabulary.types import UsageError
from webapp.tokenizers.host import Limits
from webapp.tokenizers.prepared import NOTE, prepare, writing
from webapp.tokenizers.vocabulary import Vocabulary, of_answer, read_note, write_note

MOST = 50
MOST_BYTES = 1_000_000_000
SHORT = 16  # digits of the fingerprint in a name
MAX_TITLE = 80

Kind = Literal["upload", "hub"]


class Kept:
    """The folder of one kind. Safe to share between threads."""

    def __init__(self, kind: Kind, folder: Path, limits: Limits) -> None:
        self._kind = kind
        self._folder = folder
        self._limits = limits
        self._lock = Lock()

    def listing(self) -> list[Vocabulary]:
        """What is kept, the newest first."""
        notes = list(self._folder.glob(f"*{NOTE}")) if self._folder.is_dir() else []
        found = [vocabulary for path in notes if (vocabulary := self._read(path)) is not None]
        return sorted(found, key=lambda vocabulary: (vocabulary.date, vocabulary.title), reverse=True)

    def find(self, name: str) -> Vocabulary | None:
        """The one of this name, without its prefix."""
        wanted = f"{self._kind}:{name}"
        return next((vocabulary for vocabulary in self.listing() if vocabulary.name == wanted), None)

    def add(self, title: str, data: bytes, config: bytes | None = None) -> Vocabulary:
        """Keep a tokenizer. Raises UsageError saying what is wrong with it, or that there is no place for it."""
        title = "".join([char for char in title if char.isprintable()]).strip()[:MAX_TITLE] or "tokenizer"
        with self._lock, writing(self._folder), self._scratch() as scratch:
            files = {"source": data, "config": config}
            paths = {name: Path(scratch) / name for name in files}
            for name, content in files.items():
                if content is not None:
                    paths[name].write_bytes(content)
            made = Path(scratch) / "made"
            given = paths["config"] if config is not None else None
            try:
                answer = prepare(self._limits, paths["source"], made, config=given)
            except UsageError as error:
                raise UsageError(f"{title}: {error}") from error
            by_title = hashlib.sha256(title.encode()).hexdigest()
            target = self._folder / f"{by_title if self._kind == 'hub' else answer['fingerprint']}.json"
            self._require_place(target, answer["bytes"])
            made.replace(target)
            date = datetime.now(UTC).isoformat(timespec="seconds")
            write_note(target.with_name(target.stem + NOTE), answer, title=title, date=date)
        found = self._read(target.with_name(target.stem + NOTE))
        if found is None:
            raise UsageError(f"{title}: the data folder lost the tokenizer; give it again")
        return found

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-")

    def remove(self, wanted: str) -> Vocabulary | None:
        """Forget one by its name, its fingerprint or the beginning of that; None where there is none."""
        for vocabulary in self.listing():
            begins = len(wanted) >= SHORT and vocabulary.fingerprint.startswith(wanted)
            if begins or wanted == vocabulary.name:
                for path in (vocabulary.path.with_name(vocabulary.path.stem + NOTE), vocabulary.path):
                    path.unlink(missing_ok=True)
                return vocabulary
        return None

    def _read(self, note: Path) -> Vocabulary | None:
        path = note.with_name(note.name.removesuffix(NOTE) + ".json")
        answer = read_note(note) if path.is_file() else None
        if answer is None:
            return None
        title = answer["title"]
        short = title if self._kind == "hub" else answer["fingerprint"][:SHORT]
        name = f"{self._kind}:{short}"
        return of_answer(answer, name=name, title=title, kind=self._kind, path=path, date=answer["date"])

    def _require_place(self, target: Path, size: int) -> None:
        kept = [vocabulary for vocabulary in self.listing() if vocabulary.path != target]
        if len(kept) >= MOST:
            raise UsageError(f"{MOST} tokenizers are kept already; delete one of them first")
        if sum(vocabulary.size for vocabulary in kept) + size > MOST_BYTES:
            raise UsageError(f"the kept tokenizers would take more than {MOST_BYTES:,} bytes; delete one of them first")
